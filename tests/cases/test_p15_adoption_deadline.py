"""P15, P28: what was carried out and is not taken up in time is put before the lead."""

from datetime import timedelta

from django.test import Client

from cases.actions import pauses
from cases.actions.clock import move_business_clock
from cases.actions.deadlines import escalate_overdue
from cases.clock import business_now
from cases.models import Case, Effect, Escalation, Person
from cases.queries.acts import Act, View
from cases.queries.queue import queue_of
from cases.vocabulary.freight_actions import BOOK_REPLACEMENT_CARRIER
from cases.vocabulary.work import AttemptOrder
from tests.cases.builders import (
    EVENING_WORLD,
    Cast,
    a_grant,
    a_released_case,
    a_shipment,
    agent_reads,
    agent_starts_attempt,
    audit_of,
    events_of,
    stage_of,
    target_answers,
    target_shows,
    unreadable,
)

WITHIN = BOOK_REPLACEMENT_CARRIER.adoption_within or timedelta(0)


def a_case_waiting_for_adoption(cast: Cast) -> tuple[Case, AttemptOrder]:
    """The booking is in the target; the carrier has not confirmed."""
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    target_answers(grant, order)
    target_shows(a_grant(case), order, state="received")
    return case, order


def running(case: Case) -> Escalation | None:
    """The escalation under way."""
    return case.escalations.filter(ended_at=None).first()


def acts_shown(person: Person) -> list[Act]:
    """What this person's turn consists of."""
    found = queue_of(view=View.MINE, person=person, at=business_now())
    return [section.act for section in found.sections]


def test_p15_adoption_that_does_not_come_in_time_goes_before_the_lead(cast: Cast) -> None:
    """Once; the case stays where it is, and the agent keeps looking."""
    case, order = a_case_waiting_for_adoption(cast)
    move_business_clock(by=WITHIN - timedelta(minutes=1))
    assert escalate_overdue() == 0
    move_business_clock(by=timedelta(minutes=2))
    assert [escalate_overdue() for _ in range(3)] == [1, 0, 0]
    found = running(case)
    assert found is not None
    assert (found.to, found.cause) == (cast.lead, "not_adopted")
    assert order.effect.reference in found.reason
    told = audit_of(case)[-1]
    assert (told.event, told.actor_name) == ("adoption_overdue", "Watchbill")
    assert stage_of(case) == "verifying"
    target_shows(a_grant(case), order, state="received")
    assert running(case) is not None


def test_p15_the_lead_and_the_owner_see_it_in_their_queue_and_on_the_case(cast: Cast) -> None:
    case, _ = a_case_waiting_for_adoption(cast)
    assert acts_shown(cast.lead) == []
    move_business_clock(by=WITHIN)
    escalate_overdue()
    assert acts_shown(cast.lead) == acts_shown(cast.owner) == [Act.UNADOPTED]
    client = Client()
    client.force_login(cast.lead)
    page = client.get(f"/cases/{case.pk}/").content.decode()
    assert "Escalated to Priya Raman" in page
    assert "ask the other party what holds it up" in page
    assert "can still decide" not in page


def test_p15_once_it_is_taken_up_the_escalation_ends(cast: Cast) -> None:
    case, order = a_case_waiting_for_adoption(cast)
    move_business_clock(by=WITHIN)
    escalate_overdue()
    target_shows(a_grant(case), order, state="confirmed")
    assert running(case) is None
    assert "escalation_ended" in events_of(case)
    assert escalate_overdue() == 0


def test_p15_a_target_that_cannot_be_read_and_a_pause_hold_up_no_deadline(cast: Cast) -> None:
    case, _ = a_case_waiting_for_adoption(cast)
    agent_reads(case, [unreadable(a_shipment())])
    assert stage_of(case) == "blocked"
    pauses.set_pause(lane="", kind="", agent="", reason="Storm", by=cast.lead, at=business_now())
    move_business_clock(by=WITHIN)
    assert escalate_overdue() == 1


def test_p15_what_a_person_settled_is_not_waited_for(cast: Cast) -> None:
    """Declined: the case is the lead's already, and nobody is to take anything up any more."""
    case, order = a_case_waiting_for_adoption(cast)
    target_shows(a_grant(case), order, state="declined")
    Effect.objects.filter(pk=order.effect.effect_id).update(state="confirmed")
    move_business_clock(by=WITHIN)
    assert escalate_overdue() == 0

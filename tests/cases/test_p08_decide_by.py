"""P8: who does not decide in time is passed over: the case goes before the desk's lead."""

from datetime import datetime, timedelta

import pytest
from django.db.models import Exists

from cases.actions import deadlines, decisions, pauses, roster
from cases.actions.deadlines import escalate_overdue
from cases.clock import business_now
from cases.models import Case, Desk, Escalation, Person, Role
from cases.vocabulary.freight_plans import promise_about
from tests.cases.builders import (
    EVENING,
    OAKLINE,
    TEN_O_CLOCK,
    TWO_O_CLOCK,
    Cast,
    a_person_closes,
    a_quote,
    a_shipment,
    agent_reads,
    an_answer,
    an_open_case,
    at_business_time,
    audit_of,
    events_of,
    stage_of,
    unreadable,
)

LONG_RATE = a_quote(expires_at="2026-11-26T06:00:00Z")


def a_case_to_decide(cast: Cast, *, subject: str = "S-318") -> Case:
    """Proposal 1 is good for days, but should be decided three hours before pickup."""
    at_business_time(EVENING)
    case = an_open_case(cast, subject=subject)
    agent_reads(case, (a_shipment(subject=subject), LONG_RATE))
    case.refresh_from_db()
    assert case.stage == "waiting_for_review"
    return case


def deadline_of(case: Case) -> datetime:
    """By when somebody should have decided."""
    assert case.decide_by is not None
    return case.decide_by


@pytest.fixture
def overdue(cast: Cast) -> Case:
    """The deadline passed and the case was escalated."""
    case = a_case_to_decide(cast)
    at_business_time(deadline_of(case))
    assert escalate_overdue() == 1
    case.refresh_from_db()
    return case


def running_of(case: Case) -> Escalation | None:
    """The escalation that is under way."""
    return case.escalations.filter(ended_at=None).first()


def ended_because(case: Case) -> str:
    """Why the case's only escalation ended; empty while it runs."""
    return case.escalations.get().ended_reason


def test_p08_before_its_time_nothing_is_escalated(cast: Cast) -> None:
    case = a_case_to_decide(cast)
    at_business_time(deadline_of(case) - timedelta(minutes=1))
    assert escalate_overdue() == 0
    assert not Escalation.objects.exists()


def test_p08_an_overdue_decision_goes_before_the_lead_and_stays_decidable(
    cast: Cast, overdue: Case
) -> None:
    escalation = running_of(overdue)
    assert escalation is not None
    assert (escalation.to, escalation.cause) == (cast.lead, "not_decided")
    assert escalation.reason == "Proposal 1 was not decided in time."
    assert (overdue.stage, overdue.owner) == ("waiting_for_review", cast.owner)
    told = audit_of(overdue)[-1]
    assert (told.event, told.actor_name) == ("decision_overdue", "Watchbill")
    assert told.data["to"] == "Priya Raman"
    assert told.data["decide_by"] == "2026-11-24T15:00:00Z"
    assert told.case_version == overdue.version


def test_p28_where_the_lead_is_away_an_overdue_decision_goes_to_the_manager(cast: Cast) -> None:
    case = a_case_to_decide(cast)
    ruth = Person.objects.create_user(username="ruth", first_name="Ruth", role=Role.LEAD)
    Desk.objects.filter(pk=cast.desk.pk).update(manager=ruth)
    at_business_time(deadline_of(case) - timedelta(hours=1))
    roster.set_leave(
        person=cast.lead,
        starts_at=business_now(),
        ends_at=deadline_of(case) + timedelta(days=1),
        reason="Ill",
        by=cast.admin,
        at=business_now(),
    )
    at_business_time(deadline_of(case))
    assert escalate_overdue() == 1
    escalation = running_of(case)
    assert escalation is not None
    assert (str(escalation.to), audit_of(case)[-1].data["to"]) == ("Ruth", "Ruth")


def test_p08_a_desk_whose_zone_cannot_be_used_still_escalates_to_its_lead(cast: Cast) -> None:
    case = a_case_to_decide(cast)
    Desk.objects.filter(pk=cast.desk.pk).update(zone="Nowhere/Land")
    at_business_time(deadline_of(case))
    assert escalate_overdue() == 1
    assert audit_of(case)[-1].data["to"] == str(cast.lead)


def test_p08_it_is_escalated_once_however_often_the_sweep_comes(overdue: Case) -> None:
    version = overdue.version
    assert [escalate_overdue() for _ in range(3)] == [0, 0, 0]
    overdue.refresh_from_db()
    assert overdue.version == version
    assert events_of(overdue).count("decision_overdue") == 1


def test_p08_a_pause_of_the_agents_does_not_hold_up_a_deadline(cast: Cast) -> None:
    case = a_case_to_decide(cast)
    pauses.set_pause(lane="", kind="", agent="", reason="Storm", by=cast.lead, at=business_now())
    at_business_time(deadline_of(case))
    assert escalate_overdue() == 1


def test_p08_all_overdue_cases_go_at_once_and_others_stay(cast: Cast) -> None:
    first, second = (a_case_to_decide(cast, subject=subject) for subject in ("S-1", "S-2"))
    later = a_case_to_decide(cast, subject="S-3")
    at_business_time(deadline_of(first))
    Case.objects.filter(pk=later.pk).update(decide_by=business_now() + timedelta(hours=1))
    assert escalate_overdue() == 2
    assert running_of(first) and running_of(second) and not running_of(later)


def test_p08_cases_escalated_before_do_not_keep_others_from_their_turn(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many wait for the lead, the next one is found."""
    monkeypatch.setattr(deadlines, "MOST_AT_ONCE", 1)
    first, second = (a_case_to_decide(cast, subject=subject) for subject in ("S-1", "S-2"))
    at_business_time(deadline_of(first))
    assert [escalate_overdue() for _ in range(3)] == [1, 1, 0]
    assert running_of(first) and running_of(second)


def test_p08_what_another_sweep_escalated_meanwhile_is_seen_under_the_lock(
    overdue: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first look may be older than the lock; here it is as if it had seen nothing yet."""
    monkeypatch.setattr(deadlines, "Exists", lambda running: Exists(running.none()))
    assert escalate_overdue() == 0
    assert events_of(overdue).count("decision_overdue") == 1


def test_p08_a_case_that_waits_for_nobody_is_not_escalated(cast: Cast) -> None:
    """Decided, closed or blocked: the old deadline of an old proposal means nothing."""
    case = a_case_to_decide(cast)
    decisions.reject(answer=an_answer(case, reason="No."), by=cast.owner, at=business_now())
    at_business_time(deadline_of(case))
    assert escalate_overdue() == 0


@pytest.mark.parametrize("who", ["owner", "lead"])
def test_p08_owner_and_lead_can_still_decide_and_that_ends_it(
    cast: Cast, overdue: Case, who: str
) -> None:
    by: Person = getattr(cast, who)
    decisions.release(answer=an_answer(overdue), by=by, at=business_now())
    assert stage_of(overdue) == "executing"
    assert ended_because(overdue) == "Proposal 1 was released."
    assert "escalation_ended" in events_of(overdue)


def test_p08_a_replaced_proposal_has_a_deadline_of_its_own(cast: Cast, overdue: Case) -> None:
    before = deadline_of(overdue)
    agent_reads(overdue, (a_shipment(42, delivery_window=TWO_O_CLOCK), LONG_RATE))
    overdue.refresh_from_db()
    assert ended_because(overdue) == "Proposal 1 no longer holds."
    assert (overdue.stage, deadline_of(overdue) > before) == ("waiting_for_review", True)
    assert escalate_overdue() == 0
    at_business_time(deadline_of(overdue))
    assert escalate_overdue() == 1
    assert running_of(overdue) is not None


def test_p08_nothing_left_to_do_ends_it(cast: Cast, overdue: Case) -> None:
    notice = {
        "about": promise_about(window=TEN_O_CLOCK, scac="OAKX"),
        "sent_at": "2026-11-24T02:00:00Z",
        "sent_by": "J. Ortiz",
    }
    agent_reads(
        overdue, (a_shipment(42, carrier_assignment=OAKLINE, customer_notice=notice), LONG_RATE)
    )
    assert stage_of(overdue) == "waiting_for_acceptance"
    assert ended_because(overdue).startswith("Nothing is left to do:")


def test_p08_a_kept_proposal_stays_escalated_through_refresh_and_block(
    cast: Cast, overdue: Case
) -> None:
    """Nobody has decided yet, whatever the source does meanwhile."""
    agent_reads(overdue, (a_shipment(), LONG_RATE))
    assert running_of(overdue) is not None
    agent_reads(overdue, (unreadable(a_shipment()),))
    assert (stage_of(overdue), running_of(overdue) is not None) == ("blocked", True)
    agent_reads(overdue, (a_shipment(), LONG_RATE))
    assert (stage_of(overdue), running_of(overdue) is not None) == ("waiting_for_review", True)
    assert escalate_overdue() == 0


@pytest.mark.parametrize("is_blocked", [False, True])
def test_p08_closing_the_case_ends_it(cast: Cast, overdue: Case, is_blocked: bool) -> None:
    if is_blocked:
        agent_reads(overdue, (unreadable(a_shipment()),))
    a_person_closes(overdue, by=cast.lead, reason="x" * 2000)
    assert ended_because(overdue) == "x" * 300

"""What a report from outside does to a case: a fresh look, and nothing else (P15, P16, P21)."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from pytest_django import Settings

from cases.actions import pauses, read_backs, runs
from cases.actions.clock import move_business_clock
from cases.actions.events import apply_received_events
from cases.actions.findings import record_finding
from cases.clock import business_now
from cases.models import Case, Effect, InboundEvent, Run
from cases.queries.situation import situation_of
from cases.vocabulary.work import AttemptOrder, CallOutcome, Comparison, Grant, TargetLook
from tests.cases.builders import (
    AGENT,
    EVENING_WORLD,
    LEASE,
    TRANSPORT,
    Cast,
    a_grant,
    a_person_closes,
    a_released_case,
    agent_reads,
    agent_starts_attempt,
    audit_of,
    events_of,
    stage_of,
    target_answers,
    target_shows,
)
from tests.cases.doubts import all_of
from tests.cases.sender import KEY, Sender, an_event


@pytest.fixture
def sender(cast: Cast, settings: Settings) -> Sender:
    """The transport system, whose key is known here."""
    settings.WEBHOOK_KEYS = {"transport": (KEY,)}
    return Sender()


def an_unknown_outcome(cast: Cast) -> tuple[Case, AttemptOrder]:
    """The booking's call timed out; the visit is over and the next look is due in some seconds."""
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    target_answers(grant, order, CallOutcome.UNKNOWN)
    runs.let_go(grant=grant)
    assert not is_due(case)
    return case, order


def a_case_handed_over(cast: Cast) -> tuple[Case, AttemptOrder]:
    """The outcome stayed unknown for longer than the key was honoured: a person has the case."""
    case, order = an_unknown_outcome(cast)
    move_business_clock(by=timedelta(hours=25))
    look(case, order, found=False)
    move_business_clock(by=timedelta(seconds=3))
    look(case, order, found=False)
    assert (stage_of(case), effect_of(order).state) == ("escalated", "unknown")
    assert not is_due(case)
    return case, order


def look(case: Case, order: AttemptOrder, *, found: bool, state: str = "confirmed") -> Grant:
    """One visit of the agent that looks at the target."""
    grant = a_grant(case)
    target_shows(grant, order, state=state, found=found)
    runs.let_go(grant=grant)
    return grant


def cannot_look(case: Case, order: AttemptOrder) -> None:
    """One visit in which the target does not answer."""
    grant = a_grant(case)
    failed = TargetLook(
        effect_id=order.effect.effect_id, found=False, readable=False, detail="it answered 503"
    )
    read_backs.record_looks(grant=grant, by=AGENT, looks=[failed], capabilities=TRANSPORT)
    runs.let_go(grant=grant)


def person_finds(case: Case, order: AttemptOrder, cast: Cast, *, happened: bool) -> None:
    """The owner asked the carrier."""
    effect = effect_of(order)
    record_finding(
        case_id=case.pk,
        effect_id=effect.pk,
        happened=happened,
        note="Bluewater says so.",
        seen=all_of(effect),
        by=cast.owner,
        at=business_now(),
    )


def is_due(case: Case) -> bool:
    """Whether a worker could claim the case now."""
    return Run.objects.filter(case=case, due_at__lte=business_now(), lease_until=None).exists()


def effect_of(order: AttemptOrder) -> Effect:
    """The effect, read fresh."""
    return Effect.objects.get(pk=order.effect.effect_id)


def became() -> list[str]:
    """What became of every event, in order."""
    return list(InboundEvent.objects.values_list("state", flat=True))


def test_p16_a_late_report_makes_the_agent_look_at_once(cast: Cast, sender: Sender) -> None:
    case, order = an_unknown_outcome(cast)
    assert sender.send(an_event(order.effect.reference)) == 202
    assert is_due(case)
    assert (stage_of(case), became()) == ("reconciling", ["applied"])
    assert InboundEvent.objects.get().case == case


def test_p15_a_report_is_no_proof(cast: Cast, sender: Sender) -> None:
    """It says the booking is confirmed; nothing is confirmed before the target is read."""
    case, order = an_unknown_outcome(cast)
    sender.send(an_event(order.effect.reference))
    effect = effect_of(order)
    assert (effect.state, effect.confirmed_at, effect.read_backs.count()) == ("unknown", None, 0)
    look(case, order, found=False)
    assert effect_of(order).state == "unknown"


def test_p31_the_case_says_who_reported_what(cast: Cast, sender: Sender) -> None:
    case, order = an_unknown_outcome(cast)
    sender.send(an_event(order.effect.reference), event_id="msg_1")
    (event,) = [row for row in audit_of(case) if row.event == "event_reported"]
    assert (event.actor_kind, event.actor_name) == ("system", "Watchbill")
    assert (event.data["event_id"], event.data["record_id"]) == ("msg_1", "B-1")


def test_p30_a_report_that_comes_twice_is_told_once(cast: Cast, sender: Sender) -> None:
    case, order = an_unknown_outcome(cast)
    for _ in range(2):
        sender.send(an_event(order.effect.reference), event_id="msg_1")
    assert events_of(case).count("event_reported") == 1


def test_p16_a_blocked_case_is_tried_at_once(cast: Cast, sender: Sender) -> None:
    case, order = an_unknown_outcome(cast)
    runs.block(grant=a_grant(case), by=AGENT, reason="The target cannot be read back: 503.")
    Run.objects.filter(case=case).update(lease_until=None, worker="")
    assert not is_due(case)
    sender.send(an_event(order.effect.reference))
    assert is_due(case)
    assert situation_of(case_id=case.pk).try_is_due


def test_p16_a_case_handed_over_is_taken_back_and_looked_up(cast: Cast, sender: Sender) -> None:
    case, order = a_case_handed_over(cast)
    sender.send(an_event(order.effect.reference))
    assert stage_of(case) == "reconciling"
    assert is_due(case)
    assert [work.reference for work in situation_of(case_id=case.pk).to_look_up()] == [
        order.effect.reference
    ]


def test_p16_what_a_late_report_led_to_is_settled_by_reading_and_planned_on(
    cast: Cast, sender: Sender
) -> None:
    case, order = a_case_handed_over(cast)
    sender.send(an_event(order.effect.reference))
    look(case, order, found=True)
    assert (stage_of(case), effect_of(order).state) == ("investigating", "adopted")
    assert is_due(case)
    assert not case.decisions.filter(ended_at=None).exists(), "the release stays ended"
    message = Effect.objects.get(decision__case=case, proposed_action__position=2)
    assert message.state == "not_needed"


def test_p16_the_agent_waits_for_the_adoption_of_what_it_found_late(
    cast: Cast, sender: Sender
) -> None:
    case, order = a_case_handed_over(cast)
    sender.send(an_event(order.effect.reference))
    look(case, order, found=True, state="received")
    assert (stage_of(case), effect_of(order).state) == ("verifying", "confirmed")
    look(case, order, found=True)
    assert (stage_of(case), effect_of(order).state) == ("investigating", "adopted")


def test_p16_a_report_that_the_target_does_not_bear_out_goes_back_to_the_person(
    cast: Cast, sender: Sender
) -> None:
    case, order = a_case_handed_over(cast)
    sender.send(an_event(order.effect.reference))
    look(case, order, found=False)
    assert (stage_of(case), effect_of(order).state) == ("escalated", "unknown")


def test_p16_after_a_late_report_the_agent_keeps_looking_for_a_quarter_of_an_hour(
    cast: Cast, sender: Sender
) -> None:
    """The target cannot be asked; then a person has the case again, and not before."""
    case, order = a_case_handed_over(cast)
    sender.send(an_event(order.effect.reference))
    cannot_look(case, order)
    assert (stage_of(case), is_due(case)) == ("reconciling", False)
    move_business_clock(by=timedelta(minutes=14))
    cannot_look(case, order)
    assert stage_of(case) == "reconciling"
    move_business_clock(by=timedelta(minutes=2))
    cannot_look(case, order)
    assert (stage_of(case), effect_of(order).state) == ("escalated", "unknown")


def test_p16_what_a_late_look_proves_absent_is_planned_anew_and_not_sent_again(
    cast: Cast, sender: Sender
) -> None:
    case, order = an_unknown_outcome(cast)
    move_business_clock(by=timedelta(minutes=16))
    cannot_look(case, order)
    assert stage_of(case) == "escalated"
    sender.send(an_event(order.effect.reference))
    look(case, order, found=False)
    move_business_clock(by=timedelta(seconds=3))
    look(case, order, found=False)
    assert (stage_of(case), effect_of(order).state) == ("investigating", "not_needed")


def test_p16_a_visit_that_failed_leads_back_to_the_late_look_and_plans_nothing(
    cast: Cast, sender: Sender
) -> None:
    case, order = a_case_handed_over(cast)
    sender.send(an_event(order.effect.reference))
    grant = a_grant(case)
    runs.block(grant=grant, by=AGENT, reason="The agent's visit failed: KeyError.")
    runs.let_go(grant=grant)
    assert agent_reads(case, EVENING_WORLD) is Comparison.RETAIN
    assert (stage_of(case), case.proposals.count()) == ("reconciling", 1)
    assert is_due(case)


def test_p22_a_case_out_of_budget_is_told_and_stays_as_it_is(cast: Cast, sender: Sender) -> None:
    case, order = an_unknown_outcome(cast)
    grant = a_grant(case)
    Run.objects.filter(case=case).update(steps=10**6)
    runs.renew(grant=grant, agent=AGENT, lease=LEASE)
    runs.let_go(grant=grant)
    assert Case.objects.get(pk=case.pk).is_out_of_budget
    sender.send(an_event(order.effect.reference))
    assert (became(), is_due(case)) == (["applied"], False)
    assert events_of(case)[-1] == "event_reported"


def test_p16_without_a_reference_the_report_is_shown_to_whoever_finds_out(
    cast: Cast, sender: Sender
) -> None:
    """A target that keeps no references cannot be searched: the case stays with its person."""
    case, order = a_case_handed_over(cast)
    sender.send(an_event(None))
    assert (stage_of(case), became()) == ("escalated", ["applied"])
    assert events_of(case)[-1] == "event_reported"
    assert is_due(case), "the sources are read again"
    person_finds(case, order, cast, happened=True)
    assert effect_of(order).state == "confirmed"


def test_p16_the_page_shows_the_report_beside_what_is_unknown_as_a_hint(
    cast: Cast, sender: Sender, client: Client
) -> None:
    case, _ = a_case_handed_over(cast)
    sender.send(an_event(None))
    client.force_login(cast.owner)
    page = re.sub(r"\s+", " ", client.get(f"/cases/{case.pk}/").content.decode())
    said = "The transport system reported booking.confirmed (booking B-1, confirmed;"
    assert page.count(said) == 2, "beside the unknown outcome, and on the timeline"
    assert "A hint, not a proof" in page


def test_p16_a_report_against_a_finding_is_told_and_the_sources_are_read_again(
    cast: Cast, sender: Sender
) -> None:
    """A person found that nothing had happened; then the target says that it did."""
    case, order = a_case_handed_over(cast)
    person_finds(case, order, cast, happened=False)
    sender.send(an_event(order.effect.reference))
    assert (stage_of(case), events_of(case)[-1]) == ("escalated", "event_reported")
    assert is_due(case)


def test_a_report_without_a_reference_is_only_about_the_same_type_of_record(
    cast: Cast, sender: Sender
) -> None:
    case, _ = a_case_handed_over(cast)
    sender.send(an_event(None, record_type="shipment"))
    sender.send(an_event(None, shipment_id="S-319"))
    assert became() == ["ignored", "ignored"]
    assert "event_reported" not in events_of(case)


def test_what_is_known_to_be_adopted_is_no_news(cast: Cast, sender: Sender) -> None:
    case, order = an_unknown_outcome(cast)
    look(case, order, found=True)
    sender.send(an_event(order.effect.reference))
    assert (became(), InboundEvent.objects.get().case) == (["ignored"], case)
    sender.send(an_event(order.effect.reference, status="declined"))
    assert became() == ["ignored", "applied"]
    assert events_of(case)[-1] == "event_reported"


def test_a_closed_case_stays_as_it_is_and_the_event_is_kept(cast: Cast, sender: Sender) -> None:
    case, order = a_case_handed_over(cast)
    person_finds(case, order, cast, happened=False)
    a_person_closes(case, by=cast.owner, reason="Nothing is left to do.")
    before = audit_of(case)[-1].digest
    assert sender.send(an_event(order.effect.reference)) == 202
    assert audit_of(case)[-1].digest == before
    event = InboundEvent.objects.get()
    assert (event.state, event.case, event.detail) == ("ignored", case, "The case is closed.")


def test_a_report_in_the_middle_of_a_visit_is_applied_after_it(cast: Cast, sender: Sender) -> None:
    """The visit would say anew when the case is due, and the hint would be lost."""
    case, order = an_unknown_outcome(cast)
    grant = a_grant(case)
    assert sender.send(an_event(order.effect.reference)) == 202
    assert became() == ["received"]
    target_shows(grant, order, state="", found=False)
    runs.let_go(grant=grant)
    assert not is_due(case)
    assert apply_received_events(limit=10) == 1
    assert (is_due(case), became()) == (True, ["applied"])


def test_p21_while_intake_is_paused_events_are_kept_and_not_applied(
    cast: Cast, sender: Sender
) -> None:
    case, order = an_unknown_outcome(cast)
    pause = pauses.set_pause(
        lane="intake", kind="", agent="", reason="Flood.", by=cast.lead, at=business_now()
    )
    assert sender.send(an_event(order.effect.reference)) == 202
    assert (apply_received_events(limit=10), is_due(case), became()) == (0, False, ["received"])
    pauses.lift_pause(pause_id=pause.pk, reason="Over.", by=cast.lead, at=business_now())
    assert apply_received_events(limit=10) == 1
    assert (is_due(case), became()) == (True, ["applied"])


def test_p21_a_pause_of_one_kind_holds_back_its_events_and_no_others(
    cast: Cast, sender: Sender
) -> None:
    _, order = an_unknown_outcome(cast)
    pauses.set_pause(
        lane="intake",
        kind="freight_exception",
        agent="",
        reason="Flood.",
        by=cast.lead,
        at=business_now(),
    )
    sender.send(an_event(order.effect.reference))
    sender.send(an_event("somebody-elses"))
    assert became() == ["received", "ignored"]


@pytest.mark.parametrize("reference", [True, False])
def test_p21_what_came_in_is_read_before_anything_is_carried_out(
    cast: Cast, sender: Sender, reference: bool
) -> None:
    case = a_released_case(cast)
    pause = pauses.set_pause(
        lane="intake", kind="", agent="", reason="Flood.", by=cast.lead, at=business_now()
    )
    effect = Effect.objects.get(decision__case=case, proposed_action__position=1)
    subject = {"shipment_id": "" if reference else "S-318"}
    sender.send(an_event(effect.reference if reference else None, **subject))
    assert claimed(case) is None
    pauses.lift_pause(pause_id=pause.pk, reason="Over.", by=cast.lead, at=business_now())
    assert claimed(case) is None, "not applied yet"
    assert apply_received_events(limit=10) == 1
    assert claimed(case) is not None


def test_p21_what_came_in_about_others_holds_nothing_up(cast: Cast, sender: Sender) -> None:
    case = a_released_case(cast)
    pauses.set_pause(
        lane="intake", kind="", agent="", reason="Flood.", by=cast.lead, at=business_now()
    )
    sender.send(an_event("somebody-elses", shipment_id="S-319"))
    assert claimed(case) is not None


def claimed(case: Case) -> Grant | None:
    """A worker tries to take the case."""
    return runs.claim(case_id=case.pk, agent=AGENT, worker="worker-1", lease=LEASE)

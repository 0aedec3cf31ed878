"""P21: what came in is read before anything is carried out, whatever way led there."""

from dataclasses import replace

import pytest
from pytest_django import Settings

from cases.actions import effects, evidence, pauses, repeats, runs
from cases.actions.clock import move_business_clock
from cases.actions.events import apply_received_events
from cases.clock import business_now
from cases.models import Attempt, Case, Effect, InboundEvent
from cases.vocabulary.errors import CallsPaused
from cases.vocabulary.lanes import Lane
from cases.vocabulary.work import AttemptOrder, CallOutcome, Grant
from tests.cases.builders import (
    AGENT,
    EVENING_WORLD,
    LEASE,
    TRANSPORT,
    Cast,
    a_grant,
    a_released_case,
    agent_starts_attempt,
    stage_of,
    target_answers,
)
from tests.cases.sender import KEY, Sender, an_event

WITHOUT_SEARCH = replace(TRANSPORT, lookup_by_reference=False)


@pytest.fixture
def sender(cast: Cast, settings: Settings) -> Sender:
    """The transport system, whose key is known here."""
    settings.WEBHOOK_KEYS = {"transport": (KEY,)}
    return Sender()


def about(case: Case) -> dict[str, object]:
    """The carrier declined."""
    return an_event(Effect.objects.earliest("pk").reference, status="declined")


def begin(grant: Grant) -> AttemptOrder | None:
    """The worker, having read the facts, is about to call."""
    effect = Effect.objects.earliest("pk")
    return effects.begin_attempt(grant=grant, by=AGENT, effect_id=effect.pk, capabilities=TRANSPORT)


def test_p21_a_report_that_came_during_the_visit_stops_the_attempt(
    cast: Cast, sender: Sender
) -> None:
    """The worker had claimed the case and read its facts before."""
    case = a_released_case(cast)
    grant = a_grant(case)
    evidence.record_readings(grant=grant, by=AGENT, readings=EVENING_WORLD, asked_at=business_now())
    assert effects.clear_to_act(grant=grant, by=AGENT)
    sender.send(about(case))
    assert begin(grant) is None
    assert (stage_of(case), Attempt.objects.count()) == ("executing", 0)
    runs.let_go(grant=grant)
    apply_received_events(limit=10)
    _, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None


def test_p21_a_report_about_another_case_stops_nothing(cast: Cast, sender: Sender) -> None:
    case = a_released_case(cast)
    grant = a_grant(case)
    evidence.record_readings(grant=grant, by=AGENT, readings=EVENING_WORLD, asked_at=business_now())
    pauses.set_pause(
        lane="intake", kind="", agent="", reason="Flood", by=cast.lead, at=business_now()
    )
    sender.send(an_event("WB-999-1-1", shipment_id="S-999"))
    assert InboundEvent.objects.get().state == "received"
    assert begin(grant) is not None


def a_call_to_repeat(cast: Cast) -> Grant:
    """Only the same call under its key can tell what happened."""
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    target_answers(grant, order, CallOutcome.UNKNOWN)
    move_business_clock(by=TRANSPORT.consistency_window)
    grant = a_grant(case)
    evidence.record_readings(grant=grant, by=AGENT, readings=EVENING_WORLD, asked_at=business_now())
    return grant


def test_p21_a_report_stops_a_repeated_call_too(cast: Cast, sender: Sender) -> None:
    grant = a_call_to_repeat(cast)
    sender.send(about(Case.objects.get()))
    assert repeats.begin_repeat(grant=grant, by=AGENT, capabilities=WITHOUT_SEARCH) is None
    InboundEvent.objects.update(state="ignored", detail="Read.")
    assert repeats.begin_repeat(grant=grant, by=AGENT, capabilities=WITHOUT_SEARCH) is not None


@pytest.mark.parametrize("lane", ["execution", "reconciliation"])
def test_p21_a_change_that_is_repeated_is_stopped_in_its_own_lane_and_in_that_of_its_case(
    cast: Cast, lane: str
) -> None:
    """Its attempt is committed, the case stands at an unknown outcome, and a lead pauses."""
    grant = a_call_to_repeat(cast)
    assert repeats.begin_repeat(grant=grant, by=AGENT, capabilities=WITHOUT_SEARCH) is not None
    runs.permit_call(grant=grant, agent=AGENT, lease=LEASE, lane=Lane.EXECUTION)
    pauses.set_pause(lane=lane, kind="", agent="", reason="Stop", by=cast.lead, at=business_now())
    with pytest.raises(CallsPaused, match="Priya Raman paused"):
        runs.permit_call(grant=grant, agent=AGENT, lease=LEASE, lane=Lane.EXECUTION)

"""P16, P28: an unknown outcome is never stuck, even where the case is blocked on top of it."""

from datetime import timedelta

import pytest
from django.test import Client
from pytest_django import Settings

from cases.actions import closing, findings, runs
from cases.actions.clock import move_business_clock
from cases.clock import business_now
from cases.models import Case, Effect, InboundEvent, Run
from cases.vocabulary.errors import Conflict
from cases.vocabulary.work import CallOutcome
from tests.cases.builders import (
    AGENT,
    EVENING_WORLD,
    LEASE,
    Cast,
    a_grant,
    a_released_case,
    a_shipment,
    agent_reads,
    agent_starts_attempt,
    at_business_time,
    stage_of,
    target_answers,
    target_shows,
    unreadable,
)
from tests.cases.doubts import a_case_given_up, a_case_in_doubt, all_of
from tests.cases.sender import KEY, Sender, an_event


def a_case_given_up_and_blocked(cast: Cast) -> tuple[Case, Effect]:
    """A person has it; at the shift boundary its source cannot be read."""
    case, effect = a_case_given_up(cast)
    due_at = Run.objects.get(case=case).due_at
    assert due_at is not None
    at_business_time(due_at)
    agent_reads(case, [unreadable(a_shipment())])
    assert stage_of(case) == "blocked"
    return case, effect


def find(case: Case, effect: Effect, cast: Cast) -> None:
    """The owner phoned: it happened."""
    findings.record_finding(
        case_id=case.pk,
        effect_id=effect.pk,
        happened=True,
        note="Bo at Bluewater has it",
        seen=all_of(effect),
        by=cast.owner,
        at=business_now(),
    )


def close_by_hand(case: Case, cast: Cast) -> None:
    """Nothing is left for the agent: a person did all of it by phone."""
    closing.close_without_action(
        case_id=case.pk,
        by=cast.owner,
        at=business_now(),
        reason="Done by phone",
        drops=dict.fromkeys(("carrier", "customer_told"), "Settled by phone"),
    )


def test_p16_what_a_person_found_out_counts_while_the_case_is_blocked(cast: Cast) -> None:
    """It stays blocked, remembers the finding, and can be closed."""
    case, effect = a_case_given_up_and_blocked(cast)
    find(case, effect, cast)
    case.refresh_from_db()
    assert (case.stage, case.blocked_from) == ("blocked", "escalated")
    assert "Bo at Bluewater has it" in case.stage_reason
    close_by_hand(case, cast)
    assert stage_of(case) == "closed"


def test_p16_after_the_block_the_finding_still_stands(cast: Cast) -> None:
    case, effect = a_case_given_up_and_blocked(cast)
    find(case, effect, cast)
    agent_reads(case, EVENING_WORLD)
    case.refresh_from_db()
    assert case.stage == "escalated"
    assert "Bo at Bluewater has it" in case.stage_reason


def test_p16_the_page_of_a_blocked_case_asks_for_the_finding(cast: Cast) -> None:
    case, effect = a_case_given_up_and_blocked(cast)
    client = Client()
    client.force_login(cast.owner)
    page = client.get(f"/cases/{case.pk}/").content.decode()
    assert "Record the finding" in page
    assert f"Find out meanwhile whether {effect.reference} happened" in page


def test_p16_why_a_blocked_case_is_not_planned_is_said_truly(cast: Cast) -> None:
    case, effect = a_case_given_up_and_blocked(cast)
    find(case, effect, cast)
    with pytest.raises(Conflict, match="Shipment S-318 cannot be read"):
        closing.ask_for_plan(case_id=case.pk, by=cast.owner, at=business_now(), reason="Go on")


def test_p16_a_case_blocked_while_the_agent_still_looks_takes_no_finding(cast: Cast) -> None:
    case, _, order = a_case_in_doubt(cast)
    agent_reads(case, [unreadable(a_shipment())])
    with pytest.raises(Conflict, match="at its next try"):
        find(case, Effect.objects.get(pk=order.effect.effect_id), cast)


def test_p16_a_late_report_is_looked_into_while_the_case_is_blocked(
    cast: Cast, settings: Settings
) -> None:
    settings.WEBHOOK_KEYS = {"transport": (KEY,)}
    case, effect = a_case_given_up_and_blocked(cast)
    assert Sender().send(an_event(effect.reference)) == 202
    assert InboundEvent.objects.get().detail == f"{effect.reference} is looked up after all."
    assert stage_of(case) == "reconciling"


def park(case: Case) -> Case:
    """Six workers died with it, one after the other."""
    for number in range(6):
        move_business_clock(by=LEASE + timedelta(seconds=1))
        Run.objects.filter(case=case).update(due_at=business_now())
        runs.claim(case_id=case.pk, agent=AGENT, worker=f"w{number}", lease=LEASE)
    case.refresh_from_db()
    assert case.blocked_reason.startswith("5 visits in a row never came back")
    return case


@pytest.mark.parametrize("is_recorded", [True, False])
def test_p16_a_parked_case_in_doubt_is_handed_to_a_person(cast: Cast, is_recorded: bool) -> None:
    """Whether the timeout was recorded, or the worker died with its call."""
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    if is_recorded:
        target_answers(grant, order, CallOutcome.UNKNOWN)
    assert park(case).blocked_from == "escalated"
    find(case, Effect.objects.get(pk=order.effect.effect_id), cast)
    close_by_hand(case, cast)


def test_p16_a_parked_case_that_waits_for_adoption_is_handed_to_a_person(cast: Cast) -> None:
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    target_answers(grant, order)
    target_shows(a_grant(case), order, state="received")
    assert park(case).blocked_from == "escalated"
    assert Effect.objects.get(pk=order.effect.effect_id).state == "confirmed"


def test_p16_a_parked_case_of_which_nothing_was_begun_keeps_its_release(cast: Cast) -> None:
    assert park(a_released_case(cast)).blocked_from == "executing"

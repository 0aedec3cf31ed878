"""P16: what is needed before something counts as not having happened, and is asked for again."""

from dataclasses import replace
from datetime import timedelta

import pytest

from cases.actions.clock import move_business_clock
from cases.clock import business_now
from cases.models import Attempt, Effect
from tests.cases.builders import (
    EVENING_WORLD,
    TRANSPORT,
    Cast,
    a_grant,
    a_released_case,
    agent_starts_attempt,
    events_of,
    stage_of,
    target_answers,
    target_shows,
)
from tests.cases.doubts import a_case_in_doubt

WINDOW = TRANSPORT.consistency_window
SHORT_KEYS = replace(TRANSPORT, key_lifetime=timedelta(minutes=3))


def test_p16_a_look_counts_from_when_it_was_asked_not_from_when_it_was_recorded(
    cast: Cast,
) -> None:
    """A second after the first one, recorded ten seconds late: nothing is proved by it."""
    case, grant, order = a_case_in_doubt(cast)
    target_shows(grant, order, state="", found=False)
    move_business_clock(by=timedelta(seconds=1))
    asked_at = business_now()
    move_business_clock(by=timedelta(seconds=10))
    target_shows(grant, order, state="", found=False, asked_at=asked_at)
    assert stage_of(case) == "reconciling"
    target_shows(grant, order, state="", found=False)
    assert stage_of(case) == "executing"


def test_p16_a_look_of_unknown_age_proves_no_absence(cast: Cast) -> None:
    case, grant, order = a_case_in_doubt(cast)
    target_shows(grant, order, state="", found=False)
    move_business_clock(by=WINDOW + timedelta(seconds=10))
    target_shows(grant, order, state="", found=False, asked_at=None)
    assert stage_of(case) == "reconciling"


def test_p16_what_may_be_asked_for_again_is_not_once_its_key_has_expired(cast: Cast) -> None:
    """It was decided while the key lived, and twenty minutes went by: to the target it is new."""
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD, capabilities=SHORT_KEYS)
    assert order is not None
    target_answers(grant, order)
    for _ in range(2):
        target_shows(a_grant(case), order, state="", found=False, capabilities=SHORT_KEYS)
        move_business_clock(by=WINDOW)
    assert stage_of(case) == "executing"
    move_business_clock(by=timedelta(minutes=20))
    _, again = agent_starts_attempt(case, EVENING_WORLD, capabilities=SHORT_KEYS)
    assert again is None
    case.refresh_from_db()
    assert case.stage == "escalated"
    assert "its key is no longer honoured" in case.stage_reason
    assert Attempt.objects.count() == 1


def test_p16_a_first_call_needs_no_living_key(cast: Cast) -> None:
    """Released twenty minutes ago and never attempted: its key begins with the call."""
    case = a_released_case(cast)
    move_business_clock(by=timedelta(minutes=20))
    _, order = agent_starts_attempt(case, EVENING_WORLD, capabilities=SHORT_KEYS)
    assert order is not None


@pytest.mark.parametrize("state", ["received", "confirmed", "declined"])
def test_p16_several_records_under_one_reference_go_to_a_person(cast: Cast, state: str) -> None:
    """Never passed over in silence: it happened, more often than it was released."""
    case, grant, order = a_case_in_doubt(cast)
    target_shows(grant, order, state=state, records=2)
    case.refresh_from_db()
    effect = Effect.objects.get(pk=order.effect.effect_id)
    assert case.stage == "escalated"
    assert f"2 records in the target carry {effect.reference}" in case.stage_reason
    assert (effect.state, effect.adopted_at) == ("confirmed", None)
    assert "effect_confirmed" in events_of(case)


def test_p16_several_records_that_differ_from_the_release_are_counted_too(cast: Cast) -> None:
    case, grant, order = a_case_in_doubt(cast)
    target_shows(grant, order, state="confirmed", records=3, fields={"shipment_id": "S-9"})
    case.refresh_from_db()
    assert "not as it was released" in case.stage_reason
    assert "3 records in the target" in case.stage_reason

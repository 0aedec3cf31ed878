"""P9: the last word before the attempt counts; against a worker, exactly one of the two wins."""

import pytest

from cases.actions import effects, evidence
from cases.actions.withdrawal import withdraw_release
from cases.clock import business_now
from cases.models import Attempt, Decision, Effect
from cases.vocabulary.errors import Conflict
from cases.vocabulary.work import AttemptOrder
from tests.cases.builders import (
    AGENT,
    EVENING_WORLD,
    TRANSPORT,
    Cast,
    a_grant,
    a_released_case,
    agent_starts_attempt,
    stage_of,
    target_answers,
    target_shows,
)
from tests.races.together import together


def test_p09_a_release_withdrawn_before_the_attempt_is_not_carried_out(cast: Cast) -> None:
    """Also when the worker had already found that the facts hold."""
    case = a_released_case(cast)
    grant = a_grant(case)
    evidence.record_readings(grant=grant, by=AGENT, readings=EVENING_WORLD, asked_at=business_now())
    assert effects.clear_to_act(grant=grant, by=AGENT)
    withdraw_release(case_id=case.pk, by=cast.colleague, at=business_now(), reason="Hold on")
    effect = Effect.objects.order_by("id").first()
    assert effect is not None
    assert (
        effects.begin_attempt(grant=grant, by=AGENT, effect_id=effect.pk, capabilities=TRANSPORT)
        is None
    )
    assert Attempt.objects.count() == 0
    assert stage_of(case) == "escalated"
    assert Decision.objects.get().ended_reason == "Withdrawn by Dana Wu: Hold on"


def test_p09_a_release_under_way_cannot_be_withdrawn(cast: Cast) -> None:
    """What may have happened is settled first."""
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    with pytest.raises(Conflict, match="An attempt has begun"):
        withdraw_release(case_id=case.pk, by=cast.owner, at=business_now(), reason="Stop")
    target_answers(grant, order)
    with pytest.raises(Conflict, match="An attempt has begun"):
        withdraw_release(case_id=case.pk, by=cast.owner, at=business_now(), reason="Stop")


def test_p09_the_rest_of_a_release_can_be_withdrawn_between_two_actions(cast: Cast) -> None:
    """The truck is booked and confirmed; the customer is not told after all."""
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    target_answers(grant, order)
    target_shows(grant, order, state="confirmed")
    withdraw_release(case_id=case.pk, by=cast.owner, at=business_now(), reason="I phone them")
    states = list(Effect.objects.order_by("id").values_list("state", flat=True))
    assert states == ["adopted", "not_needed"]
    assert not Decision.objects.get().carried_out


@pytest.mark.parametrize("trial", range(8))
def test_p09_withdrawal_and_attempt_at_once_have_one_winner(cast: Cast, trial: int) -> None:
    """Either the attempt stands and the person is told, or nothing ever began."""
    case = a_released_case(cast)
    grant = a_grant(case)
    evidence.record_readings(grant=grant, by=AGENT, readings=EVENING_WORLD, asked_at=business_now())
    effect = Effect.objects.order_by("id").first()
    assert effect is not None
    order, withdrawal = together(
        [
            lambda: effects.begin_attempt(
                grant=grant, by=AGENT, effect_id=effect.pk, capabilities=TRANSPORT
            ),
            lambda: withdraw_release(
                case_id=case.pk, by=cast.owner, at=business_now(), reason="No"
            ),
        ]
    )
    began = isinstance(order, AttemptOrder)
    told = isinstance(withdrawal, Conflict)
    assert began is told, f"trial {trial}: {order} and {withdrawal}"
    assert Attempt.objects.count() == int(began)

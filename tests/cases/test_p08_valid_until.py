"""P8: a release is good until the playbook's limit or the first expiry, then planned anew."""

from datetime import UTC, datetime, timedelta

import pytest

from cases.actions import decisions, effects
from cases.clock import business_now
from cases.models import Attempt, Decision, Effect, Proposal
from cases.vocabulary.errors import DecisionRefused
from cases.vocabulary.freight import FREIGHT
from tests.cases.builders import (
    AGENT,
    EVENING,
    EVENING_WORLD,
    TRANSPORT,
    Cast,
    a_case_waiting_for_review,
    a_quote,
    a_released_case,
    a_shipment,
    agent_reads,
    agent_starts_attempt,
    an_answer,
    at_business_time,
    current_proposal,
    stage_of,
)

MIDNIGHT = datetime(2026, 11, 24, 6, 0, tzinfo=UTC)


def test_p08_a_release_is_good_for_the_playbooks_hour(cast: Cast) -> None:
    a_released_case(cast)
    decision = Decision.objects.get()
    assert decision.valid_until == decision.at + FREIGHT.release_valid_for
    assert decision.valid_until < MIDNIGHT


def test_p08_an_earlier_expiry_of_the_rate_shortens_it(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    at_business_time(MIDNIGHT - timedelta(minutes=20))
    decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())
    assert Decision.objects.get().valid_until == MIDNIGHT


def test_p08_an_expired_release_is_not_carried_out_and_gets_a_fresh_plan(cast: Cast) -> None:
    """All facts are as they were; only the hour is over."""
    case = a_released_case(cast)
    at_business_time(EVENING + FREIGHT.release_valid_for + timedelta(minutes=1))
    _, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is None
    assert (Attempt.objects.count(), stage_of(case)) == (0, "investigating")
    assert current_proposal(case).state == Proposal.State.EXPIRED
    assert set(Effect.objects.values_list("state", flat=True)) == {"not_needed"}
    agent_reads(case, EVENING_WORLD)
    assert (current_proposal(case).number, current_proposal(case).state) == (2, "ready")


def test_p08_a_release_that_expires_between_the_check_and_the_call_starts_no_attempt(
    cast: Cast,
) -> None:
    case = a_released_case(cast)
    at_business_time(EVENING + FREIGHT.release_valid_for - timedelta(seconds=20))
    grant, _ = agent_starts_attempt(case, EVENING_WORLD, position=2)  # it depends on the first
    effect = Effect.objects.order_by("id").first()
    assert effect is not None
    at_business_time(EVENING + FREIGHT.release_valid_for + timedelta(seconds=1))
    assert (
        effects.begin_attempt(grant=grant, by=AGENT, effect_id=effect.pk, capabilities=TRANSPORT)
        is None
    )
    assert Attempt.objects.count() == 0


def test_p08_an_expired_proposal_cannot_be_released_and_is_replaced_on_the_next_reading(
    cast: Cast,
) -> None:
    case = a_case_waiting_for_review(cast)
    at_business_time(MIDNIGHT)
    with pytest.raises(DecisionRefused) as refusal:
        decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())
    assert refusal.value.reason_code == "expired"
    current_rate = a_quote("QX-72", expires_at="2026-11-25T06:00:00Z")
    agent_reads(case, (a_shipment(), a_quote(state="expired"), current_rate))
    assert case.proposals.get(number=1).state == Proposal.State.EXPIRED
    assert current_proposal(case).actions.get(position=1).parameters["quote_id"] == "QX-72"

"""P15, P16: attempt, effect, adoption and acceptance apart; unknown is looked up, not guessed."""

from dataclasses import replace
from datetime import timedelta

import pytest

from cases.actions import closing, effects, findings
from cases.actions.clock import move_business_clock
from cases.actions.findings import Seen
from cases.clock import business_now
from cases.models import Attempt, Case, Effect
from cases.vocabulary.errors import Conflict, Refused
from cases.vocabulary.work import AttemptOrder, CallOutcome, Grant
from tests.cases.builders import (
    AGENT,
    EVENING_WORLD,
    TRANSPORT,
    Cast,
    a_quote,
    a_released_case,
    a_shipment,
    agent_starts_attempt,
    current_proposal,
    events_of,
    stage_of,
    target_answers,
    target_shows,
)


def an_attempt(cast: Cast) -> tuple[Grant, AttemptOrder]:
    """The first attempt of a released booking is under way."""
    grant, order = agent_starts_attempt(a_released_case(cast), EVENING_WORLD)
    assert order is not None
    return grant, order


def effect_of(order: AttemptOrder) -> Effect:
    """The effect, read fresh."""
    return Effect.objects.get(pk=order.effect.effect_id)


def test_p15_an_answer_is_not_an_effect(cast: Cast) -> None:
    """The target said 202; nothing is confirmed before a fresh read shows it."""
    grant, order = an_attempt(cast)
    target_answers(grant, order)
    effect = effect_of(order)
    assert (effect.state, effect.confirmed_at, effect.adopted_at) == ("answered", None, None)


def test_p15_an_effect_is_not_an_adoption(cast: Cast) -> None:
    """The booking is there, the carrier has not confirmed: the customer is not told yet."""
    grant, order = an_attempt(cast)
    target_answers(grant, order)
    target_shows(grant, order, state="received")
    effect = effect_of(order)
    assert effect.confirmed_at is not None
    assert effect.adopted_at is None
    case = effect.decision.case
    assert stage_of(case) == "verifying"
    message = Effect.objects.get(decision__case=case, proposed_action__position=2)
    assert message.state == Effect.State.WANTED


def test_p15_the_customer_is_not_told_before_the_booking_was_adopted(cast: Cast) -> None:
    """The message depends on the booking: asked for out of order, it does not start."""
    case = a_released_case(cast)
    _, order = agent_starts_attempt(case, EVENING_WORLD, position=2)
    assert order is None
    assert Attempt.objects.count() == 0


def test_p15_a_carrier_that_declines_hands_the_case_to_a_person(cast: Cast) -> None:
    """The effect was there and nobody took it up: no message goes out, a lead decides."""
    grant, order = an_attempt(cast)
    target_answers(grant, order)
    target_shows(grant, order, state="declined")
    case = effect_of(order).decision.case
    assert stage_of(case) == "escalated"
    message = Effect.objects.get(decision__case=case, proposed_action__position=2)
    assert message.state == Effect.State.NOT_NEEDED


def test_p15_a_record_that_differs_from_what_was_released_is_not_the_effect(cast: Cast) -> None:
    """Something stands under our reference, but another amount: a person looks at it."""
    grant, order = an_attempt(cast)
    target_answers(grant, order)
    other = {**order.effect.parameters, "amount": {"amount_minor": 1, "currency": "USD"}}
    shown = replace(order, effect=replace(order.effect, parameters=other))
    target_shows(grant, shown, state="confirmed")
    effect = effect_of(order)
    assert effect.confirmed_at is None
    assert stage_of(effect.decision.case) == "escalated"


def test_p15_only_the_owner_or_a_lead_accepts_the_outcome(cast: Cast) -> None:
    """Acceptance is a person's word, after everything was adopted."""
    grant, order = an_attempt(cast)
    case = effect_of(order).decision.case
    target_answers(grant, order)
    target_shows(grant, order, state="confirmed")
    ours = {"code": "BLUX", "name": "BLUX Lines", "set_by": "watchbill-agent"}
    booked = (a_shipment(42, carrier_assignment=ours), a_quote(state="used"))
    grant, second = agent_starts_attempt(case, booked, position=2)
    assert second is not None
    target_answers(grant, second)
    target_shows(grant, second, state="delivered")
    assert stage_of(case) == "waiting_for_acceptance"
    with pytest.raises(Refused):
        closing.accept_outcome(case_id=case.pk, by=cast.colleague, at=business_now())
    closing.accept_outcome(case_id=case.pk, by=cast.owner, at=business_now())
    assert stage_of(case) == "closed"
    assert events_of(case)[-1] == "case_closed"


def test_p16_a_timeout_is_unknown_and_nothing_is_retried_inside_the_window(cast: Cast) -> None:
    """Not found right after the call proves nothing."""
    grant, order = an_attempt(cast)
    target_answers(grant, order, CallOutcome.UNKNOWN)
    case = effect_of(order).decision.case
    assert stage_of(case) == "reconciling"
    target_shows(grant, order, state="", found=False)
    assert effect_of(order).state == Effect.State.UNKNOWN
    assert (
        effects.begin_attempt(
            grant=grant, by=AGENT, effect_id=order.effect.effect_id, capabilities=TRANSPORT
        )
        is None
    )
    assert Attempt.objects.count() == 1


def test_p16_found_later_it_is_the_effect_of_that_attempt(cast: Cast) -> None:
    """The booking appears by its reference: confirmed, and never sent again."""
    grant, order = an_attempt(cast)
    target_answers(grant, order, CallOutcome.UNKNOWN)
    target_shows(grant, order, state="confirmed")
    assert effect_of(order).state == Effect.State.ADOPTED
    attempt = Attempt.objects.get()
    assert (attempt.outcome, attempt.resolved_at is not None) == ("answered", True)


def test_p16_absent_after_the_window_it_is_tried_again_with_the_same_key(cast: Cast) -> None:
    """It did not happen; the second attempt carries the key of the first."""
    grant, order = an_attempt(cast)
    target_answers(grant, order, CallOutcome.UNKNOWN)
    case = effect_of(order).decision.case
    target_stays_empty(grant, order)
    assert stage_of(case) == "executing"
    _, second = agent_starts_attempt(case, EVENING_WORLD)
    assert second is not None
    assert second.effect.key == order.effect.key
    assert Attempt.objects.count() == 2


def target_stays_empty(grant: Grant, order: AttemptOrder) -> None:
    """Nothing is found under a fresh lease, and still nothing when the window has passed."""
    target_shows(grant, order, state="", found=False)
    move_business_clock(by=TRANSPORT.consistency_window + timedelta(seconds=1))
    target_shows(grant, order, state="", found=False)


def test_p16_the_window_counts_from_the_first_look_that_no_late_call_can_follow(
    cast: Cast,
) -> None:
    """Long after the attempt, but only just fenced: one look alone proves nothing."""
    grant, order = an_attempt(cast)
    target_answers(grant, order, CallOutcome.UNKNOWN)
    move_business_clock(by=timedelta(seconds=30))
    target_shows(grant, order, state="", found=False)
    assert effect_of(order).state == Effect.State.UNKNOWN


def test_p16_a_call_that_is_answered_and_never_appears_is_not_sent_for_ever(cast: Cast) -> None:
    """Three times accepted, three times absent: a person looks at the target."""
    case = a_released_case(cast)
    for _ in range(3):
        grant, order = agent_starts_attempt(case, EVENING_WORLD)
        assert order is not None
        target_answers(grant, order)
        target_stays_empty(grant, order)
    assert stage_of(case) == "escalated"
    assert Attempt.objects.count() == 3


def test_p16_absent_after_the_key_died_a_person_decides(cast: Cast) -> None:
    """After 24 hours the same key would be a new request: no retry on a guess."""
    grant, order = an_attempt(cast)
    target_answers(grant, order, CallOutcome.UNKNOWN)
    case = effect_of(order).decision.case
    yesterday = business_now() - timedelta(hours=25)
    Attempt.objects.update(started_at=yesterday, ended_at=yesterday)
    target_stays_empty(grant, order)
    assert stage_of(case) == "escalated"
    assert Attempt.objects.count() == 1


def an_unknown_that_nobody_can_look_up(cast: Cast) -> tuple[Case, AttemptOrder]:
    """The key died before the look-up worked again; the case is a lead's."""
    grant, order = an_attempt(cast)
    target_answers(grant, order, CallOutcome.UNKNOWN)
    yesterday = business_now() - timedelta(hours=25)
    Attempt.objects.update(started_at=yesterday, ended_at=yesterday)
    target_stays_empty(grant, order)
    return effect_of(order).decision.case, order


@pytest.mark.parametrize("happened", [True, False])
def test_p16_a_person_records_what_they_found_out(cast: Cast, happened: bool) -> None:
    """They rang the carrier: the effect is confirmed, or known not to have happened."""
    case, order = an_unknown_that_nobody_can_look_up(cast)
    findings.record_finding(
        case_id=case.pk,
        effect_id=order.effect.effect_id,
        happened=happened,
        note="Asked Bo at Bluewater",
        seen=Seen(attempts=1, looks=2),
        by=cast.lead,
        at=business_now(),
    )
    effect = effect_of(order)
    assert effect.state == ("confirmed" if happened else "not_needed")
    assert "Asked Bo" in effect.state_reason
    assert Attempt.objects.get().outcome == ("answered" if happened else "no_effect")
    assert events_of(case)[-1] == "finding_recorded"


def test_p16_a_case_with_an_unknown_outcome_cannot_be_closed(cast: Cast) -> None:
    """It would be guessed that nothing happened."""
    case, _ = an_unknown_that_nobody_can_look_up(cast)
    with pytest.raises(Conflict, match="is unknown"):
        closing.close_without_action(
            case_id=case.pk, by=cast.lead, at=business_now(), reason="Enough"
        )


def test_p16_a_finding_waits_while_the_agent_still_looks(cast: Cast) -> None:
    """Two answers to one question would be one too many."""
    grant, order = an_attempt(cast)
    target_answers(grant, order, CallOutcome.UNKNOWN)
    case = effect_of(order).decision.case
    with pytest.raises(Conflict, match="still looking"):
        findings.record_finding(
            case_id=case.pk,
            effect_id=order.effect.effect_id,
            happened=True,
            note="I think so",
            seen=Seen(attempts=1, looks=0),
            by=cast.lead,
            at=business_now(),
        )


def test_p09_a_refusal_by_the_target_because_the_world_moved_plans_anew(cast: Cast) -> None:
    """412 or 'already covered': the proposal is stale whatever we had read before."""
    grant, order = an_attempt(cast)
    target_answers(grant, order, CallOutcome.WORLD_MOVED)
    case = effect_of(order).decision.case
    assert current_proposal(case).state == "stale"
    assert stage_of(case) == "investigating"
    assert "the target: world_moved" in current_proposal(case).state_reason.lower()


def test_p04_an_attempt_left_open_is_looked_up_before_facts_are_compared(cast: Cast) -> None:
    """Its booking changed the shipment: that must not pass for somebody else's change."""
    grant, order = an_attempt(cast)
    case = effect_of(order).decision.case
    ours = {"code": "BLUX", "name": "BLUX Lines", "set_by": "watchbill-agent"}
    booked = (a_shipment(42, carrier_assignment=ours), a_quote(state="used"))
    successor, second = agent_starts_attempt(case, booked)
    assert second is None
    assert stage_of(case) == "reconciling"
    assert Attempt.objects.get().outcome == Attempt.Outcome.UNKNOWN
    target_shows(successor, order, state="confirmed")
    assert effect_of(order).state == Effect.State.ADOPTED
    assert current_proposal(case).state == "released"


def test_p16_an_unknown_attempt_keeps_the_next_one_from_starting(cast: Cast) -> None:
    """Asking for the attempt again is refused quietly; nothing is written."""
    grant, order = an_attempt(cast)
    target_answers(grant, order, CallOutcome.UNKNOWN)
    case = effect_of(order).decision.case
    before = events_of(case)
    assert (
        effects.begin_attempt(
            grant=grant, by=AGENT, effect_id=order.effect.effect_id, capabilities=TRANSPORT
        )
        is None
    )
    assert events_of(case) == before

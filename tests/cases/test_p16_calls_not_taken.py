"""P16, P19: a call that surely did nothing is no try; the next one is spaced out, and visible."""

from datetime import timedelta

from cases.actions import effects
from cases.actions.clock import move_business_clock
from cases.clock import business_now
from cases.models import Attempt, Case, Decision, Run
from cases.vocabulary.work import AttemptOrder, CallOutcome, CallResult, Grant
from tests.cases.builders import (
    AGENT,
    EVENING_WORLD,
    TRANSPORT,
    Cast,
    a_grant,
    a_released_case,
    agent_starts_attempt,
    at_business_time,
    audit_of,
    stage_of,
    target_answers,
    target_shows,
)


def an_attempt(case: Case) -> tuple[Grant, AttemptOrder]:
    """The next attempt of the released booking is under way."""
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    return grant, order


def not_taken(case: Case, *, retry_after: timedelta | None = None) -> timedelta:
    """An attempt whose call was not taken; how long it is until the next try."""
    grant, order = an_attempt(case)
    result = CallResult(
        outcome=CallOutcome.NOT_SENT, detail="J. Ortiz has S-318 open", retry_after=retry_after
    )
    effects.finish_attempt(
        grant=grant,
        by=AGENT,
        attempt_id=order.attempt_id,
        result=result,
        capabilities=TRANSPORT,
    )
    return until_next_try(case)


def test_p19_who_holds_the_record_is_said_on_the_case(cast: Cast) -> None:
    case = a_released_case(cast)
    not_taken(case)
    case.refresh_from_db()
    assert "J. Ortiz has S-318 open" in case.stage_reason
    assert stage_of(case) == "executing"


def test_p16_tries_are_spaced_out_and_never_sooner_than_the_target_asked(cast: Cast) -> None:
    case = a_released_case(cast)
    pauses = [not_taken(case) for _ in range(3)]
    assert [round(pause.total_seconds()) for pause in pauses] == [5, 10, 20]
    assert not_taken(case, retry_after=timedelta(seconds=90)) > timedelta(seconds=85)
    assert not_taken(case, retry_after=timedelta(seconds=1)) > timedelta(seconds=75)


def test_p16_calls_that_never_left_do_not_use_up_the_tries(cast: Cast) -> None:
    case = a_released_case(cast)
    for _ in range(3):
        not_taken(case)
    grant, order = an_attempt(case)
    target_answers(grant, order, CallOutcome.UNKNOWN)
    target_shows(grant, order, state="", found=False)
    move_business_clock(by=TRANSPORT.consistency_window + timedelta(seconds=1))
    target_shows(grant, order, state="", found=False)
    assert stage_of(case) == "executing"
    outcomes = list(Attempt.objects.order_by("number").values_list("outcome", flat=True))
    assert outcomes == ["not_sent", "not_sent", "not_sent", "no_effect"]


def test_p16_a_key_ages_from_its_first_call_that_may_have_arrived(cast: Cast) -> None:
    case = a_released_case(cast)
    not_taken(case)
    yesterday = business_now() - timedelta(hours=25)
    Attempt.objects.update(started_at=yesterday, ended_at=yesterday, resolved_at=yesterday)
    grant, order = an_attempt(case)
    target_answers(grant, order, CallOutcome.UNKNOWN)
    target_shows(grant, order, state="", found=False)
    move_business_clock(by=TRANSPORT.consistency_window + timedelta(seconds=1))
    target_shows(grant, order, state="", found=False)
    assert stage_of(case) == "executing"


ALWAYS = timedelta(days=11_000)


def test_p16_no_target_keeps_a_release_waiting_for_longer_than_ten_minutes(cast: Cast) -> None:
    case = a_released_case(cast)
    assert not_taken(case, retry_after=ALWAYS) <= timedelta(minutes=10)


def test_p19_a_held_resource_is_tried_again_within_ten_minutes(cast: Cast) -> None:
    case = a_released_case(cast)
    assert backed_off(case, delay=ALWAYS) <= timedelta(minutes=10)
    assert audit_of(case)[-1].data["delay_seconds"] == 600


def test_p08_no_wait_lasts_past_the_end_of_the_release(cast: Cast) -> None:
    """It ends in four minutes: then it has run out, and whoever has the case must see that."""
    case = a_released_case(cast)
    ends = Decision.objects.get().valid_until
    assert ends is not None
    at_business_time(ends - timedelta(minutes=4))
    assert backed_off(case, delay=ALWAYS) <= timedelta(minutes=4)
    assert not_taken(case, retry_after=ALWAYS) <= timedelta(minutes=4)


def backed_off(case: Case, *, delay: timedelta) -> timedelta:
    """Someone else holds the shipment; how long it is until the next try."""
    grant = a_grant(case)
    effects.back_off(grant=grant, by=AGENT, reason="dispatch-bot holds it", delay=delay)
    return until_next_try(case)


def until_next_try(case: Case) -> timedelta:
    """How long it is until work on the case is due."""
    due_at = Run.objects.get(case=case).due_at
    assert due_at is not None
    return due_at - business_now()

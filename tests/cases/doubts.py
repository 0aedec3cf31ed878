"""Cases whose attempt may or may not have happened, as they come about."""

from datetime import timedelta

from cases.actions import read_backs
from cases.actions.clock import move_business_clock
from cases.actions.findings import Seen
from cases.models import Case, Effect
from cases.queries.reports import reports_about, reports_to
from cases.vocabulary.work import SETTLE_WITHIN, AttemptOrder, CallOutcome, Grant, TargetLook
from tests.cases.builders import (
    AGENT,
    EVENING_WORLD,
    TRANSPORT,
    Cast,
    a_grant,
    a_released_case,
    agent_starts_attempt,
    target_answers,
)


def a_case_in_doubt(cast: Cast) -> tuple[Case, Grant, AttemptOrder]:
    """The booking timed out a moment ago; the agent is about to look it up."""
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    target_answers(grant, order, CallOutcome.UNKNOWN)
    return case, grant, order


def target_cannot_be_asked(grant: Grant, order: AttemptOrder) -> None:
    """The look-up itself fails."""
    look = TargetLook(
        effect_id=order.effect.effect_id, found=False, readable=False, detail="it answered 503"
    )
    read_backs.record_looks(grant=grant, by=AGENT, looks=[look], capabilities=TRANSPORT)


def all_of(effect: Effect) -> Seen:
    """What somebody has seen whose page shows all there is."""
    return Seen(
        attempts=effect.attempts.count(),
        looks=effect.read_backs.count(),
        reports=len(reports_about(effect, among=reports_to(effect.decision.case_id))),
    )


def a_case_given_up(cast: Cast) -> tuple[Case, Effect]:
    """It could not be looked up until its deadline had passed: a person finds out."""
    case, _, order = a_case_in_doubt(cast)
    move_business_clock(by=SETTLE_WITHIN + timedelta(minutes=1))
    target_cannot_be_asked(a_grant(case), order)
    case.refresh_from_db()
    return case, Effect.objects.get(pk=order.effect.effect_id)

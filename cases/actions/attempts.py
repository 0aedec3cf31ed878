"""Attempts whose outcome nobody recorded: they may have happened, so they are looked up."""

from cases.actions.change import Change
from cases.actions.releases import effects_in_force
from cases.models import Attempt, Effect
from cases.vocabulary.stages import Stage


def set_effect(change: Change, effect: Effect, state: Effect.State, reason: str) -> None:
    """Move an effect to a state, with the reason."""
    effect.state, effect.state_since, effect.state_reason = state, change.at, reason
    effect.save(update_fields=("state", "state_since", "state_reason", "target_record_id"))


def make_unknown(change: Change, attempt: Attempt, detail: str) -> None:
    """Record that an attempt may or may not have happened; it is looked up at once."""
    attempt.outcome, attempt.ended_at = Attempt.Outcome.UNKNOWN, change.at
    attempt.detail = detail
    attempt.save(update_fields=("outcome", "ended_at", "detail"))
    effect = attempt.effect
    set_effect(change, effect, Effect.State.UNKNOWN, detail)
    change.record(
        "attempt_ended",
        outcome=attempt.outcome,
        attempt=attempt.number,
        reference=effect.reference,
        reason=detail,
    )
    change.enter(Stage.RECONCILING, reason=f"{effect.reference}: {detail}")
    change.due(change.at, reason="An unknown outcome is to be looked up.")


def doubt_open_attempts(change: Change) -> bool:
    """Make attempts unknown that an earlier worker left open; says whether any is unsettled.

    Comes before any comparison of facts: what such an attempt did at the target would otherwise
    look like somebody else's change.
    """
    unsettled = Attempt.objects.select_related("effect").filter(
        effect__in=effects_in_force(change.case),
        outcome__in=(Attempt.Outcome.OPEN, Attempt.Outcome.UNKNOWN),
    )
    found = list(unsettled)
    for attempt in found:
        if attempt.outcome == Attempt.Outcome.OPEN:
            make_unknown(change, attempt, "Its worker ended before the answer was recorded.")
    return bool(found)

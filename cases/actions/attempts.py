"""Attempts whose outcome nobody recorded: they may have happened, so they are looked up."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import QuerySet

from cases.actions.change import Change
from cases.actions.releases import effects_in_force, hand_over, release_in_force
from cases.models import Attempt, Case, Effect
from cases.vocabulary.errors import Conflict
from cases.vocabulary.reconciliation import Doubt, NextStep, next_step
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import SETTLE_WITHIN, Capabilities


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
    change.ensure_owner(reason="An unknown outcome needs an owner.")
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


def calls_of(effect: Effect) -> list[Attempt]:
    """The attempts whose call may have arrived, oldest first."""
    return list(effect.attempts.exclude(outcome=Attempt.Outcome.NOT_SENT))


def key_age_of(calls: Sequence[Attempt], *, at: datetime) -> timedelta:
    """How long ago a call was first made under the key that all of them share."""
    return at - calls[0].started_at if calls else timedelta(0)


def doubt_about(
    effect: Effect, *, searchable: bool, at: datetime, looked_at: datetime | None
) -> Doubt:
    """What is known at `at` of an attempted effect that is not to be seen in its target.

    `looked_at` is when the newest look was asked for: what it found is no newer than that, however
    long its answer and all that came after it took.
    """
    calls = calls_of(effect)
    if not calls:
        raise Conflict(f"No call for {effect.reference} may have arrived.")
    newest = calls[-1]
    # A look that found nothing was taken under a fresh lease, where the target has leases: no older
    # call can land after one.
    in_vain = effect.read_backs.filter(found=False, at__gte=newest.started_at).first()
    since = newest.ended_at if not searchable else None if in_vain is None else in_vain.at
    until = looked_at if searchable else at
    return Doubt(
        waited=None if since is None or until is None else until - since,
        key_age=key_age_of(calls, at=at),
        was_answered=newest.outcome == Attempt.Outcome.ANSWERED,
        tries=len(calls),
    )


def effect_to_repeat(change: Change, capabilities: Capabilities) -> Effect | None:
    """The first effect of unknown outcome that only a call repeated under its key can settle."""
    for effect in effects_in_force(change.case).filter(state=Effect.State.UNKNOWN):
        searchable = capabilities.lookup_by_reference or bool(effect.target_record_id)
        # When the newest look was asked for matters less here: its key makes the call harmless.
        doubt = doubt_about(effect, searchable=searchable, at=change.at, looked_at=change.at)
        if next_step(can=capabilities, doubt=doubt) is NextStep.REPEAT:
            return effect
    return None


def repeated_by(attempt: Attempt) -> Attempt | None:
    """The attempt of unknown outcome whose call this one repeats under the same key, if any."""
    earlier = attempt.effect.attempts.filter(number__lt=attempt.number)
    before = earlier.exclude(outcome=Attempt.Outcome.NOT_SENT).last()
    return before if before and before.outcome == Attempt.Outcome.REPEATED else None


def give_up_if_overdue(change: Change, why: str) -> bool:
    """After a look that could not be made: past its deadline an unknown outcome goes to a person.

    `why` says what kept the agent from looking. False when nothing is unknown or time is left.
    """
    decision = release_in_force(change.case)
    overdue = effects_in_force(change.case).filter(
        state=Effect.State.UNKNOWN, state_since__lte=change.at - SETTLE_WITHIN
    )
    effect = overdue.first()
    if decision is None or effect is None:
        return False
    minutes = int(SETTLE_WITHIN.total_seconds()) // 60
    hand_over(
        change,
        decision,
        f"Whether {effect.reference} happened could not be found out within {minutes} minutes, "
        f"so a person finds out. {why}",
    )
    return True


def unknown_effects(case: Case) -> QuerySet[Effect]:
    """The effects whose outcome is unknown, whether their release is still in force or not."""
    return Effect.objects.filter(decision__case=case, state=Effect.State.UNKNOWN)


def check_nothing_unknown(case: Case) -> None:
    """Raise `Conflict` while an outcome is unknown: going on would be guessing that it was not."""
    unknown = unknown_effects(case).first()
    if unknown is not None:
        raise Conflict(f"Whether {unknown.reference} happened is unknown. Record it first.")

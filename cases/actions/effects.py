"""Acting: the last check on fresh facts, the attempt before the call, the outcome after it."""

from datetime import timedelta

from cases.actions.attempts import (
    calls_of,
    doubt_open_attempts,
    give_up_if_overdue,
    key_age_of,
    make_unknown,
    repeated_by,
    set_effect,
)
from cases.actions.change import Change, working
from cases.actions.conditions import what_holds
from cases.actions.evidence import outran, set_next_refresh, untrusted
from cases.actions.open_actions import changes_for_open_actions
from cases.actions.pauses import standing_pause
from cases.actions.releases import (
    effects_in_force,
    finish_release,
    hand_over,
    plan_anew,
    put_off,
    release_in_force,
)
from cases.actions.seal import is_intact
from cases.actions.unread import has_unread_events
from cases.models import Attempt, Decision, Effect
from cases.policies import check_may_decide, reason_against
from cases.queries.sheets import sheet_of
from cases.queries.situation import effect_work
from cases.vocabulary.actors import Actor
from cases.vocabulary.lanes import Lane
from cases.vocabulary.reconciliation import key_has_expired
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import AttemptOrder, CallOutcome, CallResult, Capabilities, Grant

FACTS_ARE_FRESH_FOR = timedelta(seconds=30)
FIRST_TRY_AGAIN = timedelta(seconds=5)
LONGEST_BETWEEN_TRIES = timedelta(minutes=5)


def clear_to_act(*, grant: Grant, by: Actor) -> bool:
    """Whether the release holds on the facts just read.

    When a fact changed, ran out or cannot be read, nothing may be done: the proposal becomes stale
    or expired, or the case blocked, and False comes back.
    """
    with working(grant=grant, by=by) as change:
        decision = release_in_force(change.case)
        change.nothing_to_do()  # unless one of the checks writes something down
        if change.case.current_stage is not Stage.EXECUTING or decision is None:
            return False
        if doubt_open_attempts(change) or not _still_holds(change, decision):
            return False
        if effects_in_force(change.case).filter(state=Effect.State.WANTED).exists():
            return True
        finish_release(change, decision=decision)
        set_next_refresh(change)
        return False


def _still_holds(change: Change, decision: Decision) -> bool:
    """Every rule that must hold right before acting, on the newest readings."""
    if reason := untrusted(change.case):
        change.block(reason=reason)
        return False
    if not is_intact(proposal=decision.proposal, digest=decision.digest):
        hand_over(
            change,
            decision,
            f"What is stored as {decision.proposal} is not what {decision.by_name} released. "
            "Somebody changed it in the database.",
        )
        return False
    if reason := reason_against(check_may_decide, person=decision.by):
        hand_over(change, decision, f"{decision.by_name} may no longer release: {reason}")
        return False
    changes = changes_for_open_actions(
        case=change.case, decision=decision, sheet=sheet_of(change.case)
    )
    expired = decision.valid_until is None or decision.valid_until <= change.at
    outrun = outran(decision.proposal)
    if changes or expired or outrun:
        plan_anew(change, proposal=decision.proposal, changes=changes, expired=expired, said=outrun)
        return False
    refreshed_at = change.case.refreshed_at
    return refreshed_at is not None and change.at - refreshed_at <= FACTS_ARE_FRESH_FOR


def begin_attempt(
    *, grant: Grant, by: Actor, effect_id: int, capabilities: Capabilities
) -> AttemptOrder | None:
    """Commit an attempt row and give permission for exactly one call.

    None when nothing may start: a pause or a condition stands, what came in is not read yet, the
    release does not stand, its facts are not fresh, an earlier attempt is unsettled, its key ran
    out, or what it depends on is not adopted yet.
    """
    with working(grant=grant, by=by) as change:
        decision = release_in_force(change.case)
        effect = effects_in_force(change.case).filter(pk=effect_id).first()
        change.nothing_to_do()  # unless one of the checks writes something down
        if change.case.current_stage is not Stage.EXECUTING or decision is None or effect is None:
            return None
        if standing_pause(lane=Lane.EXECUTION, kind=change.case.kind, agent=by) is not None:
            return None
        if what_holds(change.case) is not None or has_unread_events(change.case):
            return None
        if doubt_open_attempts(change) or not _dependencies_hold(decision, effect):
            return None
        if effect.state != Effect.State.WANTED or not _still_holds(change, decision):
            return None
        if key_has_expired(can=capabilities, key_age=key_age_of(calls_of(effect), at=change.at)):
            hand_over(
                change,
                decision,
                f"{effect.reference} did not happen, and its key is no longer honoured: asked for "
                "again it would count as a new request. A person decides.",
            )
            return None
        return start_attempt(change, effect, grant)


def _dependencies_hold(decision: Decision, effect: Effect) -> bool:
    waiting_for = decision.effects.filter(
        proposed_action__position__in=effect.proposed_action.depends_on
    )
    return not waiting_for.exclude(state=Effect.State.ADOPTED).exists()


def start_attempt(change: Change, effect: Effect, grant: Grant) -> AttemptOrder:
    """Write the attempt down and permit its one call, on the subject as it was last read."""
    number = effect.attempts.count() + 1
    attempt = Attempt.objects.create(
        effect=effect,
        number=number,
        started_at=change.at,
        fencing_token=grant.fencing_token,
        worker=grant.worker,
    )
    change.record(
        "attempt_started",
        attempt=number,
        reference=effect.reference,
        action=effect.proposed_action.action,
        fencing_token=grant.fencing_token,
    )
    sheet = sheet_of(change.case)
    subject = sheet.reading(sheet.subject_type, sheet.subject_id)
    return AttemptOrder(
        attempt_id=attempt.pk,
        effect=effect_work(effect, kind=change.case.kind),
        subject=change.case.subject,
        subject_version=None if subject is None else subject.version,
        subject_etag="" if subject is None else subject.etag,
    )


def finish_attempt(
    *, grant: Grant, by: Actor, attempt_id: int, result: CallResult, capabilities: Capabilities
) -> None:
    """Record how the call of an attempt ended and what follows from it.

    A timeout, a broken connection or a 5xx is unknown; what the target refused because the world
    moved ends the release and asks for a new plan. Harmless when the attempt already ended.
    """
    with working(grant=grant, by=by) as change:
        attempt = Attempt.objects.select_related("effect__decision__proposal").get(
            pk=attempt_id, effect__decision__case=change.case
        )
        if attempt.outcome != Attempt.Outcome.OPEN:
            change.nothing_to_do()
            return
        if result.outcome is CallOutcome.UNKNOWN:
            make_unknown(change, attempt, result.detail)
            change.due(
                change.at + capabilities.consistency_window,
                reason="It is looked up once the target's consistency window "
                f"({capabilities.consistency_window.total_seconds():g} s) has passed.",
            )
            return
        _settle_answer(change, attempt, result)


OUTCOMES = {
    CallOutcome.ANSWERED: (Attempt.Outcome.ANSWERED, Effect.State.ANSWERED),
    CallOutcome.WORLD_MOVED: (Attempt.Outcome.REFUSED, Effect.State.REFUSED),
    CallOutcome.REFUSED: (Attempt.Outcome.REFUSED, Effect.State.REFUSED),
    CallOutcome.NOT_SENT: (Attempt.Outcome.NOT_SENT, Effect.State.WANTED),
}


def _settle_answer(change: Change, attempt: Attempt, result: CallResult) -> None:
    effect, before = attempt.effect, repeated_by(attempt)
    attempt.outcome, state = OUTCOMES[result.outcome]
    attempt.ended_at = attempt.resolved_at = change.at
    attempt.detail = result.detail
    attempt.save(update_fields=("outcome", "ended_at", "resolved_at", "detail"))
    change.record(
        "attempt_ended",
        outcome=attempt.outcome,
        attempt=attempt.number,
        reference=effect.reference,
        reason=result.detail,
    )
    if before is not None and result.outcome is not CallOutcome.ANSWERED:
        _still_unknown(change, before, result)
        return
    effect.target_record_id = result.record_id
    set_effect(change, effect, state, result.detail)
    _follow_up(change, effect, result)


def _follow_up(change: Change, effect: Effect, result: CallResult) -> None:
    match result.outcome:
        case CallOutcome.ANSWERED:
            change.enter(Stage.VERIFYING, reason=f"{effect.reference} was answered.")
            change.due(change.at, reason="The target is to be read back.")
        case CallOutcome.WORLD_MOVED:
            _world_moved(change, effect.decision, result.detail)
        case CallOutcome.REFUSED:
            hand_over(change, effect.decision, f"The target refused: {result.detail}")
        case CallOutcome.NOT_SENT:
            _try_later(change, effect, result)


def _try_later(change: Change, effect: Effect, result: CallResult) -> None:
    """Surely nothing happened: tries are spaced out, and never sooner than the target asked for."""
    in_vain = effect.attempts.filter(outcome=Attempt.Outcome.NOT_SENT).count()
    delay = min(FIRST_TRY_AGAIN * (1 << min(in_vain - 1, 9)), LONGEST_BETWEEN_TRIES)
    change.enter(change.case.current_stage, reason=f"{effect.reference}: {result.detail}")
    put_off(
        change,
        delay=max(delay, result.retry_after or delay),
        reason="The call was not taken; it is tried again.",
    )


def _still_unknown(change: Change, before: Attempt, result: CallResult) -> None:
    """A repeated call that was not accepted says nothing about the first one."""
    before.outcome, before.resolved_at = Attempt.Outcome.UNKNOWN, None
    before.save(update_fields=("outcome", "resolved_at"))
    if result.outcome is CallOutcome.NOT_SENT:
        if not give_up_if_overdue(change, result.detail):
            _try_later(change, before.effect, result)
        return
    hand_over(
        change,
        before.effect.decision,
        f"{before.effect.reference} was asked for again under its key and refused: "
        f"{result.detail}. That does not say whether the first call happened.",
    )


def _world_moved(change: Change, decision: Decision, detail: str) -> None:
    """The target itself says that the facts differ: the proposal is stale, whatever we had read."""
    changes = changes_for_open_actions(
        case=change.case, decision=decision, sheet=sheet_of(change.case)
    )
    said = f"The target refused, since facts moved: {detail}."
    plan_anew(change, proposal=decision.proposal, changes=changes, expired=False, said=said)


def back_off(*, grant: Grant, by: Actor, reason: str, delay: timedelta) -> None:
    """Someone else holds the resource: say so on the case and try again after `delay`, or sooner
    where that is too far off (see `put_off`).
    """
    with working(grant=grant, by=by) as change:
        waits = put_off(change, delay=delay, reason=reason[:200])
        change.record("backed_off", reason=reason, delay_seconds=int(waits.total_seconds()))
        if not give_up_if_overdue(change, reason):
            change.case.stage_reason = reason

"""Acting: the last check on fresh facts, the attempt before the call, the outcome after it."""

from datetime import timedelta

from cases.actions.attempts import doubt_open_attempts, make_unknown, set_effect
from cases.actions.change import Change, working
from cases.actions.evidence import rest_until_boundary, set_next_refresh, untrusted
from cases.actions.pauses import standing_pause
from cases.actions.releases import (
    effects_in_force,
    end_release,
    finish_release,
    plan_anew,
    release_in_force,
)
from cases.models import Attempt, Case, Decision, Effect
from cases.policies import check_may_decide, reason_against
from cases.queries.sheets import sheet_of
from cases.queries.situation import effect_work
from cases.vocabulary.actors import Actor
from cases.vocabulary.facts import (
    FactChange,
    FactSheet,
    Value,
    compare,
    material_fact_from,
)
from cases.vocabulary.lanes import Lane
from cases.vocabulary.playbooks import playbook_of
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import AttemptOrder, CallOutcome, CallResult, Capabilities, Grant

FACTS_ARE_FRESH_FOR = timedelta(seconds=30)


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
    if reason := reason_against(check_may_decide, person=decision.by):
        hand_over(change, decision, f"{decision.by_name} may no longer release: {reason}")
        return False
    changes = changes_for_open_actions(
        case=change.case, decision=decision, sheet=sheet_of(change.case)
    )
    expired = decision.valid_until is None or decision.valid_until <= change.at
    if changes or expired:
        plan_anew(change, proposal=decision.proposal, changes=changes, expired=expired)
        return False
    refreshed_at = change.case.refreshed_at
    return refreshed_at is not None and change.at - refreshed_at <= FACTS_ARE_FRESH_FOR


def changes_for_open_actions(
    *, case: Case, decision: Decision, sheet: FactSheet
) -> tuple[FactChange, ...]:
    """Changed material facts of actions still open, apart from what our own effects changed."""
    playbook = playbook_of(case.kind)
    done: set[int] = set()
    expected: dict[str, Value] = {}
    for effect in decision.effects.select_related("proposed_action"):
        if effect.state in {Effect.State.CONFIRMED, Effect.State.ADOPTED}:
            planned = effect.proposed_action
            done.add(planned.position)
            for key, leaves in playbook.action(planned.action).leaves_behind.items():
                expected[key] = leaves(planned.parameters)
    open_facts = [
        fact
        for fact in map(material_fact_from, decision.proposal.facts)
        if not done.issuperset(fact.positions)
    ]
    return compare(specs=playbook.facts, material=open_facts, sheet=sheet, expected=expected)


def begin_attempt(*, grant: Grant, by: Actor, effect_id: int) -> AttemptOrder | None:
    """Commit an attempt row and give permission for exactly one call.

    None when nothing may start: a pause stands, the release does not, its facts are not fresh, an
    earlier attempt is unsettled, or what it depends on is not adopted yet.
    """
    with working(grant=grant, by=by) as change:
        decision = release_in_force(change.case)
        effect = effects_in_force(change.case).filter(pk=effect_id).first()
        change.nothing_to_do()  # unless one of the checks writes something down
        if change.case.current_stage is not Stage.EXECUTING or decision is None or effect is None:
            return None
        if standing_pause(lane=Lane.EXECUTION, kind=change.case.kind, agent=by) is not None:
            return None
        if doubt_open_attempts(change) or not _dependencies_hold(decision, effect):
            return None
        if effect.state != Effect.State.WANTED or not _still_holds(change, decision):
            return None
        return _start(change, effect, grant)


def _dependencies_hold(decision: Decision, effect: Effect) -> bool:
    waiting_for = decision.effects.filter(
        proposed_action__position__in=effect.proposed_action.depends_on
    )
    return not waiting_for.exclude(state=Effect.State.ADOPTED).exists()


def _start(change: Change, effect: Effect, grant: Grant) -> AttemptOrder:
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
                reason="An unknown outcome is to be looked up.",
            )
            return
        _settle_answer(change, attempt, result)


OUTCOMES = {
    CallOutcome.ANSWERED: (Attempt.Outcome.ANSWERED, Effect.State.ANSWERED),
    CallOutcome.WORLD_MOVED: (Attempt.Outcome.REFUSED, Effect.State.REFUSED),
    CallOutcome.REFUSED: (Attempt.Outcome.REFUSED, Effect.State.REFUSED),
    CallOutcome.NOT_SENT: (Attempt.Outcome.NO_EFFECT, Effect.State.WANTED),
}


def _settle_answer(change: Change, attempt: Attempt, result: CallResult) -> None:
    effect = attempt.effect
    attempt.outcome, state = OUTCOMES[result.outcome]
    attempt.ended_at = attempt.resolved_at = change.at
    attempt.detail = result.detail
    attempt.save(update_fields=("outcome", "ended_at", "resolved_at", "detail"))
    effect.target_record_id = result.record_id
    set_effect(change, effect, state, result.detail)
    change.record(
        "attempt_ended",
        outcome=attempt.outcome,
        attempt=attempt.number,
        reference=effect.reference,
        reason=result.detail,
    )
    match result.outcome:
        case CallOutcome.ANSWERED:
            change.enter(Stage.VERIFYING, reason=f"{effect.reference} was answered.")
            change.due(change.at, reason="The target is to be read back.")
        case CallOutcome.WORLD_MOVED:
            _world_moved(change, effect.decision, result.detail)
        case CallOutcome.REFUSED:
            hand_over(change, effect.decision, f"The target refused: {result.detail}")
        case CallOutcome.NOT_SENT:
            change.due(change.at + timedelta(seconds=5), reason="The call never left; try again.")


def _world_moved(change: Change, decision: Decision, detail: str) -> None:
    """The target itself says that the facts differ: the proposal is stale, whatever we had read."""
    changes = changes_for_open_actions(
        case=change.case, decision=decision, sheet=sheet_of(change.case)
    )
    said = f"The target refused, since facts moved: {detail}."
    plan_anew(change, proposal=decision.proposal, changes=changes, expired=False, said=said)


def hand_over(change: Change, decision: Decision, reason: str) -> None:
    """End a release that cannot go on and hand the case to a person."""
    end_release(change, decision=decision, reason=reason)
    change.record("case_escalated", reason=reason)
    change.enter(Stage.ESCALATED, reason=reason)
    rest_until_boundary(change)


def back_off(*, grant: Grant, by: Actor, reason: str, delay: timedelta) -> None:
    """Someone else holds the resource: say so on the case and try again after `delay`."""
    with working(grant=grant, by=by) as change:
        change.record("backed_off", reason=reason, delay_seconds=int(delay.total_seconds()))
        change.case.stage_reason = reason
        change.due(change.at + delay, reason=reason[:200])

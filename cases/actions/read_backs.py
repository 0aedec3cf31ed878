"""Fresh looks at the target: which effects are there, which were taken up, which never happened."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

from cases.actions.attempts import (
    doubt_about,
    doubt_open_attempts,
    effect_to_repeat,
    give_up_if_overdue,
    set_effect,
)
from cases.actions.change import Change, working
from cases.actions.evidence import set_next_refresh
from cases.actions.releases import (
    AT_THE_TARGET,
    UNSETTLED,
    effects_at_the_target,
    effects_in_force,
    finish_release,
    hand_over,
    release_in_force,
)
from cases.models import Attempt, Effect, ReadBack
from cases.vocabulary.actors import Actor
from cases.vocabulary.playbook import ActionSpec
from cases.vocabulary.playbooks import playbook_of
from cases.vocabulary.reconciliation import NextStep, next_step, why_a_person
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import SETTLE_WITHIN, Capabilities, Grant, TargetLook

FIRST_LOOK_AGAIN = timedelta(seconds=1)
LONGEST_BETWEEN_LOOKS = timedelta(minutes=5)
AFTER_A_FAILED_LOOK = timedelta(seconds=30)


def record_looks(
    *, grant: Grant, by: Actor, looks: Sequence[TargetLook], capabilities: Capabilities
) -> bool:
    """Keep each look and settle what it settles; then go on, wait, or hand to a person.

    True when only a call repeated under its key can tell whether an attempt happened.
    """
    with working(grant=grant, by=by) as change:
        decision = release_in_force(change.case)
        if change.case.current_stage not in AT_THE_TARGET:
            change.nothing_to_do()
            return False
        if decision is None:
            _settle_after_its_end(change, looks, capabilities)
            return False
        doubt_open_attempts(change)  # a repeated call whose worker ended
        unread = [look for look in looks if not look.readable]
        if unread:
            reason = f"The target cannot be read back: {unread[0].detail}."
            if not give_up_if_overdue(change, reason):
                change.block(reason=reason)
            return False
        for look in looks:
            effect = effects_in_force(change.case).get(pk=look.effect_id)
            refusal = _settle(change, effect, look, capabilities)
            if refusal:
                hand_over(change, decision, refusal)
                return False
        _go_on(change, capabilities)
        return effect_to_repeat(change, capabilities) is not None


def matches(spec: ActionSpec, parameters: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
    """Whether the target's record says what the action was to make it say."""
    return all(fields.get(check.field) == parameters[check.parameter] for check in spec.reads_back)


def _settle(change: Change, effect: Effect, look: TargetLook, capabilities: Capabilities) -> str:
    """Record one look; a sentence comes back when a person must take over."""
    if not look.searchable:
        change.record("not_searchable", reference=effect.reference)
        return _settle_absent(change, effect, look, capabilities)
    planned = effect.proposed_action
    spec = playbook_of(change.case.kind).action(planned.action)
    fits = look.found and matches(spec, planned.parameters, look.fields)
    ReadBack.objects.create(
        effect=effect,
        at=change.at,
        found=look.found,
        matches=fits,
        target_state=look.state,
        fields=dict(look.fields),
        detail=look.detail,
    )
    change.record(
        "read_back",
        reference=effect.reference,
        found=look.found,
        matches=fits,
        target_state=look.state,
        reason=look.detail,
    )
    if not look.found:
        return _settle_absent(change, effect, look, capabilities)
    if not fits:
        several = "" if look.records == 1 else f" {_said_of_several(effect, look)}"
        return f"{effect.reference} is in the target, but not as it was released.{several}"
    if look.records > 1:
        _confirm(change, effect, look, adopted=False, label=spec.label)
        return _said_of_several(effect, look)
    if look.state in spec.refused_when:
        said = f"The other party answered {look.state}."
        _attempts_happened(change, effect)  # it arrived: nothing about it is unknown any more
        set_effect(change, effect, Effect.State.REFUSED, said)
        return f"{spec.label}: {said.lower()}"
    _confirm(change, effect, look, adopted=look.state in spec.adopted_when, label=spec.label)
    return ""


def _said_of_several(effect: Effect, look: TargetLook) -> str:
    """Why a person takes over where one record was released and several are there."""
    return (
        f"{look.records} records in the target carry {effect.reference}, where one was released: "
        "it was done more than once, or someone copied it. A person puts that right."
    )


def _confirm(
    change: Change, effect: Effect, look: TargetLook, *, adopted: bool, label: str
) -> None:
    if effect.confirmed_at is None:
        effect.confirmed_at = change.at
        _attempts_happened(change, effect)
        change.record(
            "effect_confirmed", reference=effect.reference, record=look.record_id, action=label
        )
    if adopted and effect.adopted_at is None:
        effect.adopted_at = change.at
        change.record("effect_adopted", reference=effect.reference, target_state=look.state)
    effect.target_record_id = look.record_id
    effect.state = Effect.State.ADOPTED if adopted else Effect.State.CONFIRMED
    effect.state_since, effect.state_reason = change.at, ""
    effect.save()


def _attempts_happened(change: Change, effect: Effect) -> None:
    effect.attempts.filter(outcome=Attempt.Outcome.UNKNOWN).update(
        outcome=Attempt.Outcome.ANSWERED, resolved_at=change.at
    )


def _settle_absent(
    change: Change, effect: Effect, look: TargetLook, capabilities: Capabilities
) -> str:
    """Not to be seen: what that proves, and so what follows, depends on what the target can do."""
    if effect.confirmed_at is not None:
        return f"{effect.reference} was there and is gone from the target."
    attempt = effect.attempts.exclude(outcome=Attempt.Outcome.NOT_SENT).last()
    if attempt is None:
        return f"{effect.reference} was looked up without ever having been attempted."
    doubt = doubt_about(effect, searchable=look.searchable, at=change.at, looked_at=look.asked_at)
    match next_step(can=capabilities, doubt=doubt):
        case NextStep.WAIT:
            return ""
        case NextStep.TRY_AGAIN:
            attempt.outcome, attempt.resolved_at = Attempt.Outcome.NO_EFFECT, change.at
            attempt.save(update_fields=("outcome", "resolved_at"))
            did_not = "Looked up after the consistency window: it did not happen."
            set_effect(change, effect, Effect.State.WANTED, did_not)
            return ""
        case NextStep.REPEAT:
            _doubt_again(change, effect, attempt, "It is asked for again under the same key.")
            return ""
        case NextStep.ASK_A_PERSON:
            why = why_a_person(can=capabilities, doubt=doubt)
            _doubt_again(change, effect, attempt, f"It {why}.")
            return f"{effect.reference} {why}: a person finds out whether it happened."


def _doubt_again(change: Change, effect: Effect, attempt: Attempt, reason: str) -> None:
    """Unknown, also when it was answered once: an answer that nothing in the target bears out."""
    if attempt.outcome == Attempt.Outcome.ANSWERED:
        attempt.outcome, attempt.resolved_at = Attempt.Outcome.UNKNOWN, None
        attempt.save(update_fields=("outcome", "resolved_at"))
    if effect.state != Effect.State.UNKNOWN:
        set_effect(change, effect, Effect.State.UNKNOWN, reason)


def _pause_between_looks(change: Change) -> timedelta:
    """Looks come fast at first and are spaced out up to five minutes: adoption may take hours."""
    looks = ReadBack.objects.filter(effect__in=effects_at_the_target(change.case)).count()
    return min(FIRST_LOOK_AGAIN * (1 << min(looks // 3, 9)), LONGEST_BETWEEN_LOOKS)


def looked_up_again(capabilities: Capabilities) -> str:
    """Why an unknown outcome is looked up once more."""
    seconds = capabilities.consistency_window.total_seconds()
    if not capabilities.lookup_by_reference:
        return f"It cannot be looked up by its reference; {seconds:g} s after its call it goes on."
    return (
        f"It is looked up again; what is absent {seconds:g} s after the first look that found "
        "nothing did not happen."
    )


def _go_on(change: Change, capabilities: Capabilities) -> None:
    """Choose what comes next from where the effects stand."""
    states = set(effects_in_force(change.case).values_list("state", flat=True))
    if states & UNSETTLED:
        unknown = Effect.State.UNKNOWN in states
        stage = Stage.RECONCILING if unknown else Stage.VERIFYING
        change.enter(
            stage,
            reason="It is not known yet whether it happened."
            if unknown
            else "Waiting to see the effect and its adoption.",
        )
        pause = _pause_between_looks(change)
        if unknown and not capabilities.lookup_by_reference:
            pause = max(pause, capabilities.consistency_window)
        change.due(
            change.at + pause,
            reason=looked_up_again(capabilities) if unknown else "The target is read back.",
        )
        return
    if Effect.State.WANTED in states:
        change.enter(Stage.EXECUTING, reason="The next action is due.")
        change.due(change.at, reason="A release is to be carried out.")
        return
    decision = release_in_force(change.case)
    if decision is None:
        return
    finish_release(change, decision=decision)
    set_next_refresh(change)


def _settle_after_its_end(
    change: Change, looks: Sequence[TargetLook], capabilities: Capabilities
) -> None:
    """Settle what a late report was about: its release has ended, so nothing of it is carried out.

    What is known then is planned on. Until it is, the agent keeps looking for 15 minutes; after
    that, or when it cannot tell, a person has the case again.
    """
    effects = effects_at_the_target(change.case)
    failed = next((look.detail for look in looks if not look.readable), "")
    why = f"The target cannot be read back: {failed}." if failed else ""
    refusal = ""
    for look in looks if not failed else ():
        effect = effects.get(pk=look.effect_id)
        refusal = refusal or _settle(change, effect, look, capabilities)
    effects.filter(state=Effect.State.WANTED).update(
        state=Effect.State.NOT_NEEDED, state_reason="It did not happen, and its release has ended."
    )
    states = set(effects.values_list("state", flat=True))
    looked_since = change.case.stage_since
    if not refusal and not states & UNSETTLED:
        change.enter(Stage.INVESTIGATING, reason="The outcome is known; what is left is planned.")
        change.due(change.at, reason="The outcome is known; what is left is to be planned.")
    elif refusal or (Effect.State.UNKNOWN in states and change.at - looked_since >= SETTLE_WITHIN):
        hand_over(change, None, refusal or why or "It is still not known what happened.")
    else:
        _keep_looking(change, states, why)


def _keep_looking(change: Change, states: Collection[str], why: str) -> None:
    stage = Stage.RECONCILING if Effect.State.UNKNOWN in states else Stage.VERIFYING
    change.record("look_repeated", reason=why)
    change.enter(stage, reason=why or "Waiting to see the effect and its adoption.")
    pause = AFTER_A_FAILED_LOOK if why else _pause_between_looks(change)
    change.due(change.at + pause, reason="The target is read back.")

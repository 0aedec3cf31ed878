"""Fresh looks at the target: which effects are there, which were taken up, which never happened."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from cases.actions.change import Change, working
from cases.actions.effects import hand_over
from cases.actions.evidence import set_next_refresh
from cases.actions.releases import effects_in_force, finish_release, release_in_force
from cases.models import Attempt, Effect, ReadBack
from cases.vocabulary.actors import Actor
from cases.vocabulary.playbook import ActionSpec
from cases.vocabulary.playbooks import playbook_of
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import Capabilities, Grant, TargetLook

FIRST_LOOK_AGAIN = timedelta(seconds=1)
LONGEST_BETWEEN_LOOKS = timedelta(minutes=5)
MOST_ATTEMPTS = 3


def record_looks(
    *, grant: Grant, by: Actor, looks: Sequence[TargetLook], capabilities: Capabilities
) -> None:
    """Keep each look and settle what it settles; then go on, wait, or hand to a person."""
    with working(grant=grant, by=by) as change:
        decision = release_in_force(change.case)
        if decision is None or change.case.current_stage not in {
            Stage.VERIFYING,
            Stage.RECONCILING,
        }:
            change.nothing_to_do()
            return
        unread = [look for look in looks if not look.readable]
        if unread:
            change.block(reason=f"The target cannot be read back: {unread[0].detail}.")
            return
        for look in looks:
            effect = effects_in_force(change.case).get(pk=look.effect_id)
            refusal = _settle(change, effect, look, capabilities)
            if refusal:
                hand_over(change, decision, refusal)
                return
        _go_on(change)


def matches(spec: ActionSpec, parameters: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
    """Whether the target's record says what the action was to make it say."""
    return all(fields.get(check.field) == parameters[check.parameter] for check in spec.reads_back)


def _settle(change: Change, effect: Effect, look: TargetLook, capabilities: Capabilities) -> str:
    """Record one look; a sentence comes back when a person must take over."""
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
        return _settle_absent(change, effect, capabilities)
    if not fits:
        return f"{effect.reference} is in the target, but not as it was released."
    if look.state in spec.refused_when:
        return f"{spec.label}: the other party answered {look.state}."
    _confirm(change, effect, look, adopted=look.state in spec.adopted_when, label=spec.label)
    return ""


def _confirm(
    change: Change, effect: Effect, look: TargetLook, *, adopted: bool, label: str
) -> None:
    if effect.confirmed_at is None:
        effect.confirmed_at = change.at
        effect.attempts.filter(outcome=Attempt.Outcome.UNKNOWN).update(
            outcome=Attempt.Outcome.ANSWERED, resolved_at=change.at
        )
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


def _settle_absent(change: Change, effect: Effect, capabilities: Capabilities) -> str:
    """Not found: inside the consistency window that proves nothing; after it, nothing happened."""
    if effect.confirmed_at is not None:
        return f"{effect.reference} was there and is gone from the target."
    first, attempt = effect.attempts.first(), effect.attempts.last()
    if first is None or attempt is None:
        return f"{effect.reference} was looked up without ever having been attempted."
    # Looks that found nothing were taken under a fresh lease, so no older call can land after one.
    fenced = effect.read_backs.filter(found=False, at__gte=attempt.started_at).first()
    if fenced is None or change.at - fenced.at < capabilities.consistency_window:
        return ""
    key_age = change.at - first.started_at  # the target counts from the key's first use
    if capabilities.key_lifetime is None or key_age >= capabilities.key_lifetime:
        return (
            f"{effect.reference} is not in the target, and its key is no longer honoured: "
            "a person decides whether to try again."
        )
    attempt.outcome, attempt.resolved_at = Attempt.Outcome.NO_EFFECT, change.at
    attempt.save(update_fields=("outcome", "resolved_at"))
    effect.state, effect.state_since = Effect.State.WANTED, change.at
    effect.state_reason = "Looked up after the consistency window: it did not happen."
    effect.save(update_fields=("state", "state_since", "state_reason"))
    tries = effect.attempts.count()
    if tries >= MOST_ATTEMPTS:
        return f"{effect.reference} was answered or lost {tries} times and never appeared."
    return ""


def _pause_between_looks(change: Change) -> timedelta:
    """Looks come fast at first and are spaced out up to five minutes: adoption may take hours."""
    looks = ReadBack.objects.filter(effect__in=effects_in_force(change.case)).count()
    return min(FIRST_LOOK_AGAIN * (1 << min(looks // 3, 9)), LONGEST_BETWEEN_LOOKS)


def _go_on(change: Change) -> None:
    """Choose what comes next from where the effects stand."""
    states = set(effects_in_force(change.case).values_list("state", flat=True))
    unsettled = states & {Effect.State.UNKNOWN, Effect.State.ANSWERED, Effect.State.CONFIRMED}
    if unsettled:
        unknown = Effect.State.UNKNOWN in states
        stage = Stage.RECONCILING if unknown else Stage.VERIFYING
        change.enter(stage, reason="Waiting to see the effect and its adoption.")
        change.due(change.at + _pause_between_looks(change), reason="The target is read back.")
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

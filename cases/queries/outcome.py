"""What became of a release: attempt, effect, adoption and acceptance, always apart."""

from dataclasses import dataclass
from datetime import datetime

from cases.models import Attempt, Case, Decision, Effect
from cases.queries.catalogue import action_spec
from cases.queries.fate import fate_of
from cases.queries.values import said
from cases.vocabulary.playbook import ActionSpec, Playbook
from cases.vocabulary.stages import Stage

VERBS = {
    Decision.Kind.RELEASE: "Released",
    Decision.Kind.REJECT: "Rejected",
    Decision.Kind.SEND_BACK: "Sent back",
}


@dataclass(frozen=True, kw_only=True)
class Label:
    """One of the four labels: a word, when it became so, and a hint; `tone` names its mark."""

    name: str
    word: str
    tone: str
    at: datetime | None = None
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class EffectLine:
    """An effect of a release with its first three labels."""

    position: int
    describes: str
    reference: str
    target: str
    labels: tuple[Label, Label, Label]


@dataclass(frozen=True, kw_only=True)
class DecisionView:
    """A decision as it stands: who, when, why, and how it ended if it did.

    `ended_word` says in one word how far an ended release came, `ended_reason` why it ended.
    """

    number: int
    kind: str
    verb: str
    by_name: str
    at: datetime
    reason: str
    valid_until: datetime | None
    ended_at: datetime | None
    ended_word: str
    ended_reason: str
    is_carried_out: bool
    effects: tuple[EffectLine, ...]
    acceptance: Label


def decision_view(*, playbook: Playbook, case: Case, decision: Decision) -> DecisionView:
    """The decision with its effects, which are loaded with their actions and attempts."""
    effects = list(decision.effects.all())
    is_over = decision.ended_at is not None
    return DecisionView(
        number=decision.proposal.number,
        kind=decision.kind,
        verb=VERBS[Decision.Kind(decision.kind)],
        by_name=decision.by_name,
        at=decision.at,
        reason=decision.reason,
        valid_until=decision.valid_until,
        ended_at=decision.ended_at,
        ended_word=fate_of(release=decision, effects=effects).word if is_over else "",
        ended_reason=decision.ended_reason.removeprefix("Stopped: "),
        is_carried_out=decision.carried_out,
        effects=tuple(effect_line(playbook, effect) for effect in effects),
        acceptance=acceptance_label(case),
    )


def effect_line(playbook: Playbook, effect: Effect) -> EffectLine:
    """One effect; its attempts and its action are loaded."""
    planned = effect.proposed_action
    spec = action_spec(playbook, planned.action)
    attempts = sorted(effect.attempts.all(), key=lambda attempt: attempt.number)
    target = f"{spec.target_record} {effect.target_record_id}" if effect.target_record_id else ""
    return EffectLine(
        position=planned.position,
        describes=said(lambda: spec.describe(planned.parameters), otherwise=spec.label),
        reference=effect.reference,
        target=target,
        labels=(
            _attempt_label(attempts[-1] if attempts else None, effect),
            _effect_label(effect),
            _adoption_label(effect, spec),
        ),
    )


def _attempt_label(attempt: Attempt | None, effect: Effect) -> Label:
    if attempt is None:
        not_needed = effect.state == Effect.State.NOT_NEEDED
        word = "not made" if not_needed else "not yet made"
        return Label(name="Attempt", word=word, tone="none" if not_needed else "waiting")
    words = {
        Attempt.Outcome.OPEN: ("under way", "waiting"),
        Attempt.Outcome.ANSWERED: ("answered", "done"),
        Attempt.Outcome.UNKNOWN: ("outcome unknown", "unknown"),
        Attempt.Outcome.REFUSED: ("refused by the target", "blocked"),
        Attempt.Outcome.NO_EFFECT: ("without effect", "none"),
        Attempt.Outcome.NOT_SENT: ("never left", "none"),
        Attempt.Outcome.REPEATED: ("outcome unknown, being repeated", "unknown"),
    }
    word, tone = words[Attempt.Outcome(attempt.outcome)]
    if attempt.outcome == Attempt.Outcome.ANSWERED and attempt.resolved_at != attempt.ended_at:
        word = "no answer, but it happened"
    return Label(
        name="Attempt",
        word=f"{word} (attempt {attempt.number})",
        tone=tone,
        at=attempt.ended_at or attempt.started_at,
        detail=attempt.detail,
    )


def _effect_label(effect: Effect) -> Label:
    if effect.confirmed_at is not None:
        # Only a person's finding leaves a reason on a confirmed effect; a read-back needs none.
        by_read_back = not effect.state_reason
        return Label(
            name="Effect",
            word="confirmed by read-back" if by_read_back else "confirmed by a person",
            tone="done",
            at=effect.confirmed_at,
            detail=effect.state_reason,
        )
    words = {
        Effect.State.WANTED: ("wanted", "waiting", ""),
        Effect.State.UNKNOWN: (
            "unknown",
            "unknown",
            "It is looked up in the target, never guessed."
            if effect.decision.ended_at is None
            else "The agent gave up; a person finds out.",
        ),
        Effect.State.ANSWERED: ("answered, not read back", "waiting", ""),
        Effect.State.REFUSED: ("refused by the target", "blocked", effect.state_reason),
        Effect.State.NOT_NEEDED: ("not carried out", "none", effect.state_reason),
    }
    word, tone, detail = words.get(
        Effect.State(effect.state), (effect.get_state_display().lower(), "waiting", "")
    )
    return Label(name="Effect", word=word, tone=tone, at=effect.state_since, detail=detail)


def _adoption_label(effect: Effect, spec: ActionSpec) -> Label:
    if effect.adopted_at is not None:
        return Label(
            name="Adoption", word=spec.adoption_label.lower(), tone="done", at=effect.adopted_at
        )
    over = effect.state in {Effect.State.REFUSED, Effect.State.NOT_NEEDED}
    word = "none" if over else f"not yet: {spec.adoption_label.lower()}"
    return Label(name="Adoption", word=word, tone="none" if over else "waiting")


def acceptance_label(case: Case) -> Label:
    """Whether the case's owner says the job is done."""
    if case.current_stage is Stage.CLOSED:
        return Label(
            name="Acceptance",
            word=f"closed by {case.closed_by}",
            tone="done",
            at=case.closed_at,
            detail=case.stage_reason,
        )
    owner = "the owner" if case.owner is None else str(case.owner)
    if case.current_stage is Stage.WAITING_FOR_ACCEPTANCE:
        return Label(name="Acceptance", word=f"waiting for {owner}", tone="waiting")
    return Label(name="Acceptance", word="not yet", tone="waiting")

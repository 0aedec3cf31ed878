"""What a person found out about an attempt that nothing else could settle (P16)."""

from dataclasses import dataclass
from datetime import datetime

from cases import policies
from cases.actions.attempts import set_effect
from cases.actions.change import Change, by_person
from cases.models import Attempt, Effect, Person, ReadBack
from cases.vocabulary.errors import Conflict, FindingOvertaken, NotFound
from cases.vocabulary.stages import Stage
from cases.vocabulary.texts import reason_given


@dataclass(frozen=True, kw_only=True)
class Seen:
    """How much the person had seen of an effect: so many attempts, so many looks at the target."""

    attempts: int
    looks: int


def record_finding(
    *,
    case_id: int,
    effect_id: int,
    happened: bool,
    note: str,
    seen: Seen,
    by: Person,
    at: datetime,
) -> None:
    """Record whether an effect of unknown outcome happened, as a person found out outside.

    Only where the agent gave up (the case is escalated); `note` says how they know. Raises
    `FindingOvertaken` when the outcome is known or more was seen since, and `Conflict` when it is
    still being looked up.
    """
    said = reason_given(note, missing="Say how you know, for instance whom you asked.")
    with by_person(case_id=case_id, by=by, at=at, act="record a finding") as change:
        policies.check_may_decide(person=by)
        effect = Effect.objects.filter(pk=effect_id, decision__case=change.case).first()
        if effect is None:
            raise NotFound("This case has no such effect.")
        _check_nothing_new(effect, seen)
        if change.case.current_stage is not Stage.ESCALATED:
            raise Conflict("The agent is still looking it up. Wait until it hands the case over.")
        _settle(change, effect, happened=happened, said=said, by=by)


def _check_nothing_new(effect: Effect, seen: Seen) -> None:
    now = Seen(attempts=effect.attempts.count(), looks=effect.read_backs.count())
    differences = []
    if effect.state != Effect.State.UNKNOWN:
        word = "It happened" if effect.confirmed_at is not None else "It did not happen"
        differences.append(("Outcome", "unknown", f"{word}. {effect.state_reason}".strip()))
    if now.attempts != seen.attempts:
        differences.append(("Attempts", str(seen.attempts), str(now.attempts)))
    if now.looks != seen.looks:
        differences.append(("Looks at the target", str(seen.looks), str(now.looks)))
    if differences:
        raise FindingOvertaken(
            f"More is known of {effect.reference} than you saw, so your finding was not recorded.",
            differences=differences,
        )


def _settle(change: Change, effect: Effect, *, happened: bool, said: str, by: Person) -> None:
    outcome = Attempt.Outcome.ANSWERED if happened else Attempt.Outcome.NO_EFFECT
    effect.attempts.filter(outcome=Attempt.Outcome.UNKNOWN).update(
        outcome=outcome, resolved_at=change.at
    )
    ReadBack.objects.create(
        effect=effect, at=change.at, found=happened, matches=happened, detail=f"{by}: {said}"
    )
    change.record("finding_recorded", reference=effect.reference, happened=happened, reason=said)
    if happened:
        effect.confirmed_at = change.at
        effect.save(update_fields=("confirmed_at",))
    state = Effect.State.CONFIRMED if happened else Effect.State.NOT_NEEDED
    set_effect(change, effect, state, f"{by} found: {said}")
    word = "happened" if happened else "did not happen"
    change.enter(Stage.ESCALATED, reason=f"{by} found that {effect.reference} {word}: {said}")

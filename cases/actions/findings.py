"""What a person found out about an attempt that nothing else could settle (P16)."""

from datetime import datetime

from cases import policies
from cases.actions.attempts import set_effect
from cases.actions.change import by_person
from cases.models import Attempt, Effect, Person, ReadBack
from cases.vocabulary.errors import Conflict, NotFound
from cases.vocabulary.stages import Stage
from cases.vocabulary.texts import reason_given


def record_finding(
    *, case_id: int, effect_id: int, happened: bool, note: str, by: Person, at: datetime
) -> None:
    """Record whether an effect of unknown outcome happened, as a person found out outside.

    Only where the agent gave up (the case is escalated); `note` says how they know. Raises
    `Conflict` when the outcome is known, or is still being looked up.
    """
    said = reason_given(note, missing="Say how you know, for instance whom you asked.")
    with by_person(case_id=case_id, by=by, at=at, act="record a finding") as change:
        policies.check_may_decide(person=by)
        effect = Effect.objects.filter(pk=effect_id, decision__case=change.case).first()
        if effect is None:
            raise NotFound("This case has no such effect.")
        if effect.state != Effect.State.UNKNOWN:
            raise Conflict(f"The outcome of {effect.reference} is known. Reload the case.")
        if change.case.current_stage is not Stage.ESCALATED:
            raise Conflict("The agent is still looking it up. Wait until it hands the case over.")
        outcome = Attempt.Outcome.ANSWERED if happened else Attempt.Outcome.NO_EFFECT
        effect.attempts.filter(outcome=Attempt.Outcome.UNKNOWN).update(
            outcome=outcome, resolved_at=change.at
        )
        ReadBack.objects.create(
            effect=effect, at=change.at, found=happened, matches=happened, detail=f"{by}: {said}"
        )
        change.record(
            "finding_recorded", reference=effect.reference, happened=happened, reason=said
        )
        if happened:
            effect.confirmed_at = change.at
            effect.save(update_fields=("confirmed_at",))
        state = Effect.State.CONFIRMED if happened else Effect.State.NOT_NEEDED
        set_effect(change, effect, state, f"{by} found: {said}")

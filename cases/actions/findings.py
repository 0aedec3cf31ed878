"""What a person found out about an attempt that nothing else could settle (P16)."""

from dataclasses import dataclass
from datetime import datetime

from cases import policies
from cases.actions.attempts import set_effect
from cases.actions.change import Change, by_person
from cases.models import Attempt, Case, Effect, Person, ReadBack
from cases.queries.reports import reports_about, reports_to
from cases.vocabulary.errors import Conflict, FindingOvertaken, NotFound
from cases.vocabulary.stages import Stage
from cases.vocabulary.texts import reason_given


@dataclass(frozen=True, kw_only=True)
class Seen:
    """How many attempts, looks at the target and reports about an effect the person had seen."""

    attempts: int
    looks: int
    reports: int = 0


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

    Only where the agent gave up (the case is escalated, and perhaps blocked since: then it stays
    blocked); `note` says how they know. Raises `FindingOvertaken` when the outcome is known or more
    was seen since, and `Conflict` when it is still to be looked up.
    """
    said = reason_given(note, missing="Say how you know, for instance whom you asked.")
    with by_person(case_id=case_id, by=by, at=at, act="record a finding") as change:
        policies.check_may_decide(person=by)
        effect = Effect.objects.filter(pk=effect_id, decision__case=change.case).first()
        if effect is None:
            raise NotFound("This case has no such effect.")
        _check_nothing_new(effect, seen)
        if change.case.underlying_stage is not Stage.ESCALATED:
            raise Conflict(_why_not_yet(change.case))
        _settle(change, effect, happened=happened, said=said, by=by)


def _why_not_yet(case: Case) -> str:
    if case.is_out_of_budget:
        return f"The agent looks it up once its budget is raised. {case.blocked_reason}"
    if case.current_stage is Stage.BLOCKED:
        return "The agent looks it up at its next try. Wait until it hands the case over."
    return "The agent is still looking it up. Wait until it hands the case over."


OUTCOMES = {
    Effect.State.WANTED: "It did not happen, and is still to be done.",
    Effect.State.ANSWERED: "The target accepted it; it is read back.",
    Effect.State.CONFIRMED: "It happened.",
    Effect.State.ADOPTED: "It happened, and was taken up.",
    Effect.State.REFUSED: "It was refused.",
    Effect.State.NOT_NEEDED: "It did not happen.",
}


def _check_nothing_new(effect: Effect, seen: Seen) -> None:
    now = Seen(
        attempts=effect.attempts.count(),
        looks=effect.read_backs.count(),
        reports=len(reports_about(effect, among=reports_to(effect.decision.case_id))),
    )
    differences = []
    if effect.state != Effect.State.UNKNOWN:
        said = f"{OUTCOMES[Effect.State(effect.state)]} {effect.state_reason}".strip()
        differences.append(("Outcome", "unknown", said))
    if now.attempts != seen.attempts:
        differences.append(("Attempts", str(seen.attempts), str(now.attempts)))
    if now.looks != seen.looks:
        differences.append(("Looks at the target", str(seen.looks), str(now.looks)))
    if now.reports != seen.reports:
        differences.append(("Reports from outside", str(seen.reports), str(now.reports)))
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
    change.case.stage_reason = f"{by} found that {effect.reference} {word}: {said}"

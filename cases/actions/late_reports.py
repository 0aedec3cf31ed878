"""What a report from outside is about, and the fresh look it leads to.

The report itself proves nothing: the effect is settled by reading the target again.
"""

from cases.actions.change import Change
from cases.actions.releases import AT_THE_TARGET
from cases.models import Case, Decision, Effect
from cases.vocabulary.playbooks import playbook_of
from cases.vocabulary.reports import Report
from cases.vocabulary.stages import Stage


def effect_reported(*, system: str, report: Report) -> Effect | None:
    """The effect that a report is about, or None: found by our reference.

    A system that keeps no references can only mean an effect whose outcome is unknown, on the same
    subject and of the same type of record.
    """
    effects = Effect.objects.filter(decision__case__sources__system=system).select_related(
        "proposed_action", "decision__case"
    )
    if report.reference:
        return effects.filter(reference=report.reference).first()
    unknown = effects.filter(
        state=Effect.State.UNKNOWN, decision__case__subject=report.subject
    ).exclude(decision__case__stage=Stage.CLOSED.value)
    return next(
        (
            effect
            for effect in unknown.order_by("state_since", "pk")
            if _target_record(effect) == report.record_type
        ),
        None,
    )


def _target_record(effect: Effect) -> str | None:
    kind = effect.decision.case.kind
    return playbook_of(kind).action(effect.proposed_action.action).target_record


def look_again(change: Change, *, effect: Effect, report: Report, said: str) -> str:
    """Make a fresh look at the target due at once; says in words what follows from the report.

    `said` is the report in one sentence.
    """
    case = change.case
    if case.is_out_of_budget:
        return "The case is out of budget; whoever has it sees the report on it."
    if _can_be_looked_up(case, effect, report):
        change.enter(Stage.RECONCILING, reason=f"{effect.reference}: {said} It is looked up.")
        change.due(change.at, reason=said)
        return f"{effect.reference} is looked up after all."
    if case.current_stage in {*AT_THE_TARGET, Stage.EXECUTING}:
        change.due(change.at, reason=said)
        return f"{effect.reference} is looked up at once."
    if case.current_stage is Stage.BLOCKED:
        case.next_try_at = change.at
    case.refresh_due_at = change.at
    change.due(change.at, reason=said)
    return "The sources are read again; whoever has the case sees the report on it."


def _can_be_looked_up(case: Case, effect: Effect, report: Report) -> bool:
    """Whether the agent takes up again what it had handed to a person.

    Only for the release that ended last, and where the target names our reference: one that keeps
    none cannot be searched for it.
    """
    newest = case.decisions.filter(kind=Decision.Kind.RELEASE).order_by("-pk").first()
    return (
        case.underlying_stage is Stage.ESCALATED
        and effect.state == Effect.State.UNKNOWN
        and effect.reference == report.reference
        and effect.decision == newest
    )

"""The rule planner: the playbook's best candidate that no person has turned down. Deterministic."""

from collections.abc import Iterable
from typing import Any

from cases.vocabulary.digest import canonical
from cases.vocabulary.playbook import Plan, PlanKind, PlannedAction
from cases.vocabulary.playbooks import playbook_of, type_of
from cases.vocabulary.work import PlanQuestion

NAME = "rules@1"


def _as_text(actions: Iterable[PlannedAction]) -> str:
    """The actions as one comparable text; the order of their parameters does not count."""
    return canonical([action.as_value() for action in actions])


class RulePlanner:
    """Chooses without a model and without a network."""

    @property
    def name(self) -> str:
        """See `Planner.name`."""
        return NAME

    def plan(self, question: PlanQuestion) -> dict[str, Any]:
        """The first candidate whose actions nobody rejected or sent back; else an escalation."""
        turned_down = {_as_text(proposal.actions) for proposal in question.turned_down}
        candidates = playbook_of(question.kind).candidates(
            type_of(kind=question.kind, code=question.case_type), question.sheet, question.now
        )
        refused = [plan for plan in candidates if _as_text(plan.actions) in turned_down]
        for candidate in candidates:
            if candidate in refused:
                continue
            if candidate.kind is PlanKind.ESCALATE and refused:
                break  # there would be plans, but people said no to them
            return candidate.as_value()
        return Plan(kind=PlanKind.ESCALATE, summary=_nothing_new(question)).as_value()


def _nothing_new(question: PlanQuestion) -> str:
    if not question.turned_down:
        return "The playbook knows no plan for these facts. A person decides what to do."
    last = question.turned_down[-1]
    return (
        f"Every plan the playbook knows was turned down, the last one as version {last.number}. "
        "The rules cannot read reasons: a person decides what to do."
    )

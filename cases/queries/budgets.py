"""What the agent used up on a case, and what it may use."""

from collections.abc import Iterable

from cases.models import BudgetRaise, Case, Run
from cases.queries.catalogue import playbook_for
from cases.vocabulary.budgets import Amounts, Resource, Spending, spendings


def used_by(*, case: Case, run: Run) -> Amounts:
    """What was used over the life of the case. The round that is open now is not used yet."""
    return {
        Resource.STEPS: run.steps,
        Resource.PLANNING_ROUNDS: case.planning_round - 1,
        Resource.TOKENS: run.tokens,
        Resource.CALLS: run.calls,
        Resource.MONEY: run.spent_micros,
    }


def limits_of(case: Case) -> Amounts:
    """The playbook's limits, or the newest raise of each; one query."""
    return _limits(case, case.budget_raises.all())


def _limits(case: Case, raises: Iterable[BudgetRaise]) -> Amounts:
    raised = {Resource(newer.resource): newer.limit for newer in raises}
    return {**playbook_for(case.kind).budget, **raised}


def budget_of(case: Case, *, raises: Iterable[BudgetRaise]) -> tuple[Spending, ...]:
    """Every budget of the case with what was used of it; `raises` stand oldest first."""
    return spendings(used=used_by(case=case, run=case.run), limits=_limits(case, raises))

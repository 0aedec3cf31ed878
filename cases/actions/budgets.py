"""Budgets over the life of a case: stopping the agent when one is used up, and raising it.

Only the record stops and only a named person raises. There is no way from the agent to here, apart
from being counted.
"""

from datetime import datetime

from cases import policies
from cases.actions.change import Change, actor_for, by_person, while_held
from cases.models import BudgetRaise, Case, Person, Run
from cases.queries.budgets import limits_of, used_by
from cases.vocabulary.budgets import (
    HIGHEST_LIMIT,
    Resource,
    Spending,
    resource_named,
    used_up,
    why_stopped,
)
from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.stages import Stage
from cases.vocabulary.texts import reason_given


def stop_when_used_up(*, case: Case, run: Run, at: datetime) -> bool:
    """Block the case when a budget is used up; says whether it is.

    The caller has locked case and run. A case that was stopped before is left as it is: nothing is
    due and nothing is written, however often somebody looks.
    """
    plans = Stage.INVESTIGATING in {case.current_stage, case.blocked_from}
    spending = used_up(used=used_by(case=case, run=run), limits=limits_of(case), plans=plans)
    if spending is None or case.current_stage is Stage.CLOSED:
        return False
    if case.is_out_of_budget:
        run.due_at, run.due_reason = None, ""
        run.save(update_fields=("due_at", "due_reason"))
        return True
    with while_held(case=case, run=run, at=at) as change:
        change.stop_for_budget(reason=why_stopped(spending))
    return True


def raise_budget(
    *, case_id: int, resource: str, limit: int, reason: str, by: Person, at: datetime
) -> Spending:
    """Let the agent use up to `limit` of a resource on this case; a stopped case goes on at once.

    `limit` counts what the resource counts, for money millionths of a US dollar. Raises `Refused`
    for people who may not, `InvalidInput` for a limit that would raise nothing.
    """
    wanted = resource_named(resource)
    said = reason_given(reason, missing="Say why; whoever looks at the costs reads it.")
    with by_person(case_id=case_id, by=by, at=at, act="raise the budget") as change:
        policies.check_may_raise_budget(person=by)
        case, before = change.case, limits_of(change.case)[wanted]
        raised = _raised(change, wanted, before=before, limit=limit)
        BudgetRaise.objects.create(
            case=case,
            resource=wanted.value,
            limit=limit,
            by=by,
            by_name=actor_for(by).name,
            at=change.at,
            reason=said,
        )
        change.record(
            "budget_raised",
            resource=wanted.value,
            limit=limit,
            before=before,
            used=raised.used,
            reason=said,
        )
        if case.is_out_of_budget:
            # Still blocked: what stands is compared with facts read now before anything goes on.
            case.next_try_at = change.at
            change.due(change.at, reason="The budget was raised.")
        return raised


def _raised(change: Change, resource: Resource, *, before: int, limit: int) -> Spending:
    """What the resource stands at under the new limit; it must leave something to use."""
    used = used_by(case=change.case, run=change.run)[resource]
    raised = Spending(resource=resource, used=used, limit=limit)
    if raised.is_used_up or not before < limit <= HIGHEST_LIMIT:
        present = Spending(resource=resource, used=used, limit=before)
        raise InvalidInput(f"{raised} would raise nothing: it stands at {present}.")
    return raised

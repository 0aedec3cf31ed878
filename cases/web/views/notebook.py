"""What people keep on a case: goals of their own, settled goals, lines."""

from cases.actions.goals import add_goal, settle_goal
from cases.actions.lines import NewLine, end_line, write_line
from cases.models import Goal
from cases.web.forms import EndForm, LineForm, SettleForm
from cases.web.request import DeskRequest, moment_of
from cases.web.views.posting import posted, reason_in, reasoned


@reasoned
def goal(request: DeskRequest, case_id: int) -> str:
    """Add a goal of one's own."""
    add_goal(case_id=case_id, label=reason_in(request), by=request.user, at=moment_of(request))
    return "The goal is on the case. It stays open until someone settles it."


@reasoned
def settle(request: DeskRequest, case_id: int) -> str:
    """Say that a goal is achieved, or drop it."""
    values = SettleForm(request.POST).values()
    state = Goal.State(values["state"])
    settle_goal(
        case_id=case_id,
        reference=values["goal"],
        state=state,
        reason=values["reason"],
        by=request.user,
        at=moment_of(request),
    )
    return f"The goal counts as {state.lower()} on your word."


@reasoned
def line(request: DeskRequest, case_id: int) -> str:
    """Write a line for whoever comes next."""
    form = LineForm(request.POST)
    values = form.values()
    write_line(
        case_id=case_id,
        line=NewLine(
            sort=values["sort"],
            text=values["reason"],
            party=values["party"],
            due=form.wall_time(),
        ),
        by=request.user,
        at=moment_of(request),
    )
    return "The line stands on the case, and on every sheet, until someone ends it."


@posted
def end(request: DeskRequest, case_id: int) -> str:
    """End a line."""
    values = EndForm(request.POST).values()
    end_line(
        case_id=case_id,
        line_id=values["line"],
        reason=values["reason"],
        by=request.user,
        at=moment_of(request),
    )
    return "The line is ended; it stays in the record."

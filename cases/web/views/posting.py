"""How acts on a case are posted: done and said so, or refused with everything typed still there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from cases.queries.case_page import case_page
from cases.vocabulary.errors import FindingOvertaken, InvalidInput, NotFound, WatchbillError
from cases.vocabulary.shifts import AmbiguousTime
from cases.web.drafts import forget_draft, keep_draft
from cases.web.errors import status_of
from cases.web.forms import ReasonForm
from cases.web.posts import posted_from, to_case
from cases.web.request import DeskRequest, moment_of
from cases.web.views.case import page_context

type Act = Callable[[DeskRequest, int], str]


@dataclass(frozen=True, kw_only=True)
class NotDone:
    """An act with a reason that did not count: the heading, why, and the form that was sent.

    `is_mistake` says that only what was typed has to be corrected. `differences` lists what the
    person saw and what holds now: (what, then, now). `choices` are the two instants of a time that
    clocks show twice.
    """

    act: str
    heading: str
    sentence: str
    is_mistake: bool
    differences: Sequence[tuple[str, str, str]]
    choices: Sequence[datetime]


NOT_DONE = {
    "accept": "Not accepted",
    "close": "Not closed",
    "escalate": "Not escalated",
    "hand_back": "Not handed back",
    "finding": "Not recorded",
    "plan": "Not asked for a plan",
    "trust": "Not trusted again",
    "withdraw": "Not withdrawn",
    "budget": "Budget not raised",
    "goal": "Goal not added",
    "settle": "Goal not settled",
    "line": "Line not written",
}


def posted(act: Act) -> Callable[[DeskRequest, int], HttpResponse]:
    """A view that does `act` on a post and says so; any other look leads to the case."""

    def view(request: DeskRequest, case_id: int) -> HttpResponse:
        messages.success(request, act(request, case_id))
        return redirect("case", case_id=case_id)

    view.__name__, view.__doc__ = act.__name__, act.__doc__
    return posted_from(to_case)(view)


def reasoned(act: Act) -> Callable[[DeskRequest, int], HttpResponse]:
    """The same for an act with a reason; a refused one keeps what was typed."""
    name = act.__name__

    def view(request: DeskRequest, case_id: int) -> HttpResponse:
        try:
            words = act(request, case_id)
        except NotFound:
            raise
        except WatchbillError as error:
            return _refused(request, case_id, name, error)
        forget_draft(request, case_id=case_id, act=name)
        messages.success(request, words, extra_tags=f"{case_id}-{name}")
        return redirect("case", case_id=case_id)

    view.__name__, view.__doc__ = name, act.__doc__
    return posted_from(to_case)(view)


def _refused(request: DeskRequest, case_id: int, name: str, error: WatchbillError) -> HttpResponse:
    """The case as it stands, with why the act did not count and the text kept."""
    keep_draft(request, case_id=case_id, act=name, reason=request.POST.get("reason", ""))
    page = case_page(case_id=case_id, person=request.user, at=moment_of(request))
    not_done = NotDone(
        act=name,
        heading=NOT_DONE[name],
        sentence=str(error),
        is_mistake=isinstance(error, InvalidInput),
        differences=error.differences if isinstance(error, FindingOvertaken) else (),
        choices=error.choices if isinstance(error, AmbiguousTime) else (),
    )
    context = page_context(request, page, not_done=not_done, typed=request.POST)
    return render(request, "case/case.html", context, status=status_of(error))


def reason_in(request: DeskRequest) -> str:
    """The reason of a form that takes nothing else."""
    return str(ReasonForm(request.POST).values()["reason"])

"""Acts on a case other than deciding: owning it, reading again, planning again, ending it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from cases.actions import closing, ownership
from cases.actions.budgets import raise_budget
from cases.actions.findings import Seen, record_finding
from cases.actions.trust import trust_source
from cases.actions.withdrawal import withdraw_release
from cases.queries.case_page import case_page
from cases.queries.people import person_by_id
from cases.vocabulary.budgets import amount_from, resource_named
from cases.vocabulary.errors import FindingOvertaken, InvalidInput, NotFound, WatchbillError
from cases.web.drafts import forget_draft, keep_draft
from cases.web.errors import status_of
from cases.web.forms import AssignForm, BudgetForm, FindingForm, ReasonForm, TrustForm
from cases.web.request import DeskRequest, moment_of
from cases.web.views.case import page_context

type Act = Callable[[DeskRequest, int], str]


@dataclass(frozen=True, kw_only=True)
class NotDone:
    """An act with a reason that did not count: the heading, why, and the form that was sent.

    `is_mistake` says that only what was typed has to be corrected. `differences` lists what the
    person saw and what holds now: (what, then, now).
    """

    act: str
    heading: str
    sentence: str
    is_mistake: bool
    differences: Sequence[tuple[str, str, str]]


NOT_DONE = {
    "accept": "Not accepted",
    "close": "Not closed",
    "finding": "Not recorded",
    "plan": "Not asked for a plan",
    "trust": "Not trusted again",
    "withdraw": "Not withdrawn",
    "budget": "Budget not raised",
}


def _posted(act: Act) -> Callable[[DeskRequest, int], HttpResponse]:
    """A view that does `act` on a post and says so; any other look leads to the case."""

    def view(request: DeskRequest, case_id: int) -> HttpResponse:
        if request.method == "POST":
            messages.success(request, act(request, case_id))
        return redirect("case", case_id=case_id)

    view.__name__, view.__doc__ = act.__name__, act.__doc__
    return require_http_methods(["GET", "POST"])(view)


def _reasoned(act: Act) -> Callable[[DeskRequest, int], HttpResponse]:
    """The same for an act with a reason; a refused one keeps what was typed."""
    name = act.__name__

    def view(request: DeskRequest, case_id: int) -> HttpResponse:
        if request.method != "POST":
            return redirect("case", case_id=case_id)
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
    return require_http_methods(["GET", "POST"])(view)


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
    )
    context = page_context(request, page, not_done=not_done, typed=request.POST)
    return render(request, "case/case.html", context, status=status_of(error))


def _reason_in(request: DeskRequest) -> str:
    return str(ReasonForm(request.POST).values()["reason"])


@_posted
def take(request: DeskRequest, case_id: int) -> str:
    """Become the owner."""
    ownership.take_case(case_id=case_id, by=request.user, at=moment_of(request))
    return "You own this case now."


@_posted
def assign(request: DeskRequest, case_id: int) -> str:
    """Make someone else the owner."""
    person = person_by_id(AssignForm(request.POST).values()["person"])
    ownership.assign_case(case_id=case_id, to=person, by=request.user, at=moment_of(request))
    return f"{person} owns this case now."


@_posted
def refresh(request: DeskRequest, case_id: int) -> str:
    """Have the sources read again now."""
    closing.refresh_now(case_id=case_id, by=request.user, at=moment_of(request))
    return "The agent was asked to read the sources again."


@_reasoned
def accept(request: DeskRequest, case_id: int) -> str:
    """Say that the job is done."""
    closing.accept_outcome(
        case_id=case_id, by=request.user, at=moment_of(request), note=_reason_in(request)
    )
    return "You accepted the outcome. The case is closed."


@_reasoned
def close(request: DeskRequest, case_id: int) -> str:
    """Close the case although nothing more is done about it."""
    closing.close_without_action(
        case_id=case_id, by=request.user, at=moment_of(request), reason=_reason_in(request)
    )
    return "The case is closed; your reason is kept."


@_reasoned
def plan(request: DeskRequest, case_id: int) -> str:
    """Send an escalated case back to the agent."""
    closing.ask_for_plan(
        case_id=case_id, by=request.user, at=moment_of(request), reason=_reason_in(request)
    )
    return "The agent was asked for a new plan."


@_reasoned
def withdraw(request: DeskRequest, case_id: int) -> str:
    """Take the release back, as far as it was not carried out."""
    withdraw_release(
        case_id=case_id, by=request.user, at=moment_of(request), reason=_reason_in(request)
    )
    return "The release is withdrawn. Nothing more is sent for it; you decide what happens next."


@_reasoned
def budget(request: DeskRequest, case_id: int) -> str:
    """Let the agent use more of something on this case."""
    values = BudgetForm(request.POST).values()
    resource = resource_named(values["resource"])
    raised = raise_budget(
        case_id=case_id,
        resource=resource,
        limit=amount_from(resource=resource, typed=values["limit"]),
        reason=values["reason"],
        by=request.user,
        at=moment_of(request),
    )
    return f"The budget is raised. The agent has now used {raised}."


@_reasoned
def finding(request: DeskRequest, case_id: int) -> str:
    """Record whether an effect of unknown outcome happened."""
    values = FindingForm(request.POST).values()
    happened = values["happened"] == "yes"
    record_finding(
        case_id=case_id,
        effect_id=values["effect"],
        happened=happened,
        note=values["reason"],
        seen=Seen(
            attempts=values["seen_attempts"],
            looks=values["seen_looks"],
            reports=values["seen_reports"],
        ),
        by=request.user,
        at=moment_of(request),
    )
    word = "It happened" if happened else "It did not happen"
    return f"{word}. Nothing is sent by itself now; how the case goes on is below."


@_reasoned
def trust(request: DeskRequest, case_id: int) -> str:
    """Trust a source again that went back to an older version."""
    values = TrustForm(request.POST).values()
    trust_source(
        case_id=case_id,
        record_id=values["record"],
        seen_version=values["seen_version"],
        reason=values["reason"],
        by=request.user,
        at=moment_of(request),
    )
    return "The source is trusted again from this version on. The agent reads it anew."

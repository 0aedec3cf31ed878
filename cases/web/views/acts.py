"""Acts on a case other than deciding: owning it, reading again, planning again, ending it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from cases.actions import closing, ownership
from cases.queries.people import person_by_id
from cases.web.forms import AssignForm, ReasonForm
from cases.web.request import DeskRequest, moment_of


def _done(request: DeskRequest, case_id: int, words: str) -> HttpResponse:
    messages.success(request, words)
    return redirect("case", case_id=case_id)


@require_POST
def take(request: DeskRequest, case_id: int) -> HttpResponse:
    """Become the owner."""
    ownership.take_case(case_id=case_id, by=request.user, at=moment_of(request))
    return _done(request, case_id, "You own this case now.")


@require_POST
def assign(request: DeskRequest, case_id: int) -> HttpResponse:
    """Make someone else the owner."""
    person = person_by_id(AssignForm(request.POST).values()["person"])
    ownership.assign_case(case_id=case_id, to=person, by=request.user, at=moment_of(request))
    return _done(request, case_id, f"{person} owns this case now.")


@require_POST
def accept(request: DeskRequest, case_id: int) -> HttpResponse:
    """Say that the job is done."""
    note = ReasonForm(request.POST).values()["reason"]
    closing.accept_outcome(case_id=case_id, by=request.user, at=moment_of(request), note=note)
    return _done(request, case_id, "You accepted the outcome. The case is closed.")


@require_POST
def close(request: DeskRequest, case_id: int) -> HttpResponse:
    """Close the case although nothing was released."""
    reason = ReasonForm(request.POST).values()["reason"]
    closing.close_without_action(
        case_id=case_id, by=request.user, at=moment_of(request), reason=reason
    )
    return _done(request, case_id, "The case is closed without action; your reason is kept.")


@require_POST
def plan(request: DeskRequest, case_id: int) -> HttpResponse:
    """Send an escalated case back to the agent."""
    reason = ReasonForm(request.POST).values()["reason"]
    closing.ask_for_plan(case_id=case_id, by=request.user, at=moment_of(request), reason=reason)
    return _done(request, case_id, "The agent was asked for a new plan.")


@require_POST
def refresh(request: DeskRequest, case_id: int) -> HttpResponse:
    """Have the sources read again now."""
    closing.refresh_now(case_id=case_id, by=request.user, at=moment_of(request))
    return _done(request, case_id, "The agent was asked to read the sources again.")

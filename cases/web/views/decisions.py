"""Release, reject, send back: one form, bound to exactly what it shows."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from cases.actions import decisions
from cases.actions.decisions import DecisionMade
from cases.models import Decision
from cases.queries.case_page import case_page
from cases.queries.people import reading_zone
from cases.queries.refusals import refusal_of
from cases.vocabulary.clocks import local_text
from cases.vocabulary.errors import NotFound, WatchbillError
from cases.web.drafts import forget_draft, keep_draft
from cases.web.errors import status_of
from cases.web.forms import DecisionForm
from cases.web.posts import posted_from, to_case
from cases.web.request import DeskRequest, moment_of, request_id_of
from cases.web.views.case import page_context

ACTIONS: dict[str, Callable[..., DecisionMade]] = {
    Decision.Kind.RELEASE: decisions.release,
    Decision.Kind.REJECT: decisions.reject,
    Decision.Kind.SEND_BACK: decisions.send_back,
}
DONE = {
    Decision.Kind.RELEASE: (
        "Version {number} is released. The agent reads the facts once more and then acts; "
        "what comes of it stands below."
    ),
    Decision.Kind.REJECT: "Version {number} is rejected. A person decides what happens next.",
    Decision.Kind.SEND_BACK: "Version {number} is sent back. Your reason goes into the next plan.",
}
NOT_DONE: dict[str, str] = {
    Decision.Kind.RELEASE: "Not released",
    Decision.Kind.REJECT: "Not rejected",
    Decision.Kind.SEND_BACK: "Not sent back",
}


@posted_from(to_case)
def decide(request: DeskRequest, case_id: int) -> HttpResponse:
    """Count the decision, or say why it does not count; a stale one never counts."""
    form = DecisionForm(request.POST)
    try:
        answer = form.answer(case_id=case_id)
        made = ACTIONS[form.cleaned_data["kind"]](
            answer=answer,
            by=request.user,
            at=moment_of(request),
            request_id=request_id_of(request),
        )
    except NotFound:
        raise
    except WatchbillError as error:
        return _refused(request, case_id, error)
    return _counted(request, case_id, made)


def _counted(request: DeskRequest, case_id: int, made: DecisionMade) -> HttpResponse:
    forget_draft(request, case_id=case_id, act="decide")
    words = DONE[Decision.Kind(made.kind)].format(number=made.proposal_number)
    if made.replayed:
        zone = reading_zone(request.user).name
        at = local_text(made.at, zone=zone, relative_to=moment_of(request))
        words = f"This form had already been counted at {at}; nothing was done twice. {words}"
    messages.success(request, words, extra_tags=f"{case_id}-decide")
    answer = redirect("case", case_id=case_id)
    if request.htmx:
        return HttpResponse(status=204, headers={"HX-Redirect": answer["Location"]})
    return answer


def _refused(request: DeskRequest, case_id: int, error: WatchbillError) -> HttpResponse:
    """The panel with the reason kept; without htmx the whole page around the same panel."""
    keep_draft(request, case_id=case_id, act="decide", reason=request.POST.get("reason", ""))
    shown = request.POST.get("proposal_number", "")
    page = case_page(
        case_id=case_id,
        person=request.user,
        at=moment_of(request),
        number=int(shown) if shown.isdecimal() and len(shown) < len("1000000000") else None,
    )
    context = page_context(
        request,
        page,
        refusal=refusal_of(page=page, error=error),
        refused_what=NOT_DONE.get(request.POST.get("kind", ""), "Nothing was recorded"),
    )
    name = "case/case.html#decision" if request.htmx else "case/case.html"
    return render(request, name, context, status=status_of(error))

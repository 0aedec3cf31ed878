"""The case page, its history, its versions side by side, and the hint that it changed."""

from typing import Any
from uuid import uuid4

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from cases.queries.case_page import CasePage, case_page
from cases.queries.catalogue import playbook_for
from cases.queries.hints import case_hint
from cases.queries.loading import find_case
from cases.queries.timeline import timeline_of
from cases.queries.versions import compare_versions
from cases.web.drafts import FOR_WHAT, drafts_of, keep_draft, without_a_form
from cases.web.posts import posted_from, to_case
from cases.web.request import DeskRequest, moment_of, number_in


def page_context(request: DeskRequest, page: CasePage, **more: Any) -> dict[str, Any]:
    """What the case template needs; the one-time number belongs to this showing of the form."""
    drafts = drafts_of(request, case_id=page.head.case_id)
    context: dict[str, Any] = {
        "page": page,
        "at": page.at,
        "nonce": uuid4(),
        "drafts": drafts,
        "kept": without_a_form(page=page, drafts=drafts),
    }
    return context | more


@require_safe
@never_cache
def case(request: DeskRequest, case_id: int) -> HttpResponse:
    """The case as it stands, with the newest version or the one asked for."""
    page = case_page(
        case_id=case_id,
        person=request.user,
        at=moment_of(request),
        number=number_in(request, "proposal"),
    )
    return render(request, "case/case.html", page_context(request, page))


@require_safe
@never_cache
def timeline(request: DeskRequest, case_id: int) -> HttpResponse:
    """Every event of the case, newest first."""
    found = find_case(case_id)
    events = timeline_of(
        case_id=case_id, playbook=playbook_for(found.kind), before=number_in(request, "before")
    )
    context = {"case": found, "timeline": events, "at": moment_of(request)}
    return render(request, "case/timeline.html", context)


@require_safe
@never_cache
def compare(request: DeskRequest, case_id: int) -> HttpResponse:
    """Two versions side by side."""
    comparison = compare_versions(
        case_id=case_id,
        older=number_in(request, "from") or 0,
        newer=number_in(request, "to") or 0,
    )
    context = {"comparison": comparison, "at": moment_of(request)}
    return render(request, "case/compare.html", context)


@require_safe
@never_cache
def hint(request: DeskRequest, case_id: int) -> HttpResponse:
    """Says that the case changed and disables an outdated release; shows no new version."""
    shown = number_in(request, "shown")
    found = case_hint(
        case_id=case_id, seen_version=number_in(request, "seen") or 0, shown_number=shown
    )
    context: dict[str, Any] = {"hint": found, "shown": shown, "at": moment_of(request)}
    if found.has_changed and request.GET.get("outcome"):
        context["page"] = case_page(
            case_id=case_id, person=request.user, at=moment_of(request), number=shown
        )
    return render(request, "case/hint.html", context)


@posted_from(to_case)
def keep(request: DeskRequest, case_id: int) -> HttpResponse:
    """Keep what was typed, or forget it when emptied, and show the case as it stands now."""
    act = request.POST.get("act", "decide")
    if "reason" in request.POST and act in FOR_WHAT:
        keep_draft(request, case_id=case_id, act=act, reason=request.POST["reason"])
    answer = redirect("case", case_id=case_id)
    if request.htmx:
        return HttpResponse(status=204, headers={"HX-Redirect": answer["Location"]})
    return answer

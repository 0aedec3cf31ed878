"""Standing conditions: what stands, opening one, closing one."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from cases.actions.conditions import NewCondition, close_condition, open_condition
from cases.queries.conditions import conditions_page
from cases.queries.people import reading_zone
from cases.vocabulary.errors import WatchbillError
from cases.vocabulary.shifts import AmbiguousTime
from cases.web.errors import status_of
from cases.web.forms import ConditionForm, ReasonForm
from cases.web.posts import posted_from
from cases.web.request import DeskRequest, moment_of


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def conditions(request: DeskRequest) -> HttpResponse:
    """What stands and what was closed; a post opens one, a refused one keeps what was typed."""
    if request.method != "POST":
        return _page(request)
    try:
        opened = open_condition(
            wanted=_wanted(ConditionForm(request.POST)), by=request.user, at=moment_of(request)
        )
    except WatchbillError as error:
        return _page(request, error=error)
    messages.success(request, f"{opened} now stands on every page and sheet until it is closed.")
    return redirect("conditions")


@posted_from(lambda request, condition_id: redirect("conditions"))
def close(request: DeskRequest, condition_id: int) -> HttpResponse:
    """Close one condition."""
    try:
        close_condition(
            condition_id=condition_id,
            reason=ReasonForm(request.POST).values()["reason"],
            by=request.user,
            at=moment_of(request),
        )
    except WatchbillError as error:
        return _page(request, error=error, closing=condition_id)
    messages.success(request, "Closed. What it held goes on, after facts are read again.")
    return redirect("conditions")


def _wanted(form: ConditionForm) -> NewCondition:
    values = form.values()
    return NewCondition(
        sort=values["sort"],
        title=values["title"],
        desk=values["desk"],
        detail=values["detail"],
        system=values["system"],
        blocks_releases=values["blocks_releases"],
        review=form.wall_time(),
    )


def _page(
    request: DeskRequest, *, error: WatchbillError | None = None, closing: int = 0
) -> HttpResponse:
    page = conditions_page(person=request.user, at=moment_of(request))
    context = {
        "page": page,
        "zones": dict.fromkeys((*page.zones, reading_zone(request.user).name)),
        "mistake": "" if error is None else str(error),
        "choices": error.choices if isinstance(error, AmbiguousTime) else (),
        "typed": request.POST,
        "closing": closing,
    }
    status = 200 if error is None else status_of(error)
    return render(request, "conditions/conditions.html", context, status=status)

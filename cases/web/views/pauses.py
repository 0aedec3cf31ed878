"""The kill switch: stopping and starting the agents."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from cases.actions.pauses import lift_pause, set_pause
from cases.queries.pauses import AFTER_RESUME, in_flight, pauses_page
from cases.vocabulary.errors import WatchbillError
from cases.web.errors import status_of
from cases.web.forms import PauseForm, ReasonForm
from cases.web.posts import posted_from
from cases.web.request import DeskRequest, moment_of


@require_http_methods(["GET", "HEAD", "POST"])
def pauses(request: DeskRequest) -> HttpResponse:
    """What is paused; a post pauses, and a refused one keeps what was typed."""
    if request.method != "POST":
        return _page(request)
    try:
        values = PauseForm(request.POST).values()
        pause = set_pause(**values, by=request.user, at=moment_of(request))
    except WatchbillError as error:
        return _page(request, error=error)
    messages.success(
        request,
        f"Paused: {pause}. No agent starts a call there any more; what is still under way is "
        "counted below.",
    )
    return redirect("pauses")


@posted_from(lambda request, pause_id: redirect("pauses"))
def lift(request: DeskRequest, pause_id: int) -> HttpResponse:
    """Resume what one pause stopped."""
    try:
        reason = ReasonForm(request.POST).values()["reason"]
        lift_pause(pause_id=pause_id, reason=reason, by=request.user, at=moment_of(request))
    except WatchbillError as error:
        return _page(request, error=error, lifting=pause_id)
    messages.success(request, f"Resumed. {AFTER_RESUME}")
    return redirect("pauses")


@require_safe
@never_cache
def still_in_flight(request: DeskRequest) -> HttpResponse:
    """What is still under way, asked again until nothing is."""
    at = moment_of(request)
    context = {"flight": in_flight(at=at), "was_asked": True, "at": at}
    return render(request, "pauses/in_flight.html", context)


def _page(
    request: DeskRequest, *, error: WatchbillError | None = None, lifting: int = 0
) -> HttpResponse:
    context = {
        "page": pauses_page(person=request.user, at=moment_of(request)),
        "mistake": "" if error is None else str(error),
        "typed": request.POST,
        "lifting": lifting,
    }
    status = 200 if error is None else status_of(error)
    return render(request, "pauses/pauses.html", context, status=status)

"""The demo's own controls: letting the night pass."""

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_safe

from cases.actions.clock import ask_to_advance
from cases.queries.frame import clock_strip
from cases.web.posts import posted_from
from cases.web.request import DeskRequest, moment_of
from cases.web.session import page_behind

MINE = "mine"


def _only_in_the_demo() -> None:
    if not (settings.DEMO and settings.MOVABLE_CLOCK):
        raise Http404


def _to_queue(request: DeskRequest) -> HttpResponse:
    _only_in_the_demo()
    return redirect("queue")


@posted_from(_to_queue)
def advance(request: DeskRequest) -> HttpResponse:
    """Ask for the night to pass until the desk's next morning."""
    _only_in_the_demo()
    at = moment_of(request)
    ask_to_advance(until=clock_strip(at=at).morning, by=request.user, at=at)
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}):
        back = resolve_url("queue")
    return redirect(back)


@require_safe
def strip(request: DeskRequest) -> HttpResponse:
    """How far the night has come; whoever asked for it is shown the morning when it is there."""
    _only_in_the_demo()
    at = moment_of(request)
    found, waiting, back = clock_strip(at=at), request.GET.get("waiting"), page_behind(request)
    if waiting == MINE and found.under_way is None:
        return HttpResponse(status=204, headers={"HX-Redirect": back})
    context = {
        "strip": found,
        "at": at,
        "waiting": MINE if found.asked_by == str(request.user) else "theirs",
        "was_under_way": bool(waiting),
        "back": back,
    }
    return render(request, "components/clock_strip.html", context)

"""The demo's own controls: letting the night pass."""

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from cases.actions.clock import ask_to_advance
from cases.queries.frame import clock_strip
from cases.web.request import DeskRequest, moment_of
from cases.web.session import page_behind


def _only_in_the_demo() -> None:
    if not (settings.DEMO and settings.MOVABLE_CLOCK):
        raise Http404


@require_POST
def advance(request: DeskRequest) -> HttpResponse:
    """Ask for the night to pass until the desk's next morning."""
    _only_in_the_demo()
    at = moment_of(request)
    ask_to_advance(until=clock_strip(at=at).morning, by=request.user, at=at)
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}):
        back = resolve_url("queue")
    return redirect(back)


@require_GET
def strip(request: DeskRequest) -> HttpResponse:
    """How far the night has come."""
    _only_in_the_demo()
    at = moment_of(request)
    was_under_way = bool(request.GET.get("waiting"))
    context = {
        "strip": clock_strip(at=at),
        "at": at,
        "was_under_way": was_under_way,
        "back": page_behind(request),
    }
    return render(request, "components/clock_strip.html", context)

"""The queue and its hint."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from cases.queries.acts import View, usual_view
from cases.queries.queue import changed_since, queue_of
from cases.vocabulary.clocks import instant_from
from cases.vocabulary.errors import InvalidInput
from cases.web.navigation import TITLES
from cases.web.request import DeskRequest, cursor_in, moment_of


def _view_in(request: DeskRequest) -> View:
    name = request.GET.get("view", "")
    if not name:
        return usual_view(request.user)
    try:
        return View(name)
    except ValueError as error:
        raise InvalidInput(f"There is no view of the queue called {name!r}.") from error


@require_safe
def queue(request: DeskRequest) -> HttpResponse:
    """What needs this person, why, and by when."""
    found = queue_of(
        view=_view_in(request),
        person=request.user,
        at=moment_of(request),
        after=cursor_in(request),
    )
    context = {"queue": found, "at": found.at, "title": TITLES[found.view]}
    return render(request, "queue/queue.html", context)


@require_safe
def hint(request: DeskRequest) -> HttpResponse:
    """How many cases changed since the page was made; the rows themselves stay where they are."""
    since = instant_from(request.GET.get("since", ""))
    context = {
        "changed": changed_since(person=request.user, since=since),
        "since": since,
        "view": _view_in(request),
        "at": moment_of(request),
    }
    return render(request, "queue/hint.html", context)

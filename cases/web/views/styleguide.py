"""The components on one page, for those who build pages."""

from dataclasses import dataclass

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from cases.web.request import DeskRequest, moment_of

TONES = ("ready", "changed", "blocked", "unknown", "done", "waiting", "none")
ICONS = (
    ("turn", "My turn"),
    ("versions", "Versions"),
    ("blocked", "Blocked"),
    ("unknown", "Unknown"),
    ("unowned", "Unowned"),
    ("list", "All open"),
    ("clock", "Clock"),
    ("refresh", "Refresh"),
    ("release", "Release"),
    ("back", "Send back"),
    ("reject", "Reject"),
    ("done", "Done"),
    ("changed", "Changed"),
    ("lock", "Not yours"),
    ("person", "Person"),
    ("agent", "Agent"),
    ("system", "System"),
    ("history", "History"),
    ("compare", "Compare"),
    ("next", "Next"),
    ("moon", "Night"),
)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A fact as the table shows it."""

    mark: str
    word: str
    label: str
    then: str
    now: str


SAMPLES = (
    Sample(mark="~", word="changed", label="Delivery window", then="10:00 CST", now="14:00 CST"),
    Sample(
        mark="−", word="ended", label="Rate expiry", then="open until 00:00", now="expired 00:00"
    ),
    Sample(mark="+", word="new", label="Carrier", then="none", now="Swift, set by J. Ortiz"),
)


@require_safe
def styleguide(request: DeskRequest) -> HttpResponse:
    """Tokens, type, tones, icons and controls; for development and the demo."""
    if not (settings.DEBUG or settings.DEMO):
        raise Http404
    context = {"tones": TONES, "icons": ICONS, "samples": SAMPLES, "at": moment_of(request)}
    return render(request, "styleguide/styleguide.html", context)

"""The numbers for the lead: what the record says of the last days of a desk."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from cases import policies
from cases.queries.numbers import DAY, DAYS, SHIFT, numbers_page
from cases.queries.numbers_shapes import NumbersPage
from cases.web.plots import plot_of
from cases.web.request import DeskRequest, desk_in, moment_of, number_in


@dataclass(frozen=True, kw_only=True)
class Chip:
    """A choice that stands in the address."""

    label: str
    query: str
    is_current: bool


@require_safe
@never_cache
def numbers(request: DeskRequest) -> HttpResponse:
    """The numbers of a desk for the last 7 or 30 days, by day or by shift."""
    policies.check_may_see_numbers(person=request.user)
    desk, at = desk_in(request), moment_of(request)
    days, by = number_in(request, "days") or DAYS[0], request.GET.get("by", DAY)
    page = numbers_page(desk=desk, days=days, by=by, at=at)
    context = {
        "page": page,
        "at": page.at,
        "by": by,
        "numbers": [(number, plot_of(number)) for number in page.numbers],
        "chips": [list(chips) for chips in _chips(page, days, by)],
    }
    return render(request, "numbers/numbers.html", context)


def _chips(page: NumbersPage, days: int, by: str) -> Iterator[Iterator[Chip]]:
    """One row of chips for each choice; every chip keeps the other choices."""
    now = {"desk": str(page.desk_id), "days": str(days), "by": by}
    desks = {desk.value: desk.label for desk in page.desks}
    if len(desks) > 1:
        yield _row("desk", desks, now)
    yield _row("days", {str(number): f"Last {number} days" for number in DAYS}, now)
    yield _row("by", {DAY: "By day", SHIFT: "By shift"}, now)


def _row(name: str, choices: dict[str, str], now: dict[str, str]) -> Iterator[Chip]:
    for value, label in choices.items():
        query = urlencode(now | {name: value})
        yield Chip(label=label, query=query, is_current=now[name] == value)

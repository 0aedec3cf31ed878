"""Closed cases, and finding any case by what is known of it."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from cases.queries.case_list import closed_cases, search_cases
from cases.web.request import DeskRequest, cursor_in, moment_of, number_in

LONGEST_SEARCH = 200


@require_safe
def closed(request: DeskRequest) -> HttpResponse:
    """Closed cases, the last closed first."""
    context = {"list": closed_cases(after=cursor_in(request)), "at": moment_of(request)}
    return render(request, "lists/closed.html", context)


@require_safe
def search(request: DeskRequest) -> HttpResponse:
    """Open and closed cases that match what was typed."""
    text = request.GET.get("q", "")[:LONGEST_SEARCH]
    context = {
        "list": search_cases(text, after=number_in(request, "after")),
        "searched": text.strip(),
        "at": moment_of(request),
    }
    return render(request, "lists/search.html", context)

"""Addresses that only take posts: a look at one leads to the page that its form stands on.

Such a look is no mistake: Back, reload, or a login in between ends at the address of a form that
was refused.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

type View = Callable[..., HttpResponse]


def posted_from(page: View) -> Callable[[View], View]:
    """A view of posts; `page` answers any look at the same address, usually with a redirect."""

    def decorate(view: View) -> View:
        @wraps(view)
        def answer(request: HttpRequest, **named: Any) -> HttpResponse:
            return (view if request.method == "POST" else page)(request, **named)

        return require_http_methods(["GET", "HEAD", "POST"])(answer)

    return decorate


def to_case(request: HttpRequest, case_id: int) -> HttpResponse:
    """The page of the case that a form belongs to."""
    return redirect("case", case_id=case_id)

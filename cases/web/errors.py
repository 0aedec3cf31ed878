"""Refusals and failures as pages and fragments: mapped here once, for every view."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers
from django.utils.deprecation import MiddlewareMixin

from cases.vocabulary.errors import Conflict, InvalidInput, NotFound, Refused, WatchbillError

STATUS: tuple[tuple[type[WatchbillError], int], ...] = (
    (Refused, 403),
    (NotFound, 404),
    (Conflict, 409),
    (InvalidInput, 422),
)


@dataclass(frozen=True, kw_only=True)
class ErrorWords:
    """What an error page says: heading, what happened, what to do."""

    status: int
    heading: str
    what: str
    advice: str


WORDS = {
    400: ErrorWords(
        status=400,
        heading="This request could not be read",
        what="Something in the address or the form was malformed. Nothing was changed.",
        advice="Go back to the queue and open the case from there.",
    ),
    403: ErrorWords(
        status=403,
        heading="Not yours to do",
        what="Your role does not allow this. Nothing was changed.",
        advice="Ask an operator or the lead of the desk.",
    ),
    404: ErrorWords(
        status=404,
        heading="There is nothing here",
        what="This address names no case and no page.",
        advice="Check the number, or find the case in the queue.",
    ),
    405: ErrorWords(
        status=405,
        heading="Nothing is done this way",
        what="This address does not take such a request. Nothing was changed.",
        advice="Open the page in your browser and use the form on it.",
    ),
    409: ErrorWords(
        status=409,
        heading="The case moved on",
        what="What you answered is no longer how the case stands. Nothing was changed.",
        advice="Open the case again and look at it as it stands now.",
    ),
    422: ErrorWords(
        status=422,
        heading="Something is missing",
        what="What was sent cannot be used. Nothing was changed.",
        advice="Go back, correct it and send it again.",
    ),
    500: ErrorWords(
        status=500,
        heading="Watchbill failed",
        what="The fault is ours and was logged. A step that was cut short was rolled back whole.",
        advice="Reload the case before you try again; it shows whether anything was recorded.",
    ),
}


def status_of(error: WatchbillError) -> int:
    """The HTTP status of a refusal."""
    return next((status for kind, status in STATUS if isinstance(error, kind)), 409)


def error_response(request: HttpRequest, *, status: int, what: str = "") -> HttpResponse:
    """The page for an error, or for a partial request a notice that replaces nothing else."""
    words = WORDS[status]
    context = {"words": words, "what": what or words.what}
    if request.headers.get("HX-Request") != "true":
        return render(request, "errors/error.html", context, status=status)
    answer = render(request, "errors/error.html#notice", context, status=status)
    answer["HX-Retarget"], answer["HX-Reswap"] = "#notices", "innerHTML"
    return answer


class RefusalMiddleware(MiddlewareMixin):
    """Turns what the record, or a view's methods, refuse into its page, whichever view met it."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """The page for a wrong method; and caches must tell a page from its fragment."""
        if isinstance(response, HttpResponseNotAllowed):
            allowed = response["Allow"]
            response = error_response(request, status=405)
            response["Allow"] = allowed
        patch_vary_headers(response, ("HX-Request",))
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The page of a refusal; anything else is not ours to explain."""
        if not isinstance(error, WatchbillError):
            return None
        return error_response(request, status=status_of(error), what=str(error))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400."""
    return error_response(request, status=400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403."""
    return error_response(request, status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404."""
    return error_response(request, status=404)


def form_expired(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 of a form whose token is not the session's: usually an old tab after a new login."""
    return error_response(
        request,
        status=403,
        what="This page is older than your session, so its form does not count. "
        "Nothing was recorded. Reload the page and send it again.",
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """500, rendered without the database, which may be what failed."""
    name = "errors/failed.html"
    if request.headers.get("HX-Request") == "true":
        name += "#notice"
    answer = HttpResponse(render_to_string(name, {"words": WORDS[500]}), status=500)
    answer["HX-Retarget"], answer["HX-Reswap"] = "#notices", "innerHTML"
    return answer

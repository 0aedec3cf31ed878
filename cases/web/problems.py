"""What machines read when something is refused: problem details (RFC 9457)."""

from collections.abc import Sequence
from http import HTTPStatus

from django.http import HttpResponse, JsonResponse


def problem(status: HTTPStatus, detail: str) -> HttpResponse:
    """A refusal with its sentence."""
    return JsonResponse(
        {"type": "about:blank", "title": status.phrase, "status": status.value, "detail": detail},
        status=status,
        content_type="application/problem+json",
    )


def wrong_method(allowed: Sequence[str]) -> HttpResponse:
    """The refusal of a method that the address does not take."""
    methods = ", ".join(allowed)
    answer = problem(HTTPStatus.METHOD_NOT_ALLOWED, f"This address takes {methods} only.")
    answer["Allow"] = methods
    return answer

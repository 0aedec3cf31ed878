"""Refusals as application/problem+json (RFC 9457), and nothing else."""

import json
import logging
import re
import uuid
from collections.abc import Mapping
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponse

correlation_id: ContextVar[str] = ContextVar("correlation_id", default="")

_ACCEPTABLE_CORRELATION = re.compile(r"[A-Za-z0-9._:-]{1,128}")


class Problem(Exception):  # noqa: N818 (the RFC's own word)
    """A refusal with a stable ``code``; raising it undoes the transaction it leaves.

    ``retryable`` promises that the same request may succeed later and that nothing was done.
    """

    def __init__(
        self,
        *,
        status: int,
        code: str,
        detail: str,
        retryable: bool = False,
        headers: Mapping[str, str] | None = None,
        **members: object,
    ) -> None:
        """Keep what the answer needs; ``members`` are extra fields of the JSON body."""
        super().__init__(f"{status} {code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail
        self.retryable = retryable
        self.headers = dict(headers or {})
        self.members = members

    def response(self) -> HttpResponse:
        """Render as the answer to the current request."""
        body = {
            "type": f"urn:transport-sim:problem:{self.code}",
            "title": self.code.replace("_", " ").capitalize(),
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            "retryable": self.retryable,
            "correlation_id": correlation_id.get(),
            **self.members,
        }
        return HttpResponse(
            json.dumps(body),  # ASCII: a refused field name may hold what UTF-8 cannot
            status=self.status,
            content_type="application/problem+json",
            headers=self.headers,
        )


class CrashesOnly(logging.Filter):
    """Lets through what carries an exception; a refusal answered on purpose does not."""

    def filter(self, record: logging.LogRecord) -> bool:
        """True for a log record of a crash."""
        return record.exc_info is not None


def new_correlation_id(offered: str | None) -> str:
    """Take the caller's correlation id when it is harmless, or make one."""
    if offered is not None and _ACCEPTABLE_CORRELATION.fullmatch(offered):
        return offered
    return str(uuid.uuid4())


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler400: a request its own parser refused."""
    problem = Problem(
        status=400, code="bad_request", detail="The request could not be read. Check its form."
    )
    return problem.response()


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler404: a path that leads nowhere."""
    problem = Problem(
        status=404, code="unknown_path", detail="No such address here. Check the path."
    )
    return problem.response()


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500: our own mistake, logged on stderr."""
    problem = Problem(
        status=500,
        code="internal_error",
        detail="The transport system failed. Nothing of this request was kept.",
        retryable=True,
    )
    return problem.response()

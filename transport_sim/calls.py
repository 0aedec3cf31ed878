"""The call log: what reached /v1, committed on arrival and completed at the answer.

A call whose connection was broken off without an answer is complete without a status.
"""

import time

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.decorators import async_only_middleware

from transport_sim import arrival, clock, database
from transport_sim.headers import GetResponse
from transport_sim.models import Call

API_PREFIX = "/v1/"


class NoAnswer(HttpResponse):
    """Stands for the answer of a call whose connection is gone. Nobody will see it."""


@async_only_middleware
def call_log(get_response: GetResponse) -> GetResponse:
    """Log each call to the API, whatever becomes of it."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        if not request.path.startswith(API_PREFIX):
            return await get_response(request)
        started = time.perf_counter()
        sequence = await database.from_async(_arrived, request)
        response = await get_response(request)
        status = None if isinstance(response, NoAnswer) else response.status_code
        duration_ms = round((time.perf_counter() - started) * 1000)
        await database.from_async(_answered, sequence, status, duration_ms)
        return response

    return middleware


def _arrived(request: HttpRequest) -> int:
    real_at = arrival.real_instant(request)
    call = Call.objects.create(
        at=real_at + clock.read().offset,
        real_at=real_at,
        method=_storable(request.method or "", 16),
        path=_storable(request.path, 500),
        query=_storable(request.META.get("QUERY_STRING", ""), 2_000),
        idempotency_key=_header(request, "Idempotency-Key", 255),
        fencing_token=_header(request, "Fencing-Token", 64),
    )
    return call.pk


def _answered(sequence: int, status: int | None, duration_ms: int) -> None:
    # After a reset the row is gone; then there is nothing left to complete.
    Call.objects.filter(pk=sequence).update(status=status, duration_ms=duration_ms)


def _header(request: HttpRequest, name: str, longest: int) -> str | None:
    value = request.headers.get(name)
    return None if value is None else _storable(value, longest)


def _storable(text: str, longest: int) -> str:
    """Cut and clean foreign text so that PostgreSQL can keep it."""
    clean = text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    return clean[:longest]


def since(*, after: int, limit: int) -> list[dict[str, object]]:
    """List the calls with a sequence above ``after``, oldest first."""
    return [_as_json(call) for call in Call.objects.filter(pk__gt=after).order_by("pk")[:limit]]


def _as_json(call: Call) -> dict[str, object]:
    token = call.fencing_token
    return {
        "sequence": call.pk,
        "at": clock.as_text(call.at),
        "real_at": clock.as_text(call.real_at),
        "method": call.method,
        "path": call.path,
        "query": call.query,
        "status": call.status,
        "idempotency_key": call.idempotency_key,
        "fencing_token": int(token) if token is not None and token.isdecimal() else token,
        "duration_ms": call.duration_ms,
    }

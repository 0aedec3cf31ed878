"""Middleware: misbehaviour on order. A kind is one entry in HANDLERS.

``503`` refuses and does nothing. ``slow`` lets the request wait before any work is done, so an
impatient client can be gone before the effect happens. ``commit_then_timeout`` does the work,
commits it, and then keeps the answer to itself.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from django.db.models import F, Q
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import async_only_middleware

from transport_sim import database
from transport_sim.calls import API_PREFIX
from transport_sim.headers import GetResponse
from transport_sim.models import Fault
from transport_sim.problems import Problem

READS = ("GET", "HEAD")
DEFAULT_HOLD_SECONDS = 30.0


@dataclass(frozen=True)
class FaultOrder:
    """What to do wrong, to which calls, how often (None: until deleted), for how long."""

    kind: str
    method: str
    path_prefix: str
    times: int | None
    seconds: float


async def _unavailable(
    request: HttpRequest, proceed: GetResponse, seconds: float
) -> HttpResponseBase:
    problem = Problem(
        status=503,
        code="service_unavailable",
        detail="The transport system is not available. Nothing was done; try again later.",
        retryable=True,
        headers={"Retry-After": "1"},
    )
    return problem.response()


async def _slow(request: HttpRequest, proceed: GetResponse, seconds: float) -> HttpResponseBase:
    await asyncio.sleep(seconds)
    return await proceed(request)


async def _commit_then_timeout(
    request: HttpRequest, proceed: GetResponse, seconds: float
) -> HttpResponseBase:
    response = await proceed(request)
    await asyncio.sleep(seconds)
    return response


type Handler = Callable[[HttpRequest, GetResponse, float], Awaitable[HttpResponseBase]]
HANDLERS: dict[str, Handler] = {
    "503": _unavailable,
    "slow": _slow,
    "commit_then_timeout": _commit_then_timeout,
}


@async_only_middleware
def faults(get_response: GetResponse) -> GetResponse:
    """Apply the oldest fault that matches the call; waiting blocks no other request."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        if not request.path.startswith(API_PREFIX):
            return await get_response(request)
        fault = await database.from_async(_take, request.method or "", request.path)
        if fault is None:
            return await get_response(request)
        return await HANDLERS[fault.kind](request, get_response, fault.seconds)

    return middleware


def _take(method: str, path: str) -> Fault | None:
    waiting = Fault.objects.filter(Q(times_left__isnull=True) | Q(times_left__gt=0))
    for fault in waiting.order_by("pk"):
        if not _concerns(fault, method, path):
            continue
        if fault.times_left is None:
            return fault
        # Conditional update: of two calls at once only one gets the last "time".
        left = Fault.objects.filter(pk=fault.pk, times_left__gt=0)
        if left.update(times_left=F("times_left") - 1):
            return fault
    return None


def _concerns(fault: Fault, method: str, path: str) -> bool:
    if fault.method:
        method_fits = fault.method == method
    else:
        # Without a commit there is nothing to lose, so reads do not use this fault up.
        method_fits = fault.kind != "commit_then_timeout" or method not in READS
    return method_fits and path.startswith(fault.path_prefix)


def order(fault: FaultOrder) -> dict[str, object]:
    """Keep a fault in force from the next call on."""
    row = Fault.objects.create(
        kind=fault.kind,
        method=fault.method,
        path_prefix=fault.path_prefix,
        times_left=fault.times,
        seconds=fault.seconds,
    )
    return _as_json(row)


def listing() -> list[dict[str, object]]:
    """All ordered faults, used up ones included, oldest first."""
    return [_as_json(fault) for fault in Fault.objects.order_by("pk")]


def clear() -> None:
    """Behave well again from the next call on."""
    Fault.objects.all().delete()


def _as_json(fault: Fault) -> dict[str, object]:
    return {
        "id": fault.pk,
        "kind": fault.kind,
        "method": fault.method or None,
        "path_prefix": fault.path_prefix or None,
        "times_left": fault.times_left,
        "seconds": fault.seconds,
    }

"""Middleware: misbehaviour on order. A kind is one entry in KINDS.

What the caller is told after ``commit_then_500``, ``timeout_before_commit`` and the resets says
nothing about whether the request took effect, as in real life. The ledger knows.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import async_only_middleware

from transport_sim import database, faults, leases, lenses
from transport_sim.calls import API_PREFIX, NoAnswer
from transport_sim.contested import contested_resource
from transport_sim.disconnection import reset_connection
from transport_sim.headers import GetResponse
from transport_sim.models import Fault
from transport_sim.problems import Problem

METHODS = ("GET", "POST", "PATCH", "PUT", "DELETE")
# Without a commit there is nothing to lose, so reads do not use up a fault about commits.
WRITES = ("POST", "PATCH", "PUT", "DELETE")
DEFAULT_HOLD_SECONDS = 30.0

type Handler = Callable[[HttpRequest, GetResponse, float], Awaitable[HttpResponseBase]]


def _any(request: HttpRequest) -> bool:
    return True


def _searches(request: HttpRequest) -> bool:
    return "client_reference" in request.GET


def _checks_lease(request: HttpRequest) -> bool:
    renews = request.method == "PUT" and request.path.startswith("/v1/leases/")
    return renews or "Fencing-Token" in request.headers


@dataclass(frozen=True)
class Kind:
    """What happens, to calls of which methods; `usual` when the order names no method."""

    handle: Handler
    methods: tuple[str, ...] = METHODS
    usual: tuple[str, ...] | None = None
    suits: Callable[[HttpRequest], bool] = _any
    seconds: float = DEFAULT_HOLD_SECONDS

    def concerns(self, request: HttpRequest, fault: Fault) -> bool:
        """True when this order of this kind is about this call."""
        methods = (fault.method,) if fault.method else self.usual or self.methods
        return (
            request.method in methods
            and request.get_full_path().startswith(fault.path_prefix)
            and self.suits(request)
        )


def _refusing(refusal: Problem) -> Handler:
    async def refuse(
        request: HttpRequest, proceed: GetResponse, seconds: float
    ) -> HttpResponseBase:
        return refusal.response()

    return refuse


async def _rate_limited(
    request: HttpRequest, proceed: GetResponse, seconds: float
) -> HttpResponseBase:
    problem = Problem(
        status=429,
        code="rate_limited",
        detail="Too many calls. Nothing was done; wait as Retry-After says.",
        retryable=True,
        headers={"Retry-After": str(math.ceil(seconds))},
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


async def _timeout_before_commit(
    request: HttpRequest, proceed: GetResponse, seconds: float
) -> HttpResponseBase:
    await asyncio.sleep(seconds)
    return Problem(
        status=504,
        code="gateway_timeout",
        detail="The transport system did not answer in time. Whether it acted is not known.",
    ).response()


async def _commit_then_500(
    request: HttpRequest, proceed: GetResponse, seconds: float
) -> HttpResponseBase:
    await proceed(request)
    return Problem(
        status=500,
        code="internal_error",
        detail="The transport system failed. Whether it acted before is not known.",
    ).response()


async def _reset_before_commit(
    request: HttpRequest, proceed: GetResponse, seconds: float
) -> HttpResponseBase:
    reset_connection(request)
    return NoAnswer()


async def _reset_after_commit(
    request: HttpRequest, proceed: GetResponse, seconds: float
) -> HttpResponseBase:
    await proceed(request)
    reset_connection(request)
    return NoAnswer()


def _through(schema: lenses.Schema) -> Handler:
    async def look(request: HttpRequest, proceed: GetResponse, seconds: float) -> HttpResponseBase:
        token = lenses.ordered.set(lenses.Lens(schema=schema, lag_seconds=seconds))
        try:
            return await proceed(request)
        finally:
            lenses.ordered.reset(token)

    return look


async def _lost_lease(
    request: HttpRequest, proceed: GetResponse, seconds: float
) -> HttpResponseBase:
    resource = await database.from_async(contested_resource, request)
    if resource is not None:
        await database.from_async(leases.take_away, resource)
    return await proceed(request)


KINDS: dict[str, Kind] = {
    "503": Kind(
        _refusing(
            Problem(
                status=503,
                code="service_unavailable",
                detail="The transport system is not available. Nothing was done; try again later.",
                retryable=True,
                headers={"Retry-After": "1"},
            )
        )
    ),
    "429": Kind(_rate_limited, seconds=1.0),
    "slow": Kind(_slow),
    "commit_then_timeout": Kind(_commit_then_timeout, usual=WRITES),
    "commit_then_500": Kind(_commit_then_500, usual=WRITES),
    "timeout_before_commit": Kind(_timeout_before_commit, usual=WRITES),
    "connection_reset_before_commit": Kind(_reset_before_commit, usual=WRITES),
    "connection_reset_after_commit": Kind(_reset_after_commit, usual=WRITES),
    "stale_read": Kind(_through("transport_sim_past"), methods=("GET",)),
    "404_after_create": Kind(_through("transport_sim_settled"), methods=("GET",)),
    "lookup_down": Kind(
        _refusing(
            Problem(
                status=503,
                code="lookup_unavailable",
                detail="Searching by client_reference does not work now. Try again later.",
                retryable=True,
                headers={"Retry-After": "1"},
            )
        ),
        methods=("GET",),
        suits=_searches,
    ),
    "lost_lease": Kind(_lost_lease, methods=("POST", "PATCH", "PUT"), suits=_checks_lease),
}


@async_only_middleware
def misbehaviour(get_response: GetResponse) -> GetResponse:
    """Apply the oldest fault that matches the call; waiting blocks no other request."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        if not request.path.startswith(API_PREFIX):
            return await get_response(request)
        fault = await database.from_async(_take, request)
        if fault is None:
            return await get_response(request)
        return await KINDS[fault.kind].handle(request, get_response, fault.seconds)

    return middleware


def _take(request: HttpRequest) -> Fault | None:
    # Faults of webhooks are in the same list and are no kind of a call.
    return faults.take(
        lambda fault: fault.kind in KINDS and KINDS[fault.kind].concerns(request, fault)
    )

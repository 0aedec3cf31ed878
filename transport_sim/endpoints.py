"""The door: who may call, how often, and which function answers which method."""

import hmac
import json
from collections.abc import Callable

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse

from transport_sim import lenses, profiles, settings, settlement
from transport_sim.database import lend
from transport_sim.models import World
from transport_sim.problems import Problem
from transport_sim.ratelimit import Allowance, RateLimiter

AGENT = "watchbill-agent"
CONTROL = "control"

type Handler = Callable[..., HttpResponse]
type View = Callable[..., HttpResponse]

_limiter = RateLimiter()


def answer(
    body: object, *, status: int = 200, headers: dict[str, str] | None = None
) -> HttpResponse:
    """Render a JSON answer."""
    text = json.dumps(body, ensure_ascii=False)
    return HttpResponse(text, status=status, content_type="application/json", headers=headers)


def v1(**handlers: Handler) -> View:
    """An address of the API. Handlers are called with ``request``, ``principal`` and the ids."""

    def view(request: HttpRequest, **captured: str) -> HttpResponse:
        return _guarded(_serve_api, handlers, request, captured)

    return view


def sim(**handlers: Handler) -> View:
    """An address of the control plane, with its own token and no rate limit."""

    def view(request: HttpRequest, **captured: str) -> HttpResponse:
        return _guarded(_serve_control, handlers, request, captured)

    return view


def public(**handlers: Handler) -> View:
    """An address that needs no token."""

    def view(request: HttpRequest, **captured: str) -> HttpResponse:
        return _guarded(_serve_public, handlers, request, captured)

    return view


type Serve = Callable[[dict[str, Handler], HttpRequest, dict[str, str]], HttpResponse]


def _guarded(
    serve: Serve, handlers: dict[str, Handler], request: HttpRequest, captured: dict[str, str]
) -> HttpResponse:
    try:
        return lend(serve)(handlers, request, captured)
    except Problem as problem:
        return problem.response()
    except OperationalError:
        # Lock or statement timeout, deadlock, or no database: rolled back in every case.
        busy = Problem(
            status=503,
            code="database_busy",
            detail="The transport system is busy. Nothing was done; try again.",
            retryable=True,
            headers={"Retry-After": "1"},
        )
        return busy.response()


def _serve_api(
    handlers: dict[str, Handler], request: HttpRequest, captured: dict[str, str]
) -> HttpResponse:
    _authenticate(request, settings.TRANSPORT_TOKEN)
    world = World.objects.get()
    allowance = _limiter.take(
        principal=AGENT, limit=world.rate_limit, window_seconds=world.rate_window_seconds
    )
    response = profiles.as_seen_outside(
        _within_limit(allowance, handlers, request, captured), world
    )
    for name, value in allowance.headers().items():
        response[name] = value
    return response


def _within_limit(
    allowance: Allowance,
    handlers: dict[str, Handler],
    request: HttpRequest,
    captured: dict[str, str],
) -> HttpResponse:
    try:
        allowance.check()
        settlement.settle_due()
        with lenses.looking():
            return _handler(handlers, request)(request, principal=AGENT, **captured)
    except Problem as problem:
        return problem.response()


def _serve_control(
    handlers: dict[str, Handler], request: HttpRequest, captured: dict[str, str]
) -> HttpResponse:
    _authenticate(request, settings.SIMULATOR_CONTROL_TOKEN)
    settlement.settle_due()
    return _handler(handlers, request)(request, principal=CONTROL, **captured)


def _serve_public(
    handlers: dict[str, Handler], request: HttpRequest, captured: dict[str, str]
) -> HttpResponse:
    return _handler(handlers, request)(request, **captured)


def _authenticate(request: HttpRequest, token: str) -> None:
    scheme, _, offered = request.headers.get("Authorization", "").partition(" ")
    matches = hmac.compare_digest(offered.encode(), token.encode())
    if scheme.lower() != "bearer" or not token or not matches:
        raise Problem(
            status=401,
            code="unauthorized",
            detail="Send Authorization: Bearer with the token of this part of the system.",
            headers={"WWW-Authenticate": "Bearer"},
        )


def _handler(handlers: dict[str, Handler], request: HttpRequest) -> Handler:
    handler = handlers.get(request.method or "")
    if handler is None:
        allowed = ", ".join(sorted(handlers))
        raise Problem(
            status=405,
            code="method_not_allowed",
            detail=f"Use {allowed} here.",
            headers={"Allow": allowed},
        )
    return handler

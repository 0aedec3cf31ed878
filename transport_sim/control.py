"""/sim: what only the director of a play may do."""

from django.http import HttpRequest, HttpResponse

from transport_sim import actors, calls, clock, faults, journal, scenarios, webhooks
from transport_sim.endpoints import answer
from transport_sim.faults import FaultOrder
from transport_sim.fields import Fields, body_of, query_number, query_of
from transport_sim.misbehaviour import DEFAULT_HOLD_SECONDS, KINDS
from transport_sim.models import World
from transport_sim.problems import Problem
from transport_sim.profiles import PROFILES, SWITCHES

LONGEST_HOLD_SECONDS = 3_600.0
LONGEST_ADVANCE_SECONDS = 366 * 86_400.0
MOST_CALLS = 10_000


def health(request: HttpRequest) -> HttpResponse:
    """GET whether the simulator lives; needs no token."""
    world = World.objects.get()
    return answer(
        {
            "ok": True,
            "now": clock.as_text(clock.now()),
            "scenario": world.scenario or None,
            "profile": world.profile,
        }
    )


def list_scenarios(request: HttpRequest, *, principal: str) -> HttpResponse:
    """GET the scenarios that can be loaded."""
    return answer({"scenarios": scenarios.listing()})


def reset(request: HttpRequest, *, principal: str) -> HttpResponse:
    """POST: empty the world and load a scenario into a system of some profile."""
    body = Fields(body_of(request))
    scenario = scenarios.SCENARIOS[body.choice("scenario", scenarios.SCENARIOS)]
    profile = body.choice("profile", PROFILES) if body.has("profile") else "modern"
    now = body.instant("now") if body.has("now") else None
    body.done()
    at = scenarios.load(scenario, profile=profile, now=now)
    return answer({"scenario": scenario.name, "profile": profile, "now": clock.as_text(at)})


def read_clock(request: HttpRequest, *, principal: str) -> HttpResponse:
    """GET the simulator's clock."""
    return _clock()


def set_clock(request: HttpRequest, *, principal: str) -> HttpResponse:
    """POST one of ``now``, ``advance_seconds`` or ``real``."""
    body = Fields(body_of(request))
    if body.has("now"):
        at = body.instant("now")
        body.done()
        clock.put(at)
    elif body.has("advance_seconds"):
        seconds = body.number("advance_seconds", lowest=0, highest=LONGEST_ADVANCE_SECONDS)
        body.done()
        clock.advance(seconds)
    else:
        if not body.flag("real"):
            body.refuse("real", "send true, or send now or advance_seconds instead")
        body.done()
        clock.follow_real_time()
    return _clock()


def _clock() -> HttpResponse:
    reading = clock.read()
    seconds = reading.offset.total_seconds()
    return answer(
        {"now": clock.as_text(reading.now), "offset_seconds": seconds, "real": seconds == 0}
    )


def read_settings(request: HttpRequest, *, principal: str) -> HttpResponse:
    """GET how this world behaves."""
    return _settings(World.objects.get())


def change_settings(request: HttpRequest, *, principal: str) -> HttpResponse:
    """POST any of the settings; they last until the next reset."""
    body = Fields(body_of(request))
    changes: dict[str, float] = {}
    for name in ("booking_confirm_seconds", "message_deliver_seconds"):
        if body.has(name):
            changes[name] = body.number(name, lowest=0, highest=30 * 86_400.0)
    if body.has("idempotency_key_seconds"):
        changes["idempotency_key_seconds"] = body.number(
            "idempotency_key_seconds", lowest=1, highest=30 * 86_400.0
        )
    for name, highest in (("rate_limit", 1_000_000), ("rate_window_seconds", 3_600)):
        if body.has(name):
            changes[name] = body.whole(name, lowest=1, highest=highest)
    for name in SWITCHES:
        if body.has(name):
            changes[name] = body.flag(name)
    body.done()
    if changes:
        World.objects.filter(pk=1).update(**changes)
    return _settings(World.objects.get())


def _settings(world: World) -> HttpResponse:
    return answer(
        {
            "booking_confirm_seconds": world.booking_confirm_seconds,
            "message_deliver_seconds": world.message_deliver_seconds,
            "idempotency_key_seconds": world.idempotency_key_seconds,
            "rate_limit": world.rate_limit,
            "rate_window_seconds": world.rate_window_seconds,
            **{name: getattr(world, name) for name in SWITCHES},
        }
    )


def list_faults(request: HttpRequest, *, principal: str) -> HttpResponse:
    """GET the faults that were ordered."""
    return answer({"faults": faults.listing()})


def order_fault(request: HttpRequest, *, principal: str) -> HttpResponse:
    """POST a fault, in force from the next call or event on."""
    body = Fields(body_of(request))
    kind = body.choice("kind", (*KINDS, *webhooks.FAULTS))
    order = _webhook_fault(body, kind) if kind in webhooks.FAULTS else _call_fault(body, kind)
    body.done()
    return answer(faults.order(order), status=201)


def _call_fault(body: Fields, kind: str) -> FaultOrder:
    prefix = body.text("path_prefix") if body.has("path_prefix") else ""
    if prefix and not prefix.startswith(calls.API_PREFIX):
        body.refuse("path_prefix", f"send a path below {calls.API_PREFIX}")
    return FaultOrder(
        kind=kind,
        method=body.choice("method", KINDS[kind].methods) if body.has("method") else "",
        path_prefix=prefix,
        event="",
        times=_times(body),
        seconds=_seconds(body, default=KINDS[kind].seconds),
    )


def _webhook_fault(body: Fields, kind: str) -> FaultOrder:
    return FaultOrder(
        kind=kind,
        method="",
        path_prefix="",
        event=body.choice("event", webhooks.EVENTS) if body.has("event") else "",
        times=_times(body),
        seconds=_seconds(body, default=DEFAULT_HOLD_SECONDS),
    )


def _times(body: Fields) -> int | None:
    return body.whole("times", lowest=1, highest=1_000_000) if body.has("times") else None


def _seconds(body: Fields, *, default: float) -> float:
    if not body.has("seconds"):
        return default
    return body.number("seconds", lowest=0, highest=LONGEST_HOLD_SECONDS)


def clear_faults(request: HttpRequest, *, principal: str) -> HttpResponse:
    """DELETE all faults."""
    faults.clear()
    return HttpResponse(status=204)


def play_actor(request: HttpRequest, *, principal: str, actor: str) -> HttpResponse:
    """POST one deed of one actor; answers with the record it is about."""
    if actor not in actors.ACTORS:
        known = ", ".join(actors.ACTORS)
        raise Problem(status=404, code="unknown_actor", detail=f"Known actors: {known}.")
    step = actors.read_step(actor, Fields(body_of(request)))
    return answer(actors.play([step])[0])


def play_batch(request: HttpRequest, *, principal: str) -> HttpResponse:
    """POST several deeds that give each shipment one new version together."""
    body = Fields(body_of(request))
    steps = [
        actors.read_step(step.choice("actor", actors.ACTORS), step)
        for step in body.children("steps")
    ]
    body.done()
    return answer({"records": actors.play(steps)})


def read_ledger(request: HttpRequest, *, principal: str) -> HttpResponse:
    """GET every true effect by anybody."""
    query = query_of(request)
    shipment_id = query.identifier("shipment_id") if query.has("shipment_id") else None
    query.done()
    return answer({"entries": journal.ledger(shipment_id=shipment_id)})


def read_calls(request: HttpRequest, *, principal: str) -> HttpResponse:
    """GET the calls that /v1 received, answered or still open."""
    query = query_of(request)
    after = query_number(query, "after", default=0)
    query.done()
    return answer({"calls": calls.since(after=after, limit=MOST_CALLS)})

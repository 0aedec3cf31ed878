"""Kinds of transport systems. A profile is a set of switches that deviate from ``modern``.

What a system lacks it neither demands nor shows. Hiding happens in one place, on the way out, so
that no address can forget it.
"""

import json

from django.http import HttpResponse

from transport_sim.models import World

# Each is a field of World, which has its value in the modern profile as default.
SWITCHES = (
    "idempotency_keys",
    "versions",
    "record_locks",
    "lookup_by_reference",
    "one_booking_per_shipment",
)
PROFILES: dict[str, dict[str, bool]] = {
    "modern": {},
    "no_idempotency": {"idempotency_keys": False},
    "no_version": {"versions": False},
    "locked_by_user": {"record_locks": True},
}


def hidden_fields(world: World) -> frozenset[str]:
    """The fields that nobody outside sees in this world."""
    hidden: set[str] = set()
    if not world.versions:
        hidden |= {"version", "etag"}
    if not world.lookup_by_reference:
        hidden.add("client_reference")
    return frozenset(hidden)


def without(value: object, names: frozenset[str]) -> object:
    """A JSON value without these fields, at any depth."""
    if isinstance(value, dict):
        return {name: without(part, names) for name, part in value.items() if name not in names}
    if isinstance(value, list):
        return [without(part, names) for part in value]
    return value


def as_seen_outside(response: HttpResponse, world: World) -> HttpResponse:
    """Take from an answer what this kind of system does not have."""
    hidden = hidden_fields(world)
    if hidden and response.get("Content-Type") == "application/json":
        shown = without(json.loads(response.content), hidden)
        response.content = json.dumps(shown, ensure_ascii=False).encode()
    if not world.versions:
        del response["ETag"]  # no error when there is none
    return response

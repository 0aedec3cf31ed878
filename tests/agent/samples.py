"""Answers of the transport system, as its contract writes them."""

from typing import Any
from uuid import UUID

from cases.vocabulary.work import AttemptOrder, EffectState, EffectWork

KEY = UUID("6f2c1e0a-8b5d-4c3e-9a7f-0d1e2f3a4b5c")
BOOKING_PARAMETERS = {
    "shipment": "S-318",
    "quote_id": "QX-71",
    "scac": "BLUX",
    "carrier_name": "Bluewater Express",
    "amount": {"amount_minor": 179_000, "currency": "USD"},
}
MESSAGE_PARAMETERS = {
    "shipment": "S-318",
    "recipient": "receiving@harborfoods.example",
    "channel": "e-mail",
    "template": "delivery_update",
    "about": "delivery 2026-11-25T15:00:00Z America/New_York by BLUX",
    "promised": {"start": "…", "end": "…", "zone": "America/New_York"},
    "body": "Your shipment S-318 will be delivered Wed 25 Nov 10:00–12:00 EST.",
}


def shipment(**changes: Any) -> dict[str, Any]:
    """GET /v1/shipments/S-318."""
    return {
        "id": "S-318",
        "version": 41,
        "etag": '"41"',
        "updated_at": "2026-11-23T22:58:00Z",
        "updated_by": "J. Ortiz",
        "status": "uncovered",
        "customer": {
            "id": "C-77",
            "name": "Harbor Foods",
            "email": "receiving@harborfoods.example",
            "tier": 1,
        },
        "equipment": "reefer",
        "weight_kg": "18250",
        "lane": "DFW → ATL",
        "carrier": None,
        "stops": [stop(2, "delivery"), stop(1, "pickup")],
        **changes,
    }


def stop(sequence: int, kind: str, **changes: Any) -> dict[str, Any]:
    """One stop; the delivery's window is 10:00–12:00 in Atlanta."""
    if kind == "pickup":
        window = {"start": "2026-11-24T12:00:00-06:00", "end": "2026-11-24T21:00:00Z"}
        zone = "America/Chicago"
    else:
        window = {"start": "2026-11-25T15:00:00Z", "end": "2026-11-25T17:00:00Z"}
        zone = "America/New_York"
    return {
        "id": f"S-318-{sequence}",
        "sequence": sequence,
        "kind": kind,
        "place": "somewhere",
        "zone": zone,
        "window": window,
        **changes,
    }


def carrier() -> dict[str, Any]:
    """An employee's carrier on the shipment."""
    return {
        "scac": "OAKX",
        "name": "Oakline Freight",
        "assigned_by": "J. Ortiz",
        "assigned_at": "2026-11-24T04:10:00Z",
        "booking_id": None,
    }


def quote(**changes: Any) -> dict[str, Any]:
    """An item of GET /v1/quotes."""
    return {
        "id": "QX-71",
        "version": 1,
        "shipment_id": "S-318",
        "carrier": {"scac": "BLUX", "name": "Bluewater Express"},
        "amount_minor": 179_000,
        "currency": "USD",
        "service": "standard",
        "status": "open",
        "expires_at": "2026-11-24T06:00:00Z",
        "expires_zone": "America/Chicago",
        **changes,
    }


def message(**changes: Any) -> dict[str, Any]:
    """An item of GET /v1/messages."""
    return {
        "id": "M-9001",
        "version": 1,
        "shipment_id": "S-318",
        "recipient": "receiving@harborfoods.example",
        "channel": "e-mail",
        "template": "delivery_update",
        "about": "delivery 2026-11-25 10:00 EST by OAKX",
        "body": "Your delivery is planned for 10:00.",
        "sent_by": "J. Ortiz",
        "client_reference": "WB-1-4-2",
        "status": "delivered",
        "created_at": "2026-11-24T04:20:00Z",
        "delivered_at": None,
        **changes,
    }


def booking(**changes: Any) -> dict[str, Any]:
    """A booking as POST and GET /v1/bookings show it."""
    return {
        "id": "B-5001",
        "version": 1,
        "shipment_id": "S-318",
        "quote_id": "QX-71",
        "scac": "BLUX",
        "amount_minor": 179_000,
        "currency": "USD",
        "client_reference": "WB-1-3-1",
        "status": "confirmed",
        "created_at": "2026-11-23T23:30:00Z",
        "confirmed_at": None,
        **changes,
    }


def problem(status: int, code: str, **members: Any) -> dict[str, Any]:
    """A refusal as application/problem+json."""
    return {"status": status, "code": code, "detail": "In its own words.", **members}


def effect(action: str = "book_replacement_carrier", **changes: Any) -> EffectWork:
    """A wanted effect of a released action."""
    booking_action = action == "book_replacement_carrier"
    given: dict[str, Any] = {
        "effect_id": 11,
        "position": 1 if booking_action else 2,
        "action": action,
        "target_record": "booking" if booking_action else "message",
        "parameters": BOOKING_PARAMETERS if booking_action else MESSAGE_PARAMETERS,
        "key": KEY,
        "reference": "WB-1-3-1" if booking_action else "WB-1-3-2",
        "state": EffectState.WANTED,
        "target_record_id": "",
        **changes,
    }
    return EffectWork(**given)


def order(action: str = "book_replacement_carrier", *, version: int | None = 41) -> AttemptOrder:
    """Permission for one call."""
    return AttemptOrder(
        attempt_id=5, effect=effect(action), subject="S-318", subject_version=version
    )

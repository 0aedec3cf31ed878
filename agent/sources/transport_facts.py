"""From the transport system's JSON to readings and looks. Pure; anything unexpected is `Malformed`.

Facts take exactly the forms of `FactKind` and the keys of the freight playbook.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from cases.vocabulary.clocks import instant_from, iso, zone_named
from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.facts import Value
from cases.vocabulary.money import Money
from cases.vocabulary.work import EffectWork, ReadOutcome, SourceReading, TargetLook

SYSTEM = "transport"

type Json = Mapping[str, Any]


class Malformed(Exception):  # noqa: N818 (said of a body)
    """A body that is not what the system's contract promises."""

    def __init__(self, what: str) -> None:
        super().__init__(f"transport system sent something unusable ({what})")


def items_of(body: object) -> Sequence[Json]:
    """The records of a listing."""
    return [_object(item, "items") for item in _list(body, "items")]


def shipment_reading(
    *, body: object, messages: Sequence[Json], source_time: datetime
) -> SourceReading:
    """The shipment with what its customer was last told."""
    shipment = _object(body, "shipment")
    fields = {
        "pickup_window": _window(shipment, "pickup"),
        "delivery_window": _window(shipment, "delivery"),
        "carrier_assignment": _carrier(shipment),
        "customer_contact": _contact(shipment),
        "customer_notice": _newest_notice(messages),
        "equipment": _text(shipment, "equipment"),
        "weight": _weight(shipment),
        "lane": _text(shipment, "lane"),
    }
    return _reading("shipment", shipment, fields, source_time)


def quote_reading(*, body: Json, source_time: datetime) -> SourceReading:
    """One quote: whose rate, how much, and until when it can be booked."""
    carrier = _object(body.get("carrier"), "carrier of the quote")
    fields = {
        "rate_carrier": _party(_text(carrier, "scac"), _text(carrier, "name")),
        "rate_amount": _money(body),
        "rate_expiry": {
            "expires_at": _instant(body, "expires_at"),
            "zone": _zone(body, "expires_zone"),
            "state": _text(body, "status"),
        },
    }
    return _reading("quote", body, fields, source_time)


def booking_look(*, effect: EffectWork, items: Sequence[Json]) -> TargetLook:
    """What the booking made under the effect's reference looks like now."""
    return _look(
        effect,
        items,
        lambda body: {
            "shipment_id": _text(body, "shipment_id"),
            "quote_id": _text(body, "quote_id"),
            "scac": _text(body, "scac"),
            "amount": _money(body),
        },
    )


def message_look(*, effect: EffectWork, items: Sequence[Json]) -> TargetLook:
    """What the message sent under the effect's reference looks like now."""
    return _look(
        effect,
        items,
        lambda body: {
            name: _text(body, name) for name in ("shipment_id", "recipient", "about", "body")
        },
    )


def record_id_of(body: object) -> str:
    """The id of the record an answer is about."""
    return _text(_object(body, "answer"), "id")


def _look(
    effect: EffectWork, items: Sequence[Json], fields_of: Callable[[Json], dict[str, Value]]
) -> TargetLook:
    if not items:
        return TargetLook(
            effect_id=effect.effect_id,
            found=False,
            detail=f"Nothing carries the reference {effect.reference}.",
        )
    newest = items[-1]
    count = len(items)
    return TargetLook(
        effect_id=effect.effect_id,
        found=True,
        record_id=_text(newest, "id"),
        state=_text(newest, "status"),
        fields=fields_of(newest),
        detail=f"{count} records carry {effect.reference}; this is the newest."
        if count > 1
        else "",
    )


def _reading(
    record_type: str, body: Json, fields: dict[str, Value], source_time: datetime
) -> SourceReading:
    return SourceReading(
        system=SYSTEM,
        record_type=record_type,
        record_id=_text(body, "id"),
        outcome=ReadOutcome.READ,
        version=_whole(body, "version"),
        source_time=source_time,
        fields=fields,
    )


def _window(shipment: Json, kind: str) -> Value:
    """The window of the first stop of that kind for a pickup, of the last for a delivery."""
    stops = [_object(stop, "stops") for stop in _list(shipment, "stops")]
    stops = [stop for stop in stops if stop.get("kind") == kind]
    if not stops:
        return None
    stops.sort(key=lambda stop: _whole(stop, "sequence"))
    stop = stops[0 if kind == "pickup" else -1]
    window = _object(stop.get("window"), f"window of the {kind} stop")
    return {
        "start": _instant(window, "start"),
        "end": _instant(window, "end"),
        "zone": _zone(stop, "zone"),
    }


def _carrier(shipment: Json) -> Value:
    if "carrier" not in shipment:
        raise Malformed("carrier is missing")
    if shipment["carrier"] is None:
        return None
    carrier = _object(shipment["carrier"], "carrier")
    return _party(_text(carrier, "scac"), _text(carrier, "name"), _text(carrier, "assigned_by"))


def _contact(shipment: Json) -> Value:
    customer = _object(shipment.get("customer"), "customer")
    return _party(_text(customer, "email"), _text(customer, "name"))


def _newest_notice(messages: Sequence[Json]) -> Value:
    """The last message that did not bounce; of equally old ones the later in the list."""
    told = [message for message in messages if _text(message, "status") != "bounced"]
    if not told:
        return None
    newest = max(
        enumerate(told), key=lambda item: (instant_from(_instant(item[1], "created_at")), item[0])
    )[1]
    return {
        "about": _text(newest, "about"),
        "sent_at": _instant(newest, "created_at"),
        "sent_by": _text(newest, "sent_by"),
    }


def _party(code: str, name: str, set_by: str = "") -> Value:
    return {"code": code, "name": name, "set_by": set_by}


def _money(body: Json) -> Value:
    try:
        return Money(
            amount_minor=_whole(body, "amount_minor"), currency=_text(body, "currency")
        ).as_value()
    except InvalidInput as error:
        raise Malformed(str(error)) from error


def _weight(shipment: Json) -> str:
    text = _text(shipment, "weight_kg")
    try:
        usable = Decimal(text).is_finite()
    except InvalidOperation:
        usable = False
    if not usable:
        raise Malformed(f"weight_kg is {text!r}, which is no weight")
    return text


def _instant(body: Json, name: str) -> str:
    try:
        return iso(instant_from(_text(body, name)))
    except (InvalidInput, OverflowError) as error:
        raise Malformed(f"{name}: {error}") from error


def _zone(body: Json, name: str) -> str:
    text = _text(body, name)
    try:
        zone_named(text)
    except InvalidInput as error:
        raise Malformed(f"{name}: {error}") from error
    return text


def _text(body: Json, name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise Malformed(f"{name} is {value!r}, not text")
    return value


def _whole(body: Json, name: str) -> int:
    value = body.get(name)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Malformed(f"{name} is {value!r}, not a whole number")
    return value


def _list(body: object, name: str) -> Sequence[object]:
    value = _object(body, "answer").get(name)
    if not isinstance(value, list):
        raise Malformed(f"{name} is no list")
    return value


def _object(value: object, name: str) -> Json:
    if not isinstance(value, dict):
        raise Malformed(f"{name} is no object")
    return value

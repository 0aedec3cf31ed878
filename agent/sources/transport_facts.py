"""From the transport system's JSON to readings and looks. Pure; anything unexpected is `Malformed`.

Facts take exactly the forms of `FactKind` and the keys of the freight playbook.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from agent.sources.transport_gate import Record
from cases.vocabulary.clocks import instant_from
from cases.vocabulary.facts import Value
from cases.vocabulary.work import (
    EffectWork,
    ReadOutcome,
    SourceReading,
    TargetLook,
    VersionKind,
)

SYSTEM = "transport"
ENDED = frozenset({"delivered", "cancelled"})


def shipment_reading(
    *,
    body: object,
    messages: Sequence[object],
    source_time: datetime,
    versions: VersionKind = VersionKind.NUMBER,
) -> SourceReading:
    """The shipment with what its customer was last told."""
    shipment = Record(body, name="shipment")
    stops = [Record(stop, name="stop") for stop in shipment.entries("stops")]
    fields = {
        "pickup_window": _window(stops, "pickup"),
        "delivery_window": _window(stops, "delivery"),
        "carrier_assignment": _carrier(shipment),
        "customer_contact": _contact(shipment),
        "customer_notice": _newest_notice([Record(item, name="message") for item in messages]),
        "equipment": shipment.text("equipment"),
        "weight": shipment.weight("weight_kg"),
        "lane": shipment.text("lane"),
        "ended": _ended(shipment),
    }
    return _reading("shipment", shipment, fields, source_time, versions)


def quote_reading(
    *, body: object, source_time: datetime, versions: VersionKind = VersionKind.NUMBER
) -> SourceReading:
    """One quote: whose rate, how much, and until when it can be booked."""
    quote = Record(body, name="quote")
    carrier = quote.record("carrier")
    fields = {
        "rate_carrier": _party(carrier.key("scac"), carrier.text("name")),
        "rate_amount": quote.money(),
        "rate_expiry": {
            "expires_at": quote.instant("expires_at"),
            "zone": quote.zone("expires_zone"),
            "state": quote.word("status"),
        },
    }
    return _reading("quote", quote, fields, source_time, versions)


def booking_look(*, effect: EffectWork, items: Sequence[object]) -> TargetLook:
    """What the booking made under the effect's reference looks like now."""
    return _look(
        effect,
        items,
        lambda booking: {
            "shipment_id": booking.key("shipment_id"),
            "quote_id": booking.key("quote_id"),
            "scac": booking.key("scac"),
            "amount": booking.money(),
        },
    )


def message_look(*, effect: EffectWork, items: Sequence[object]) -> TargetLook:
    """What the message sent under the effect's reference looks like now."""
    return _look(
        effect,
        items,
        lambda message: {
            "shipment_id": message.key("shipment_id"),
            "recipient": message.address("recipient"),
            "about": message.text("about"),
            "body": message.text("body"),
        },
    )


def record_id_of(body: object) -> str:
    """The id of the record an answer is about."""
    return Record(body, name="answer").key("id")


def _look(
    effect: EffectWork, items: Sequence[object], fields_of: Callable[[Record], dict[str, Value]]
) -> TargetLook:
    if not items:
        return TargetLook(
            effect_id=effect.effect_id,
            found=False,
            detail=f"Nothing carries the reference {effect.reference}.",
        )
    newest = Record(items[-1], name="record found")
    count = len(items)
    return TargetLook(
        effect_id=effect.effect_id,
        found=True,
        record_id=newest.key("id"),
        state=newest.word("status"),
        fields=fields_of(newest),
        detail=f"{count} records carry {effect.reference}; this is the newest."
        if count > 1
        else "",
        records=count,
    )


def _reading(
    record_type: str,
    record: Record,
    fields: dict[str, Value],
    source_time: datetime,
    versions: VersionKind,
) -> SourceReading:
    has_number = versions is VersionKind.NUMBER
    return SourceReading(
        system=SYSTEM,
        record_type=record_type,
        record_id=record.key("id"),
        outcome=ReadOutcome.READ,
        version=record.whole("version") if has_number else None,
        source_time=source_time,
        fields=fields,
    )


def _window(stops: Sequence[Record], kind: str) -> Value:
    """The window of the first stop of that kind for a pickup, of the last for a delivery."""
    stops = sorted(
        (stop for stop in stops if stop.word("kind") == kind),
        key=lambda stop: stop.whole("sequence"),
    )
    if not stops:
        return None
    stop = stops[0 if kind == "pickup" else -1]
    window = stop.record("window")
    return {
        "start": window.instant("start"),
        "end": window.instant("end"),
        "zone": stop.zone("zone"),
    }


def _carrier(shipment: Record) -> Value:
    if not shipment.has("carrier"):
        return None
    carrier = shipment.record("carrier")
    return _party(carrier.key("scac"), carrier.text("name"), carrier.text("assigned_by"))


def _ended(shipment: Record) -> Value:
    """How the shipment ended, or None while it is still to be moved."""
    status = shipment.word("status")
    return status if status in ENDED else None


def _contact(shipment: Record) -> Value:
    customer = shipment.record("customer")
    return _party(customer.address("email"), customer.text("name"))


def _newest_notice(messages: Sequence[Record]) -> Value:
    """The last message that did not bounce; of equally old ones the later in the list."""
    told = [message for message in messages if message.word("status") != "bounced"]
    if not told:
        return None
    newest = max(
        enumerate(told), key=lambda item: (instant_from(item[1].instant("created_at")), item[0])
    )[1]
    return {
        "about": newest.text("about"),
        "sent_at": newest.instant("created_at"),
        "sent_by": newest.text("sent_by"),
    }


def _party(code: str, name: str, set_by: str = "") -> Value:
    return {"code": code, "name": name, "set_by": set_by}

"""Events for subscribers, queued in the transaction that brings them about.

Sending them is the courier's business, after the commit. What a fault does to a delivery is
decided here, when it is queued.
"""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from transport_sim import clock, faults, profiles
from transport_sim.models import (
    Booking,
    Fault,
    OutgoingMessage,
    Shipment,
    WebhookDelivery,
    WebhookSubscription,
    World,
)

EVENTS = (
    "booking.confirmed",
    "booking.declined",
    "message.delivered",
    "message.bounced",
    "shipment.updated",
)


@dataclass(frozen=True)
class Event:
    """What happened to which record, at which instant of the simulator's clock."""

    name: str
    record_type: str
    record_id: str
    shipment_id: str
    version: int
    status: str
    at: datetime
    client_reference: str | None = None


def announce_booking(booking: Booking, *, at: datetime) -> None:
    """Tell that a carrier confirmed or declined. Needs the transaction of the change."""
    event = Event(
        name=f"booking.{booking.status}",
        record_type="booking",
        record_id=booking.pk,
        shipment_id=booking.shipment_id,
        client_reference=booking.client_reference,
        version=booking.version,
        status=booking.status,
        at=at,
    )
    _announce(event)


def announce_message(message: OutgoingMessage, *, at: datetime) -> None:
    """Tell that a message was delivered or bounced. Needs the transaction of the change."""
    event = Event(
        name=f"message.{message.status}",
        record_type="message",
        record_id=message.pk,
        shipment_id=message.shipment_id,
        client_reference=message.client_reference or None,
        version=message.version,
        status=message.status,
        at=at,
    )
    _announce(event)


def announce_shipment(shipment: Shipment, *, at: datetime) -> None:
    """Tell that a shipment has a new version. Needs the transaction of the change."""
    event = Event(
        name="shipment.updated",
        record_type="shipment",
        record_id=shipment.pk,
        shipment_id=shipment.pk,
        version=shipment.version,
        status=shipment.status,
        at=at,
    )
    _announce(event)


def _announce(event: Event) -> None:
    # Locked, so that none of them is gone when the deliveries are committed.
    present = WebhookSubscription.objects.select_for_update(no_key=True)
    subscriptions = list(present.order_by("pk"))
    if not subscriptions:
        return
    fault = faults.take(lambda fault: fault.kind in FAULTS and fault.event in {"", event.name})
    body = _body(event)
    webhook_id = f"msg_{uuid.uuid4().hex}"
    now = clock.now()
    for subscription in subscriptions:
        delivery = WebhookDelivery(
            subscription=subscription,
            webhook_id=webhook_id,
            event=event.name,
            body=body,
            queued_at=now,
            due_at=now,
        )
        if fault is not None:
            FAULTS[fault.kind](delivery, fault)
        delivery.save(force_insert=True)


def _body(event: Event) -> str:
    data: dict[str, object] = {
        "record_type": event.record_type,
        "record_id": event.record_id,
        "shipment_id": event.shipment_id,
        "client_reference": event.client_reference,
        "version": event.version,
        "status": event.status,
    }
    shown = profiles.without(data, profiles.hidden_fields(World.objects.get()))
    content = {"type": event.name, "timestamp": clock.as_text(event.at), "data": shown}
    return json.dumps(content, ensure_ascii=False)


def _drop(delivery: WebhookDelivery, fault: Fault) -> None:
    delivery.status = "dropped"


def _duplicate(delivery: WebhookDelivery, fault: Fault) -> None:
    # The same id twice, as when the answer to the first got lost.
    WebhookDelivery.objects.create(
        subscription=delivery.subscription,
        webhook_id=delivery.webhook_id,
        event=delivery.event,
        body=delivery.body,
        queued_at=delivery.queued_at,
        due_at=delivery.due_at,
    )


def _delay(delivery: WebhookDelivery, fault: Fault) -> None:
    delivery.due_at += timedelta(seconds=fault.seconds)


def _reorder(delivery: WebhookDelivery, fault: Fault) -> None:
    _delay(delivery, fault)
    delivery.held = True


FAULTS: dict[str, Callable[[WebhookDelivery, Fault], None]] = {
    "webhook_drop": _drop,
    "webhook_duplicate": _duplicate,
    "webhook_delay": _delay,
    "webhook_reorder": _reorder,
}


def subscribe(*, url: str, secret: str, clock_name: str) -> dict[str, object]:
    """Send every event from now on to ``url``, signed with ``secret``."""
    return _subscription_json(
        WebhookSubscription.objects.create(url=url, secret=secret, clock=clock_name)
    )


def unsubscribe_all() -> None:
    """Forget all subscribers and what was sent to them."""
    WebhookSubscription.objects.all().delete()


def subscriptions() -> list[dict[str, object]]:
    """All subscribers, oldest first; their secrets are not shown."""
    return [_subscription_json(one) for one in WebhookSubscription.objects.order_by("pk")]


def deliveries() -> list[dict[str, object]]:
    """All deliveries, oldest first, whatever became of them."""
    found = WebhookDelivery.objects.select_related("subscription").order_by("pk")
    return [_delivery_json(delivery) for delivery in found]


def _subscription_json(subscription: WebhookSubscription) -> dict[str, object]:
    return {"id": subscription.pk, "url": subscription.url, "clock": subscription.clock}


def _delivery_json(delivery: WebhookDelivery) -> dict[str, object]:
    return {
        "sequence": delivery.pk,
        "url": delivery.subscription.url,
        "webhook_id": delivery.webhook_id,
        "event": delivery.event,
        "body": json.loads(delivery.body),
        "status": delivery.status,
        "attempts": delivery.attempts,
        "answer_status": delivery.answer_status,
        "error": delivery.error,
        "queued_at": clock.as_text(delivery.queued_at),
        "due_at": clock.as_text(delivery.due_at),
        "delivered_at": clock.as_optional_text(delivery.delivered_at),
    }

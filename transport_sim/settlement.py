"""What the passing of time brings about: carriers confirm, messages arrive.

Whoever calls next finds everything that is due already done, so that a moved clock shows at
once. While somebody subscribes to events the courier calls all the time.
"""

from django.db import transaction

from transport_sim import clock, journal, webhooks
from transport_sim.models import Booking, OutgoingMessage

MAIL = "delivery-service"


def settle_due() -> None:
    """Bring every booking and message up to the simulator's present instant."""
    now = clock.now()
    bookings = Booking.objects.filter(status="received", confirm_due_at__lte=now)
    messages = OutgoingMessage.objects.filter(status="queued", deliver_due_at__lte=now)
    if bookings.exists():
        with transaction.atomic():
            for booking in bookings.select_for_update().order_by("pk"):
                _confirm(booking)
    if messages.exists():
        with transaction.atomic():
            for message in messages.select_for_update().order_by("pk"):
                _deliver(message)


def _confirm(booking: Booking) -> None:
    booking.status = "confirmed"
    booking.confirmed_at = booking.confirm_due_at
    booking.version += 1
    booking.save(update_fields=["status", "confirmed_at", "version"])
    journal.record_change(
        record_type="booking",
        record_id=booking.pk,
        shipment_id=booking.shipment_id,
        version=booking.version,
        at=booking.confirm_due_at,
        by=booking.scac,
    )
    webhooks.announce_booking(booking, at=booking.confirm_due_at)


def _deliver(message: OutgoingMessage) -> None:
    message.status = "delivered"
    message.delivered_at = message.deliver_due_at
    message.version += 1
    message.save(update_fields=["status", "delivered_at", "version"])
    journal.record_change(
        record_type="message",
        record_id=message.pk,
        shipment_id=message.shipment_id,
        version=message.version,
        at=message.deliver_due_at,
        by=MAIL,
    )
    webhooks.announce_message(message, at=message.deliver_due_at)

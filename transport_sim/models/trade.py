"""What is agreed and said about a shipment: quotes, bookings and messages."""

from django.db import models

from transport_sim.models.shipments import Shipment

# "expired" is never stored: the clock decides it at each reading.
STORED_QUOTE_STATUSES = ("open", "used", "withdrawn")
BOOKING_STATUSES = ("received", "confirmed", "declined", "cancelled")
ACTIVE_BOOKING_STATUSES = ("received", "confirmed")
MESSAGE_STATUSES = ("queued", "sent", "delivered", "bounced")


class Quote(models.Model):
    """A carrier's price for a shipment, honoured until it expires. Minor units of currency."""

    id = models.CharField(primary_key=True, max_length=64)
    version = models.PositiveIntegerField(default=1)
    shipment = models.ForeignKey(Shipment, on_delete=models.CASCADE)
    shipment_id: str
    carrier_scac = models.CharField(max_length=8)
    carrier_name = models.CharField(max_length=200)
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    service = models.CharField(max_length=64)
    status = models.CharField(max_length=16, default="open")
    expires_at = models.DateTimeField()
    expires_zone = models.CharField(max_length=64)

    class Meta:
        """What must hold whoever writes."""

        constraints = (
            models.CheckConstraint(
                condition=models.Q(status__in=STORED_QUOTE_STATUSES),
                name="quote_status_is_known",
            ),
        )


class Booking(models.Model):
    """A carrier ordered at a quote; received at once, confirmed when due. Minor units."""

    id = models.CharField(primary_key=True, max_length=64)
    version = models.PositiveIntegerField(default=1)
    shipment = models.ForeignKey(Shipment, on_delete=models.CASCADE)
    shipment_id: str
    quote_id = models.CharField(max_length=64)
    scac = models.CharField(max_length=8)
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    client_reference = models.CharField(max_length=200, db_index=True)
    status = models.CharField(max_length=16, default="received")
    created_at = models.DateTimeField()
    confirm_due_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True)
    # False where the system was told to take a second order for the same shipment.
    exclusive = models.BooleanField(default=True)

    class Meta:
        """What must hold whoever writes."""

        constraints = (
            models.CheckConstraint(
                condition=models.Q(status__in=BOOKING_STATUSES), name="booking_status_is_known"
            ),
            models.UniqueConstraint(
                fields=("shipment",),
                condition=models.Q(status__in=ACTIVE_BOOKING_STATUSES, exclusive=True),
                name="one_active_booking_per_shipment",
            ),
        )
        indexes = (
            models.Index(
                fields=("confirm_due_at",),
                condition=models.Q(status="received"),
                name="booking_to_confirm",
            ),
        )


class OutgoingMessage(models.Model):
    """A message to a customer or carrier; queued at once, delivered when due.

    `about` says in comparable words what it promises; `sent_by` is the principal or employee.
    """

    id = models.CharField(primary_key=True, max_length=64)
    version = models.PositiveIntegerField(default=1)
    shipment = models.ForeignKey(Shipment, on_delete=models.CASCADE)
    shipment_id: str
    recipient = models.CharField(max_length=200)
    channel = models.CharField(max_length=32)
    template = models.CharField(max_length=64)
    about = models.CharField(max_length=200)
    sent_by = models.CharField(max_length=100)
    body = models.TextField()
    client_reference = models.CharField(max_length=200, db_index=True)
    status = models.CharField(max_length=16, default="queued")
    created_at = models.DateTimeField()
    deliver_due_at = models.DateTimeField()
    delivered_at = models.DateTimeField(null=True)

    class Meta:
        """What must hold whoever writes."""

        constraints = (
            models.CheckConstraint(
                condition=models.Q(status__in=MESSAGE_STATUSES), name="message_status_is_known"
            ),
        )
        indexes = (
            models.Index(
                fields=("deliver_due_at",),
                condition=models.Q(status="queued"),
                name="message_to_deliver",
            ),
        )

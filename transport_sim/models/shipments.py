"""Shipments and their stops."""

from django.db import models

SHIPMENT_STATUSES = ("uncovered", "booked", "in_transit", "delivered", "cancelled")
STOP_KINDS = ("pickup", "delivery")


class Shipment(models.Model):
    """A load to be moved. Its row lock guards everything that happens to it."""

    id = models.CharField(primary_key=True, max_length=64)
    version = models.PositiveIntegerField()
    updated_at = models.DateTimeField()
    updated_by = models.CharField(max_length=100)
    status = models.CharField(max_length=16)
    customer_code = models.CharField(max_length=64)
    customer_name = models.CharField(max_length=200)
    customer_email = models.CharField(max_length=200)
    customer_tier = models.PositiveSmallIntegerField()
    equipment = models.CharField(max_length=32)
    weight_kg = models.DecimalField(max_digits=10, decimal_places=3)
    lane = models.CharField(max_length=64)
    carrier_scac = models.CharField(max_length=8, null=True)
    carrier_name = models.CharField(max_length=200, null=True)
    carrier_assigned_by = models.CharField(max_length=100, null=True)
    carrier_assigned_at = models.DateTimeField(null=True)
    carrier_booking_id = models.CharField(max_length=64, null=True)

    class Meta:
        """What must hold whoever writes."""

        constraints = (
            models.CheckConstraint(
                condition=models.Q(status__in=SHIPMENT_STATUSES),
                name="shipment_status_is_known",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    carrier_scac__isnull=True,
                    carrier_name__isnull=True,
                    carrier_assigned_by__isnull=True,
                    carrier_assigned_at__isnull=True,
                    carrier_booking_id__isnull=True,
                )
                | models.Q(
                    carrier_scac__isnull=False,
                    carrier_name__isnull=False,
                    carrier_assigned_by__isnull=False,
                    carrier_assigned_at__isnull=False,
                ),
                name="shipment_carrier_is_whole_or_absent",
            ),
            models.CheckConstraint(
                condition=~models.Q(status="uncovered", carrier_scac__isnull=False)
                & ~models.Q(status="booked", carrier_scac__isnull=True),
                name="shipment_status_agrees_with_carrier",
            ),
        )
        indexes = (models.Index(fields=("updated_at", "id"), name="shipment_by_update"),)


class Stop(models.Model):
    """A place the shipment calls at, with its appointment window [start, end)."""

    id = models.CharField(primary_key=True, max_length=64)
    shipment = models.ForeignKey(Shipment, on_delete=models.CASCADE)
    shipment_id: str
    sequence = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=16)
    place = models.CharField(max_length=200)
    zone = models.CharField(max_length=64)
    window_start = models.DateTimeField()
    window_end = models.DateTimeField()

    class Meta:
        """What must hold whoever writes."""

        constraints = (
            models.UniqueConstraint(fields=("shipment", "sequence"), name="stop_sequence_once"),
            models.CheckConstraint(
                condition=models.Q(window_end__gt=models.F("window_start")),
                name="stop_window_ends_after_it_starts",
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=STOP_KINDS), name="stop_kind_is_known"
            ),
        )

"""The simulated world as a whole: its clock, its settings, its faults and the calls it got."""

from datetime import timedelta

from django.db import models


class World(models.Model):
    """The one row that says which scenario is loaded and how this world behaves."""

    scenario = models.CharField(max_length=64, blank=True, default="")
    clock_offset = models.DurationField(default=timedelta(0))
    booking_confirm_seconds = models.FloatField(default=1.0)
    message_deliver_seconds = models.FloatField(default=1.0)
    idempotency_key_seconds = models.FloatField(default=86_400.0)
    rate_limit = models.PositiveIntegerField(default=6_000)
    rate_window_seconds = models.PositiveIntegerField(default=60)
    profile = models.CharField(max_length=32, default="modern")
    idempotency_keys = models.BooleanField(default=True)
    versions = models.BooleanField(default=True)
    record_locks = models.BooleanField(default=False)
    lookup_by_reference = models.BooleanField(default=True)
    one_booking_per_shipment = models.BooleanField(default=True)

    class Meta:
        """One row, and no other."""

        constraints = (
            models.CheckConstraint(condition=models.Q(id=1), name="world_is_a_single_row"),
        )


class Fault(models.Model):
    """A misbehaviour that was ordered: for which calls or webhooks, how often, for how long."""

    kind = models.CharField(max_length=32)
    method = models.CharField(max_length=8, blank=True, default="")
    path_prefix = models.CharField(max_length=200, blank=True, default="")
    event = models.CharField(max_length=32, blank=True, default="")
    times_left = models.PositiveIntegerField(null=True)
    seconds = models.FloatField()


class Call(models.Model):
    """One request to /v1: written when it arrives, completed when it is answered.

    `at` is the arrival on the simulator's clock, `real_at` the same moment on the real one.
    """

    at = models.DateTimeField()
    real_at = models.DateTimeField()
    method = models.CharField(max_length=16)
    path = models.CharField(max_length=500)
    query = models.CharField(max_length=2_000, blank=True)
    idempotency_key = models.CharField(max_length=255, null=True)
    fencing_token = models.CharField(max_length=64, null=True)
    status = models.PositiveSmallIntegerField(null=True)
    duration_ms = models.PositiveIntegerField(null=True)

"""How concurrent writers are kept apart: idempotency keys, leases, fencing tokens, locks."""

from django.db import models

from transport_sim.models.shipments import Shipment

HOLDER_KINDS = ("agent", "person")


class StoredAnswer(models.Model):
    """The answer given under an idempotency key, kept until the key expires."""

    principal = models.CharField(max_length=100)
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    location = models.CharField(max_length=200)
    body = models.TextField()
    expires_at = models.DateTimeField()

    class Meta:
        """One answer per key."""

        constraints = (
            models.UniqueConstraint(fields=("principal", "key"), name="one_answer_per_key"),
        )


class Fence(models.Model):
    """The highest fencing token ever granted for a resource. Never lowered, never deleted."""

    resource = models.CharField(primary_key=True, max_length=128)
    last_token = models.PositiveBigIntegerField(default=0)


class Lease(models.Model):
    """A short claim on a resource; the one with the fence's last token is the current one."""

    id = models.UUIDField(primary_key=True)
    resource = models.CharField(max_length=128)
    holder = models.CharField(max_length=200)
    holder_kind = models.CharField(max_length=16, default="agent")
    fencing_token = models.PositiveBigIntegerField()
    expires_at = models.DateTimeField()
    released_at = models.DateTimeField(null=True)

    class Meta:
        """A token is granted once."""

        constraints = (
            models.UniqueConstraint(
                fields=("resource", "fencing_token"), name="fencing_token_granted_once"
            ),
            models.CheckConstraint(
                condition=models.Q(holder_kind__in=HOLDER_KINDS), name="lease_holder_is_known"
            ),
        )


class OpenRecord(models.Model):
    """A shipment that an employee has open on the screen, and since when."""

    shipment = models.OneToOneField(Shipment, primary_key=True, on_delete=models.CASCADE)
    shipment_id: str
    employee = models.CharField(max_length=100)
    since = models.DateTimeField()

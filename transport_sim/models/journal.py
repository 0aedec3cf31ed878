"""What happened: the change feed for readers and the ledger of true effects."""

from django.db import models

CHANGED_RECORDS = ("shipment", "quote", "booking", "message")
EFFECT_KINDS = ("booking", "message", "shipment_update")


class Journal(models.Model):
    """The counters behind every sequence and number given out.

    They live in one row that a writer keeps locked until its commit, so that numbers become
    visible in the order in which they were given. They survive a reset.
    """

    changes = models.PositiveBigIntegerField(default=0)
    entries = models.PositiveBigIntegerField(default=0)
    bookings = models.PositiveBigIntegerField(default=0)
    messages = models.PositiveBigIntegerField(default=0)

    class Meta:
        """One row, and no other."""

        constraints = (
            models.CheckConstraint(condition=models.Q(id=1), name="journal_is_a_single_row"),
        )


class Change(models.Model):
    """A record got a new version; `shipment_id` is the shipment to which it belongs."""

    sequence = models.PositiveBigIntegerField(primary_key=True)
    record_type = models.CharField(max_length=16)
    record_id = models.CharField(max_length=64)
    shipment_id = models.CharField(max_length=64)
    version = models.PositiveIntegerField()
    at = models.DateTimeField()
    by = models.CharField(max_length=100)

    class Meta:
        """What must hold whoever writes."""

        constraints = (
            models.CheckConstraint(
                condition=models.Q(record_type__in=CHANGED_RECORDS), name="change_type_is_known"
            ),
        )


class LedgerEntry(models.Model):
    """One true effect, by anybody."""

    sequence = models.PositiveBigIntegerField(primary_key=True)
    at = models.DateTimeField()
    kind = models.CharField(max_length=32)
    principal = models.CharField(max_length=100)
    record_id = models.CharField(max_length=64)
    shipment_id = models.CharField(max_length=64, db_index=True)
    client_reference = models.CharField(max_length=200, null=True)
    idempotency_key = models.CharField(max_length=255, null=True)
    fencing_token = models.PositiveBigIntegerField(null=True)
    details = models.JSONField()

    class Meta:
        """What must hold whoever writes."""

        constraints = (
            models.CheckConstraint(
                condition=models.Q(kind__in=EFFECT_KINDS), name="effect_kind_is_known"
            ),
        )

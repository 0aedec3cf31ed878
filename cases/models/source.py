"""Records in outside systems and what was seen of them."""

from django.db import models
from django.db.models import Q


class SourceRecord(models.Model):
    """A record in an outside system, such as shipment S-318 in the transport system.

    `latest` is its newest successful observation, `last_attempt` its newest one of any outcome.
    `named_at` says since when the source's change feed names it, and nobody read it since.
    """

    system = models.CharField(max_length=32)
    record_type = models.CharField(max_length=32)
    record_id = models.CharField(max_length=300)
    latest = models.ForeignKey(
        "cases.Observation", on_delete=models.PROTECT, null=True, related_name="+"
    )
    last_attempt = models.ForeignKey(
        "cases.Observation", on_delete=models.PROTECT, null=True, related_name="+"
    )
    highest_version = models.BigIntegerField(null=True)
    named_at = models.DateTimeField(null=True)

    class Meta:
        """A record stands once per system."""

        constraints = (
            models.UniqueConstraint(
                fields=("system", "record_type", "record_id"), name="one_row_per_source_record"
            ),
        )

    def __str__(self) -> str:
        """`shipment S-318`."""
        return f"{self.record_type} {self.record_id}"


class Observation(models.Model):
    """One reading of a source record: read, missing, or failed with the reason.

    `observed_at` is the business time at which it was asked for, `source_time` the source's own
    clock then, `version` the source's version number when it has one, `etag` its tag when it has
    those instead, `fields` the selected facts; the first of them that ends by the clock does so at
    `holds_until`.
    """

    class Outcome(models.TextChoices):
        """How the reading ended."""

        READ = "read", "read"
        MISSING = "missing", "not found"
        FAILED = "failed", "failed"

    record = models.ForeignKey(SourceRecord, on_delete=models.PROTECT, related_name="observations")
    outcome = models.CharField(max_length=8, choices=Outcome)
    observed_at = models.DateTimeField()
    source_time = models.DateTimeField(null=True)
    version = models.BigIntegerField(null=True)
    etag = models.CharField(max_length=300, blank=True, default="")
    fingerprint = models.CharField(max_length=64, blank=True, default="")
    fields = models.JSONField(default=dict)
    failure = models.TextField(blank=True, default="")
    holds_until = models.DateTimeField(null=True)

    class Meta:
        """A failed reading says why and carries no facts; a successful one carries facts."""

        constraints = (
            models.CheckConstraint(
                condition=Q(outcome="failed", fingerprint="") & ~Q(failure="")
                | Q(outcome="missing", fingerprint="", failure="")
                | Q(outcome="read", failure="") & ~Q(fingerprint=""),
                name="observation_is_read_or_says_why_not",
            ),
        )
        indexes = (models.Index(fields=("record", "-id"), name="observations_newest_first"),)

    def __str__(self) -> str:
        """`shipment S-318 v42 read`."""
        version = "" if self.version is None else f" v{self.version}"
        return f"{self.record}{version} {self.outcome}"

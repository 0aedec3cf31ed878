"""How every record looked before: what a stale read shows."""

from django.db import models


class PastState(models.Model):
    """One row of another table as it was from ``at`` on. Only a reset removes rows.

    Written by triggers, read through views (see the migration 0004_past).
    """

    table_name = models.CharField(max_length=64)
    record_id = models.CharField(max_length=64)
    at = models.DateTimeField()
    record = models.JSONField()

    class Meta:
        """The newest state before an instant is found at once."""

        indexes = (models.Index(fields=("table_name", "record_id", "-id"), name="past_by_record"),)

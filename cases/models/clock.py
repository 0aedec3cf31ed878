"""The offset of the business clock, zero outside demo and tests, and requests to move it."""

from datetime import timedelta

from django.db import models
from django.db.models import Q


class ClockOffset(models.Model):
    """One row: what the SQL function `business_now()` adds to the database's clock."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    offset = models.DurationField(default=timedelta())

    class Meta:
        """There is one business clock."""

        constraints = (models.CheckConstraint(condition=models.Q(id=1), name="one_business_clock"),)


class ClockRequest(models.Model):
    """Someone at the demo asked to let time pass until `until`; the demo's own process does it.

    `progress` is the sentence the page shows meanwhile.
    """

    until = models.DateTimeField()
    asked_by = models.CharField(max_length=200)
    asked_at = models.DateTimeField()
    progress = models.CharField(max_length=200, blank=True, default="")
    done_at = models.DateTimeField(null=True)

    class Meta:
        """One request at a time."""

        constraints = (
            models.UniqueConstraint(
                fields=("done_at",),
                condition=Q(done_at=None),
                nulls_distinct=False,
                name="one_clock_request_at_a_time",
            ),
        )

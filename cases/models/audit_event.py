"""The audit: one row per thing that happened, chained per case, never changed."""

from django.db import models
from django.db.models import Q


class AuditEvent(models.Model):
    """Who did what to a case, when and on what basis.

    `case_id` 0 is the chain of the house (people, desks, agents). Labels and ids are copied, so a
    row outlives what it describes. `digest` covers the row and `previous_digest`, the digest of the
    case's event before it. A trigger refuses UPDATE and DELETE.
    """

    case_id = models.BigIntegerField()
    sequence = models.PositiveIntegerField()
    at = models.DateTimeField()
    actor_kind = models.CharField(max_length=8)
    actor_name = models.CharField(max_length=200)
    actor_id = models.CharField(max_length=64, blank=True, default="")
    event = models.CharField(max_length=48)
    case_version = models.PositiveIntegerField()
    data = models.JSONField(default=dict)
    request_id = models.CharField(max_length=64, blank=True, default="")
    previous_digest = models.CharField(max_length=64, blank=True, default="")
    digest = models.CharField(max_length=64)

    class Meta:
        """Events of a case have no gaps and no twins; those of blocking are found by time."""

        ordering = ("case_id", "sequence")
        constraints = (
            models.UniqueConstraint(fields=("case_id", "sequence"), name="one_event_per_sequence"),
        )
        indexes = (
            models.Index(
                fields=("at",),
                condition=Q(event="case_blocked")
                | Q(event="stage_entered", data__before="blocked"),
                name="blocking_by_time",
            ),
        )

"""Events that came in from outside systems: kept before anything is made of them."""

from django.db import models
from django.db.models import Q

from cases.models.case import Case


class InboundEvent(models.Model):
    """One signed message from a source, its `content` kept as it came.

    The same `event_id` counts once; other content under a known id is quarantined. `occurred_at` is
    the source's instant, `received_at` business time. `reference` and `subject` are what it says it
    is about. What it led to is `state`, with `detail` in words and the case it concerned, if any.
    """

    class State(models.TextChoices):
        """What became of it."""

        RECEIVED = "received", "Received"
        APPLIED = "applied", "Applied"
        IGNORED = "ignored", "Nothing to do"
        QUARANTINED = "quarantined", "Quarantined"

    system = models.CharField(max_length=32)
    event_id = models.CharField(max_length=128)
    event_type = models.CharField(max_length=64, blank=True, default="")
    occurred_at = models.DateTimeField(null=True)
    received_at = models.DateTimeField()
    content = models.BinaryField()
    content_digest = models.CharField(max_length=64)
    reference = models.CharField(max_length=80, blank=True, default="")
    subject = models.CharField(max_length=300, blank=True, default="")
    case = models.ForeignKey(
        Case, on_delete=models.PROTECT, null=True, related_name="inbound_events"
    )
    state = models.CharField(max_length=16, choices=State.choices, default=State.RECEIVED)
    detail = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        """An event is kept once, says what became of it, and is found while it waits."""

        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("system", "event_id", "content_digest"), name="event_is_kept_once"
            ),
            models.UniqueConstraint(
                fields=("system", "event_id"),
                condition=~Q(state="quarantined"),
                name="event_id_counts_once",
            ),
            models.CheckConstraint(
                condition=Q(state="received", detail="") | ~Q(state="received") & ~Q(detail=""),
                name="event_says_what_became_of_it",
            ),
            models.CheckConstraint(
                condition=~Q(state="applied") | Q(case__isnull=False),
                name="applied_event_names_its_case",
            ),
        )
        indexes = (
            models.Index(
                fields=("id",), condition=Q(state="received"), name="events_to_be_applied"
            ),
        )

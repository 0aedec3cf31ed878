"""Escalations: somebody was to act by a time and did not, so the case was put before the next."""

from django.db import models
from django.db.models import Q

from cases.models.case import Case
from cases.models.person import Person


class Escalation(models.Model):
    """That a case was put before a person (`to`), why, and how it ended; one runs per cause.

    `next_to` is called at `next_at` if it still runs then. Instants are business time.
    """

    class Cause(models.TextChoices):
        """Why it was escalated."""

        NOT_DECIDED = "not_decided", "Not decided in time"
        NOT_ADOPTED = "not_adopted", "Not adopted in time"
        OFF_SHIFT = "off_shift", "Owner is off shift"
        NO_OWNER = "no_owner", "No owner is available"
        BY_PERSON = "by_person", "Escalated by a person"

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="escalations")
    cause = models.CharField(max_length=16, choices=Cause.choices)
    reason = models.CharField(max_length=300)
    to = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    started_at = models.DateTimeField()
    next_at = models.DateTimeField(null=True)
    next_to = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    ended_at = models.DateTimeField(null=True)
    ended_reason = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        """One running escalation per case and cause; an ended one says why."""

        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("case", "cause"),
                condition=Q(ended_at=None),
                name="one_running_escalation_per_cause",
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, ended_reason="")
                | Q(ended_at__isnull=False) & ~Q(ended_reason=""),
                name="ended_escalation_says_why",
            ),
            models.CheckConstraint(
                condition=Q(next_at=None, next_to=None)
                | Q(next_at__isnull=False, next_to__isnull=False),
                name="next_call_says_when_and_who",
            ),
        )


ABOUT_THE_OWNER = (Escalation.Cause.OFF_SHIFT, Escalation.Cause.NO_OWNER)
"""What runs because the case's owner is not there."""

"""Escalations: somebody was to act by a time and did not, so the case was put before the next."""

from django.db import models
from django.db.models import Q

from cases.models.case import Case
from cases.models.person import Person


class Escalation(models.Model):
    """That a case was put before a person (`to`), why, and how it ended; one runs at a time.

    Instants are business time.
    """

    class Cause(models.TextChoices):
        """Why it was escalated."""

        NOT_DECIDED = "not_decided", "Not decided in time"
        NOT_ADOPTED = "not_adopted", "Not adopted in time"

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="escalations")
    cause = models.CharField(max_length=16, choices=Cause.choices)
    reason = models.CharField(max_length=300)
    to = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    ended_reason = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        """One running escalation per case; an ended one says why."""

        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("case",), condition=Q(ended_at=None), name="one_running_escalation"
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, ended_reason="")
                | Q(ended_at__isnull=False) & ~Q(ended_reason=""),
                name="ended_escalation_says_why",
            ),
        )

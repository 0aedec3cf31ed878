"""What people write down about a case for whoever comes after them."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from cases.models.case import Case


class CaseLine(models.Model):
    """One line of a case that lives until somebody ends it.

    `party` is to whom something was promised, on whom the case waits, or whom not to disturb;
    `due_at` when it falls due, shown in `due_zone`. Instants are business time.
    """

    class Sort(models.TextChoices):
        """What the line is."""

        NEXT_STEP = "next_step", "Next step"
        IF_THEN = "if_then", "If … then"
        PROMISE = "promise", "Promise"
        DO_NOT = "do_not", "Do not"
        WAITING_ON = "waiting_on", "Waiting on"
        NOTE = "note", "Note"

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="lines")
    sort = models.CharField(max_length=12, choices=Sort.choices)
    text = models.TextField()
    party = models.CharField(max_length=200, blank=True, default="")
    due_at = models.DateTimeField(null=True)
    due_zone = models.CharField(max_length=64, blank=True, default="")
    written_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    written_by_name = models.CharField(max_length=200)
    written_at = models.DateTimeField()
    ended_by = models.CharField(max_length=200, blank=True, default="")
    ended_at = models.DateTimeField(null=True)
    ended_reason = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        """A line says something; a due time names its zone."""

        ordering = ("id",)
        constraints = (
            models.CheckConstraint(condition=~Q(text=""), name="case_line_says_something"),
            models.CheckConstraint(
                condition=Q(due_at=None, due_zone="") | Q(due_at__isnull=False) & ~Q(due_zone=""),
                name="due_line_names_its_zone",
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, ended_by="")
                | Q(ended_at__isnull=False) & ~Q(ended_by=""),
                name="ended_line_says_by_whom",
            ),
        )

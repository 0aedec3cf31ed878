"""Goals of a case: from its playbook, and people's own."""

from django.db import models
from django.db.models import Q

from cases.models.case import Case


class Goal(models.Model):
    """Something the case must achieve. `key` is the playbook's name for it, or empty for people's.

    A playbook's goal is achieved when the facts show it, a person's when a person says so; either
    can be dropped by a person, with a reason. Instants are business time.
    """

    class State(models.TextChoices):
        """Where it stands, as people said; facts are asked beside it."""

        OPEN = "open", "Open"
        ACHIEVED = "achieved", "Achieved"
        DROPPED = "dropped", "Dropped"

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="goals")
    key = models.CharField(max_length=64, blank=True, default="")
    label = models.CharField(max_length=200)
    added_by = models.CharField(max_length=200, blank=True, default="")
    added_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    settled_by = models.CharField(max_length=200, blank=True, default="")
    settled_at = models.DateTimeField(null=True)
    reason = models.TextField(blank=True, default="")

    class Meta:
        """A playbook's goal is on a case once; a settled one says by whom and when."""

        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("case", "key"), condition=~Q(key=""), name="one_goal_of_that_key"
            ),
            models.CheckConstraint(
                condition=Q(state="open", settled_by="", settled_at=None)
                | ~Q(state="open") & ~Q(settled_by="") & Q(settled_at__isnull=False),
                name="settled_goal_says_by_whom",
            ),
            models.CheckConstraint(
                condition=~Q(state="dropped") | ~Q(reason=""), name="dropped_goal_says_why"
            ),
        )

"""The kill switch: pauses that stand until a named person lifts them."""

from django.db import models
from django.db.models import Q


class Pause(models.Model):
    """Agents start no call in this scope until the pause is lifted.

    An empty `lane`, `kind` or `agent` means all of them; all three empty is the global pause.
    Instants are business time.
    """

    lane = models.CharField(max_length=16, blank=True, default="")
    kind = models.CharField(max_length=32, blank=True, default="")
    agent = models.CharField(max_length=64, blank=True, default="")
    reason = models.TextField()
    set_by = models.CharField(max_length=200)
    set_at = models.DateTimeField()
    lifted_by = models.CharField(max_length=200, blank=True, default="")
    lifted_at = models.DateTimeField(null=True)
    lift_reason = models.TextField(blank=True, default="")

    class Meta:
        """One standing pause per scope; a lifted one says by whom, when and why."""

        ordering = ("set_at", "id")
        constraints = (
            models.UniqueConstraint(
                fields=("lane", "kind", "agent"),
                condition=Q(lifted_at=None),
                name="one_standing_pause_per_scope",
            ),
            models.CheckConstraint(
                condition=Q(lifted_at=None, lifted_by="", lift_reason="")
                | (Q(lifted_at__isnull=False) & ~Q(lifted_by="") & ~Q(lift_reason="")),
                name="lifted_pause_says_by_whom_and_why",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="pause_has_a_reason"),
        )

    def __str__(self) -> str:
        """What is paused, in words: `execution · freight_exception`, or `everything`."""
        parts = [part for part in (self.lane, self.kind, self.agent) if part]
        return " · ".join(parts) or "everything"

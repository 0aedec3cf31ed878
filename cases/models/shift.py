"""The week of a desk: when its shifts start."""

from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from cases.models.desk import Desk
from cases.vocabulary.shifts import ShiftStart


class ShiftPattern(models.Model):
    """A shift starts at `starts_at` (wall time in the desk's zone) on `days` (Monday is 0).

    It lasts until the next one starts; people of the shift before stay for `overlap_minutes`.
    """

    desk = models.ForeignKey(Desk, on_delete=models.PROTECT, related_name="shifts")
    name = models.CharField(max_length=40)
    starts_at = models.TimeField()
    days = ArrayField(models.PositiveSmallIntegerField())
    overlap_minutes = models.PositiveSmallIntegerField(default=0)

    class Meta:
        """Shifts of a desk have names of their own and start on some day."""

        ordering = ("desk", "starts_at", "id")
        constraints = (
            models.UniqueConstraint(fields=("desk", "name"), name="one_shift_of_that_name"),
            models.CheckConstraint(condition=~Q(days=[]), name="shift_starts_on_some_day"),
        )

    def __str__(self) -> str:
        """The shift's name."""
        return self.name

    def as_start(self) -> ShiftStart:
        """The same for the pure rules."""
        return ShiftStart(
            name=self.name,
            at=self.starts_at,
            days=frozenset(self.days),
            overlap=timedelta(minutes=self.overlap_minutes),
        )

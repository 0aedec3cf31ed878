"""A desk: the place, zone and shift boundaries that cases belong to."""

from datetime import time

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models


def usual_shift_starts() -> list[time]:
    """Day shift from 08:00, evening shift from 17:00, in the desk's zone."""
    return [time(8, 0), time(17, 0)]


class Desk(models.Model):
    """A desk with its IANA zone; `shift_starts` are wall times in that zone.

    `lead` answers for cases that have no owner when they need one.
    """

    name = models.CharField(max_length=80, unique=True)
    zone = models.CharField(max_length=64)
    lead = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="led_desks"
    )
    shift_starts = ArrayField(models.TimeField(), default=usual_shift_starts)

    def __str__(self) -> str:
        """The desk's name."""
        return self.name

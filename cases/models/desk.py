"""A desk: the place and zone that cases belong to, and who answers for it."""

from django.conf import settings
from django.db import models


class Desk(models.Model):
    """A desk with its IANA zone; its shifts are `ShiftPattern` rows.

    `lead` answers for cases that have no owner when they need one, and `manager` when the lead
    cannot or does not.
    """

    name = models.CharField(max_length=80, unique=True)
    zone = models.CharField(max_length=64)
    lead = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="led_desks"
    )
    manager = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="managed_desks"
    )

    def __str__(self) -> str:
        """The desk's name."""
        return self.name

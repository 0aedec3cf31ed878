"""People who work at the desk."""

from django.contrib.auth.models import AbstractUser
from django.db import models


class Role(models.TextChoices):
    """What a person may do; the rules are in `cases.policies`."""

    OPERATOR = "operator", "Operator"
    LEAD = "lead", "Lead"
    ADMIN = "admin", "Admin"
    AUDITOR = "auditor", "Auditor"


class Person(AbstractUser):
    """A named person with one role and the zone in which they read times."""

    role = models.CharField(max_length=16, choices=Role, default=Role.OPERATOR)
    zone = models.CharField(max_length=64, default="America/Chicago")

    class Meta:
        """People are listed by name."""

        ordering = ("last_name", "first_name", "id")
        verbose_name = "person"
        verbose_name_plural = "people"

    def __str__(self) -> str:
        """The name on screen and in the audit: `M. Ortega`, or the login name without one."""
        return self.get_full_name() or self.username

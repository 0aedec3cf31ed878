"""People who work at the desk."""

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import ValidationError
from django.db import models

from cases.vocabulary.clocks import zone_named
from cases.vocabulary.errors import InvalidInput

LONGEST_NAME = 200
"""What the record keeps of a name, wherever it keeps one."""


def check_zone(name: str) -> None:
    """Raise `ValidationError` unless times can be shown in the zone of that name."""
    try:
        zone_named(name)
    except InvalidInput as error:
        raise ValidationError(str(error), code="invalid_zone") from error


class Role(models.TextChoices):
    """What a person may do; the rules are in `cases.policies`."""

    OPERATOR = "operator", "Operator"
    LEAD = "lead", "Lead"
    ADMIN = "admin", "Admin"
    AUDITOR = "auditor", "Auditor"


class Person(AbstractUser):
    """A named person with one role and the zone in which they read times."""

    role = models.CharField(max_length=16, choices=Role, default=Role.OPERATOR)
    zone = models.CharField(max_length=64, default="America/Chicago", validators=[check_zone])

    class Meta:
        """People are listed by name."""

        ordering = ("last_name", "first_name", "id")
        verbose_name = "person"
        verbose_name_plural = "people"

    def __str__(self) -> str:
        """The name on screen and in the audit: `M. Ortega`, or the login name without one."""
        return (self.get_full_name() or self.username)[:LONGEST_NAME]

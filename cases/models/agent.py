"""The agents that may work on cases."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models


class AgentIdentity(models.Model):
    """An agent's name and version, what it may do, and the person who answers for it."""

    name = models.CharField(max_length=64)
    version = models.CharField(max_length=32)
    scopes = ArrayField(models.CharField(max_length=32), default=list)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    is_active = models.BooleanField(default=True)

    class Meta:
        """One row per version of an agent."""

        constraints = (
            models.UniqueConstraint(
                fields=("name", "version"), name="one_identity_per_agent_version"
            ),
        )

    def __str__(self) -> str:
        """`exception-bot@1.0`, as it appears in the audit."""
        return f"{self.name}@{self.version}"

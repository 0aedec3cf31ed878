"""How far an outside system was followed, and who reads it for many cases at once."""

from django.db import models
from django.db.models import Q


class SourceFeed(models.Model):
    """The one refresher of a system, and its place in the system's change feed.

    `position` is the number of the last entry that was read, `last_entry` its digest. The feed was
    read to its end at `read_at`, and followed without a break since `followed_since`: what was read
    after that and is not named by it has not changed. Nobody reads in bulk again before
    `next_read_at`. The lease and its rising token keep a second refresher away. Instants are
    business time.
    """

    system = models.CharField(max_length=32, unique=True)
    position = models.PositiveBigIntegerField(default=0)
    last_entry = models.CharField(max_length=64, blank=True, default="")
    read_at = models.DateTimeField(null=True)
    followed_since = models.DateTimeField(null=True)
    next_read_at = models.DateTimeField(null=True)
    fencing_token = models.BigIntegerField(default=0)
    worker = models.CharField(max_length=200, blank=True, default="")
    lease_until = models.DateTimeField(null=True)

    class Meta:
        """A lease names its worker."""

        constraints = (
            models.CheckConstraint(
                condition=Q(lease_until=None, worker="")
                | Q(lease_until__isnull=False) & ~Q(worker=""),
                name="feed_lease_names_its_worker",
            ),
        )

    def __str__(self) -> str:
        """`transport at 1207`."""
        return f"{self.system} at {self.position}"

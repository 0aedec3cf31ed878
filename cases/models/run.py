"""What work is due: the queue of record, one row per case."""

from django.db import models
from django.db.models import Q

from cases.models.case import Case


class Run(models.Model):
    """That work on a case is due, since when and why, and which worker holds it.

    `fencing_token` comes from one database sequence and rises with every claim, so a worker that
    lost its lease can be told apart for ever. `due_at` is null when nothing is to be done until a
    person or an event says so. Instants are business time, judged by the database's clock.
    """

    case = models.OneToOneField(
        Case, on_delete=models.PROTECT, primary_key=True, related_name="run"
    )
    flow_version = models.PositiveIntegerField()
    due_at = models.DateTimeField(null=True)
    due_reason = models.CharField(max_length=200, blank=True, default="")
    nudged_at = models.DateTimeField(null=True)
    fencing_token = models.BigIntegerField(default=0)
    worker = models.CharField(max_length=200, blank=True, default="")
    lease_until = models.DateTimeField(null=True)
    steps = models.PositiveIntegerField(default=0)

    class Meta:
        """A lease names its worker."""

        constraints = (
            models.CheckConstraint(
                condition=Q(lease_until=None, worker="")
                | Q(lease_until__isnull=False) & ~Q(worker=""),
                name="lease_names_its_worker",
            ),
        )
        indexes = (
            models.Index(
                fields=("due_at",), condition=Q(due_at__isnull=False), name="runs_that_are_due"
            ),
        )

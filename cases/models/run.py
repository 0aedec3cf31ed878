"""What work is due: the queue of record, one row per case."""

from django.db import models
from django.db.models import Q

from cases.models.case import Case


class Run(models.Model):
    """That work on a case is due, since when and why, and which worker holds it.

    `fencing_token` comes from one database sequence and rises with every claim, so a worker that
    lost its lease can be told apart for ever. `due_at` is null when nothing is to be done until a
    person or an event says so. Instants are business time, judged by the database's clock.

    `steps`, `calls` (to outside systems), `tokens` and `spent_micros` (what models cost, in
    millionths of a US dollar) count what was used over the life of the case; budgets limit them.
    `lost_visits` counts claims in a row that were never given back: their worker died or hung.
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
    calls = models.PositiveIntegerField(default=0)
    tokens = models.PositiveBigIntegerField(default=0)
    spent_micros = models.PositiveBigIntegerField(default=0)
    lost_visits = models.PositiveSmallIntegerField(default=0)

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

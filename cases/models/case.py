"""The case: one business job about one subject."""

from collections.abc import Iterable
from typing import ClassVar

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q

from cases.models.desk import Desk
from cases.models.source import SourceRecord
from cases.vocabulary.errors import NotFound, NotInTransaction
from cases.vocabulary.stages import Stage

STAGE_CHOICES = [(stage.value, stage.value) for stage in Stage]


class CaseQuerySet(models.QuerySet["Case"]):
    """How cases are found and locked."""

    def locked(self, case_id: int) -> "Case":
        """The case with its row locked until the transaction ends: always the first lock taken.

        Raises `NotInTransaction` outside a transaction and `NotFound` for an unknown case.
        """
        if not transaction.get_connection(self.db).in_atomic_block:
            raise NotInTransaction("A case is locked inside a transaction or not at all.")
        found = self.select_for_update(of=("self",)).filter(pk=case_id).first()
        if found is None:
            raise NotFound(f"There is no case {case_id}.")
        return found

    def with_people(self) -> "CaseQuerySet":
        """With owner and desk loaded."""
        return self.select_related("owner", "desk")


class Case(models.Model):
    """One business job about one subject, such as a shipment whose carrier fell off.

    `version` rises with every change of the case. `decide_by`, `next_try_at` and `refresh_due_at`
    are business instants (UTC); a blocked case without a next try is out of budget, and waits for a
    person to raise it. `refreshed_at` is when its sources were asked last and all of them told.
    `planning_round` numbers the rounds of planning over its life, and rises only when new planning
    is due, so a round is planned once.
    """

    kind = models.CharField(max_length=32)
    case_type = models.CharField(max_length=8)
    subject = models.CharField(max_length=300)
    title = models.CharField(max_length=200)
    desk = models.ForeignKey(Desk, on_delete=models.PROTECT)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="owned_cases"
    )
    stage = models.CharField(
        max_length=32, choices=STAGE_CHOICES, default=Stage.INVESTIGATING.value
    )
    stage_since = models.DateTimeField()
    version = models.PositiveIntegerField(default=1)
    planning_round = models.PositiveIntegerField(default=1)
    opened_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    decide_by = models.DateTimeField(null=True)
    refresh_due_at = models.DateTimeField(null=True)
    refreshed_at = models.DateTimeField(null=True)
    blocked_reason = models.TextField(blank=True, default="")
    blocked_from = models.CharField(max_length=32, blank=True, default="")
    blocked_since = models.DateTimeField(null=True)
    blocked_tries = models.PositiveIntegerField(default=0)
    next_try_at = models.DateTimeField(null=True)
    stage_reason = models.TextField(blank=True, default="")
    closed_at = models.DateTimeField(null=True)
    closed_by = models.CharField(max_length=200, blank=True, default="")
    sources = models.ManyToManyField(SourceRecord, through="CaseSource", related_name="cases")

    objects: ClassVar[CaseQuerySet] = CaseQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        """A case is blocked with a reason and since when, or not at all."""

        constraints = (
            models.CheckConstraint(
                condition=Q(stage__in=[stage.value for stage in Stage]), name="case_stage_is_known"
            ),
            models.CheckConstraint(
                condition=(
                    Q(stage=Stage.BLOCKED.value)
                    & ~Q(blocked_reason="")
                    & ~Q(blocked_from="")
                    & Q(blocked_since__isnull=False)
                )
                | ~Q(stage=Stage.BLOCKED.value)
                & Q(blocked_reason="", blocked_from="", blocked_since=None),
                name="blocked_case_says_why_and_since_when",
            ),
            models.CheckConstraint(
                condition=Q(stage=Stage.CLOSED.value, closed_at__isnull=False) & ~Q(closed_by="")
                | (~Q(stage=Stage.CLOSED.value) & Q(closed_at=None, closed_by="")),
                name="closed_case_says_who_and_when",
            ),
            models.UniqueConstraint(
                fields=("kind", "case_type", "subject"),
                condition=~Q(stage=Stage.CLOSED.value),
                name="one_open_case_per_exception",
            ),
        )
        indexes = (
            models.Index(
                fields=("stage", "decide_by", "id"),
                condition=~Q(stage=Stage.CLOSED.value),
                name="open_cases_by_deadline",
            ),
            models.Index(
                fields=("closed_at", "id"),
                condition=Q(stage=Stage.CLOSED.value),
                name="closed_cases_by_time",
            ),
        )

    def __str__(self) -> str:
        """`Case 318: S-318`, the words of logs and pages."""
        return f"Case {self.pk}: {self.subject}"

    @property
    def current_stage(self) -> Stage:
        """The stage as a member of the stage table."""
        return Stage(self.stage)

    @property
    def underlying_stage(self) -> Stage:
        """Where the case stands, or stood when it was blocked: there it goes on afterwards."""
        return Stage(self.blocked_from or self.stage)

    @property
    def is_out_of_budget(self) -> bool:
        """Whether it is blocked without a next try: the agent goes on when a person says so."""
        return self.current_stage is Stage.BLOCKED and self.next_try_at is None


class CaseSource(models.Model):
    """A source record that belongs to a case; the newest observation of it counts."""

    case = models.ForeignKey(Case, on_delete=models.CASCADE)
    record = models.ForeignKey(SourceRecord, on_delete=models.PROTECT)

    class Meta:
        """A record is linked to a case once."""

        constraints = (
            models.UniqueConstraint(fields=("case", "record"), name="one_link_per_case_and_record"),
        )


def open_cases(queryset: CaseQuerySet, *, stages: Iterable[Stage] | None = None) -> CaseQuerySet:
    """Open cases, optionally only those in `stages`."""
    open_ones = queryset.exclude(stage=Stage.CLOSED.value)
    if stages is None:
        return open_ones
    return open_ones.filter(stage__in=[stage.value for stage in stages])

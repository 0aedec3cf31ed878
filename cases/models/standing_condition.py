"""Standing conditions: what stays on every sheet until somebody closes it."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from cases.models.case import Case
from cases.models.desk import Desk


class StandingConditionQuerySet(models.QuerySet["StandingCondition"]):
    """How conditions are found."""

    def standing(self) -> "StandingConditionQuerySet":
        """Those that nobody has closed."""
        return self.filter(closed_at=None)

    def holding(self, case: Case) -> "StandingConditionQuerySet":
        """Those that keep this case from being released or carried out.

        A condition of one desk holds that desk's cases; one that names a system only those that
        read from it.
        """
        return self.standing().filter(
            Q(desk=None) | Q(desk=case.desk_id),
            Q(system="") | Q(system__in=case.sources.values("system")),
            blocks_releases=True,
        )


class StandingCondition(models.Model):
    """Something that holds beyond a shift, such as a degraded connector or a manual override.

    `desk` null means every desk. `system` names the source it is about, if any; `blocks_releases`
    says that nothing is released meanwhile. It lives until it is closed; instants are business
    time.
    """

    class Sort(models.TextChoices):
        """What kind of thing it is."""

        CONNECTOR = "connector", "Connector degraded"
        EMBARGO = "embargo", "Carrier embargo"
        OVERRIDE = "override", "Manual override"
        OTHER = "other", "Other"

    desk = models.ForeignKey(
        Desk, on_delete=models.PROTECT, null=True, related_name="standing_conditions"
    )
    sort = models.CharField(max_length=12, choices=Sort.choices)
    title = models.CharField(max_length=200)
    detail = models.TextField(blank=True, default="")
    system = models.CharField(max_length=32, blank=True, default="")
    blocks_releases = models.BooleanField(default=False)
    opened_by = models.CharField(max_length=200)
    opened_at = models.DateTimeField()
    review_at = models.DateTimeField(null=True)
    closed_by = models.CharField(max_length=200, blank=True, default="")
    closed_at = models.DateTimeField(null=True)
    closed_reason = models.TextField(blank=True, default="")

    objects: ClassVar[StandingConditionQuerySet] = StandingConditionQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        """A closed condition says by whom, when and why."""

        ordering = ("opened_at", "id")
        constraints = (
            models.CheckConstraint(
                condition=Q(closed_at=None, closed_by="", closed_reason="")
                | Q(closed_at__isnull=False) & ~Q(closed_by="") & ~Q(closed_reason=""),
                name="closed_condition_says_by_whom_and_why",
            ),
        )

    def __str__(self) -> str:
        """`Connector degraded: TMS`."""
        return f"{self.get_sort_display()}: {self.title}"

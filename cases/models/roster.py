"""Who stands which watch: the roster, who is away, and who answers for which cases."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from cases.models.desk import Desk
from cases.models.shift import ShiftPattern
from cases.vocabulary.rosters import Position

POSITION_CHOICES = [(position.value, position.value) for position in Position]


class RosterEntry(models.Model):
    """A person stands in a position of a shift from `first_day` to `last_day`, on `days`.

    Days are local dates on which the shift starts; `last_day` null means until further notice. Of
    several entries for one position and day the newest counts, so a swap is an entry of its own and
    takes nothing away. `person` null says that nobody stands there.
    """

    shift = models.ForeignKey(ShiftPattern, on_delete=models.PROTECT, related_name="entries")
    position = models.CharField(max_length=8, choices=POSITION_CHOICES)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="watches"
    )
    first_day = models.DateField()
    last_day = models.DateField(null=True)
    days = ArrayField(models.PositiveSmallIntegerField())
    reason = models.CharField(max_length=200, blank=True, default="")
    set_by = models.CharField(max_length=200)
    set_at = models.DateTimeField()

    class Meta:
        """An entry covers some day."""

        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                condition=Q(last_day=None) | Q(last_day__gte=F("first_day")),
                name="roster_entry_ends_after_it_starts",
            ),
            models.CheckConstraint(condition=~Q(days=[]), name="roster_entry_covers_some_day"),
        )


class Leave(models.Model):
    """A person is away from `starts_at` up to, and without, `ends_at` (instants)."""

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="leaves"
    )
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    reason = models.CharField(max_length=200, blank=True, default="")
    set_by = models.CharField(max_length=200)
    set_at = models.DateTimeField()
    cancelled_by = models.CharField(max_length=200, blank=True, default="")
    cancelled_at = models.DateTimeField(null=True)

    class Meta:
        """Leave lasts some time; cancelled leave says by whom and when."""

        ordering = ("starts_at", "id")
        constraints = (
            models.CheckConstraint(
                condition=Q(ends_at__gt=F("starts_at")), name="leave_ends_after_it_starts"
            ),
            models.CheckConstraint(
                condition=Q(cancelled_at=None, cancelled_by="")
                | Q(cancelled_at__isnull=False) & ~Q(cancelled_by=""),
                name="cancelled_leave_says_by_whom",
            ),
        )


class OwnershipRule(models.Model):
    """Who is asked first to own cases of a kind or type at a desk: a position, or a person.

    Empty `kind` and `case_type` mean all. The most specific rule counts; without one it is the
    shift's primary. The chain goes on from there: backup, the shift's lead, the desk's lead, the
    desk's manager.
    """

    desk = models.ForeignKey(Desk, on_delete=models.PROTECT, related_name="ownership_rules")
    kind = models.CharField(max_length=32, blank=True, default="")
    case_type = models.CharField(max_length=8, blank=True, default="")
    position = models.CharField(max_length=8, choices=POSITION_CHOICES, blank=True, default="")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    set_by = models.CharField(max_length=200)
    set_at = models.DateTimeField()

    class Meta:
        """One rule per scope; it names a position or a person."""

        ordering = ("desk", "kind", "case_type")
        constraints = (
            models.UniqueConstraint(
                fields=("desk", "kind", "case_type"), name="one_ownership_rule_per_scope"
            ),
            models.CheckConstraint(
                condition=(~Q(position="") & Q(person=None))
                | (Q(position="") & Q(person__isnull=False)),
                name="ownership_rule_names_position_or_person",
            ),
            models.CheckConstraint(
                condition=Q(case_type="") | ~Q(kind=""), name="rule_for_a_type_names_its_kind"
            ),
        )

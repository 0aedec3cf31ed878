"""What stands beyond a shift: conditions until they are closed, and pauses until they are lifted.

A pause stands in the same list, so that nobody has to write it down a second time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from cases import policies
from cases.models import Desk, Pause, Person, SourceRecord, StandingCondition

LATEST = 30


@dataclass(frozen=True, kw_only=True)
class StandingRow:
    """One thing that stands: what it is, what it stops, and who said so since when.

    `condition_id` is None for a pause, which is lifted on its own page. `desk` is empty where it
    holds for every desk; `stops` says in words what it stops, empty when it only informs.
    `closed_by` and its like are empty while it stands; `is_due_for_review` says that somebody
    should look whether it holds.
    """

    condition_id: int | None
    sort: str
    title: str
    detail: str
    desk: str
    system: str
    stops: str
    opened_by: str
    opened_at: datetime
    review_at: datetime | None
    is_due_for_review: bool
    closed_by: str
    closed_at: datetime | None
    closed_reason: str

    @property
    def is_pause(self) -> bool:
        """Whether it is the kill switch rather than a condition."""
        return self.condition_id is None


@dataclass(frozen=True, kw_only=True)
class ConditionsPage:
    """The page of conditions; `zones` are the desks' IANA zones.

    `against` is the sentence against changing anything, empty when this person may.
    """

    standing: Sequence[StandingRow]
    closed: Sequence[StandingRow]
    sorts: Sequence[tuple[str, str]]
    desks: Sequence[tuple[int, str]]
    systems: Sequence[str]
    zones: Sequence[str]
    against: str


def standing_for(desk: Desk, at: datetime) -> Sequence[StandingRow]:
    """Everything that stood for the desk at that instant, oldest first; two queries."""
    here = Q(desk=None) | Q(desk=desk)
    conditions = StandingCondition.objects.filter(here, _open_at("opened_at", "closed_at", at))
    pauses = Pause.objects.filter(_open_at("set_at", "lifted_at", at))
    rows = [standing_row(found, at=at) for found in conditions.select_related("desk")]
    rows += [_pause_row(pause) for pause in pauses]
    return sorted(rows, key=lambda row: row.opened_at)


def _open_at(start: str, end: str, at: datetime) -> Q:
    still = Q(**{end: None}) | Q(**{f"{end}__gt": at})
    return still & Q(**{f"{start}__lte": at})


def standing_row(condition: StandingCondition, *, at: datetime) -> StandingRow:
    """A condition as pages show it; its desk is loaded."""
    review = condition.review_at
    where = f" of cases that read from {condition.system}" if condition.system else ""
    return StandingRow(
        condition_id=condition.pk,
        sort=str(condition.get_sort_display()),
        title=condition.title,
        detail=condition.detail,
        desk="" if condition.desk is None else str(condition.desk),
        system=condition.system,
        stops=f"Releases{where} are stopped" if condition.blocks_releases else "",
        opened_by=condition.opened_by,
        opened_at=condition.opened_at,
        review_at=review,
        is_due_for_review=review is not None and review <= at and condition.closed_at is None,
        closed_by=condition.closed_by,
        closed_at=condition.closed_at,
        closed_reason=condition.closed_reason,
    )


def _pause_row(pause: Pause) -> StandingRow:
    return StandingRow(
        condition_id=None,
        sort="Paused",
        title=str(pause),
        detail=pause.reason,
        desk="",
        system="",
        stops="Agents start no call there",
        opened_by=pause.set_by,
        opened_at=pause.set_at,
        review_at=None,
        is_due_for_review=False,
        closed_by=pause.lifted_by,
        closed_at=pause.lifted_at,
        closed_reason=pause.lift_reason,
    )


def conditions_page(*, person: Person, at: datetime) -> ConditionsPage:
    """The page for this person."""
    closed = StandingCondition.objects.filter(closed_at__isnull=False).select_related("desk")
    newest = closed.order_by("-closed_at", "-id")[:LATEST]
    desks = list(Desk.objects.order_by("name"))
    standing = StandingCondition.objects.standing().select_related("desk")
    rows = [standing_row(found, at=at) for found in standing]
    rows += map(_pause_row, Pause.objects.filter(lifted_at=None))
    return ConditionsPage(
        standing=sorted(rows, key=lambda row: row.opened_at),
        closed=[standing_row(found, at=at) for found in newest],
        sorts=list(StandingCondition.Sort.choices),
        desks=[(desk.pk, desk.name) for desk in desks],
        systems=sorted(SourceRecord.objects.values_list("system", flat=True).distinct()),
        zones=list(dict.fromkeys(desk.zone for desk in desks)),
        against=policies.reason_against(policies.check_may_set_conditions, person=person),
    )

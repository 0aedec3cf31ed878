"""The roster page: who stands where in the next 14 days, and what a person may change of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from cases import policies
from cases.models import Desk, Leave, Person, Role, RosterEntry, ShiftPattern
from cases.queries.coverage import Coverage, coverage_of
from cases.queries.duty import roster_of
from cases.vocabulary.clocks import zone_named
from cases.vocabulary.rosters import Position
from cases.vocabulary.shifts import DAYS, USUAL_STARTS


@dataclass(frozen=True, kw_only=True)
class ShiftLine:
    """A shift of the desk's week, as a form shows it; the number is empty for a usual shift."""

    name: str
    starts_at: str
    days: tuple[int, ...]
    overlap_minutes: str
    shift_id: int | None = None


@dataclass(frozen=True, kw_only=True)
class LeaveLine:
    """Leave that is not over."""

    leave_id: int
    person: str
    starts_at: datetime
    ends_at: datetime
    reason: str
    set_by: str


@dataclass(frozen=True, kw_only=True)
class EntryLine:
    """A roster entry that is not over, in words."""

    shift: str
    position: str
    person: str
    days: str
    reason: str
    set_by: str
    set_at: datetime


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Somebody or something to choose in a form."""

    value: str
    label: str


@dataclass(frozen=True, kw_only=True)
class RosterPage:
    """The page for one person; `against` says why they only look, empty when they may change it."""

    desk_id: int
    desk: str
    zone: str
    at: datetime
    today: date
    against: str
    keeps_roster: bool
    coverage: Coverage
    shifts: Sequence[ShiftLine]
    leaves: Sequence[LeaveLine]
    entries: Sequence[EntryLine]
    people: Sequence[Choice]
    positions: Sequence[str]
    weekdays: Sequence[tuple[int, str]]


def people_who_may_own() -> list[Choice]:
    """Active operators and leads, by name."""
    people = Person.objects.filter(is_active=True, role__in=(Role.OPERATOR, Role.LEAD))
    return [
        Choice(value=str(person.pk), label=f"{person} ({person.get_role_display()})")
        for person in people
    ]


def roster_page(*, desk: Desk, person: Person, at: datetime) -> RosterPage:
    """The page of a desk at `at`, for a person."""
    roster = roster_of(desk, since=at)
    today = at.astimezone(zone_named(desk.zone)).date()
    return RosterPage(
        desk_id=desk.pk,
        desk=desk.name,
        zone=desk.zone,
        at=at,
        today=today,
        against=policies.reason_against(policies.check_may_set_roster, person=person),
        keeps_roster=bool(roster.watches),
        coverage=coverage_of(roster, at=at),
        shifts=_shifts(desk),
        leaves=_leaves(at),
        entries=_entries(desk, today),
        people=people_who_may_own(),
        positions=[position.value for position in Position],
        weekdays=tuple(enumerate(DAYS)),
    )


def days_text(days: Sequence[int], *, first: date, last: date | None) -> str:
    """`Mon, Tue from 23 Nov`, `daily, 23 Nov – 4 Dec`, `Wed 25 Nov`."""
    if first == last:
        return _day(first)
    named = "daily" if len(days) == len(DAYS) else ", ".join(DAYS[day] for day in days)
    return f"{named} from {_day(first)}" + ("" if last is None else f" to {_day(last)}")


def _day(day: date) -> str:
    return f"{day:%a} {day.day} {day:%b}"


def _shifts(desk: Desk) -> list[ShiftLine]:
    patterns = ShiftPattern.objects.filter(desk=desk).order_by("starts_at", "id")
    found = [
        ShiftLine(
            shift_id=pattern.pk,
            name=pattern.name,
            starts_at=f"{pattern.starts_at:%H:%M}",
            days=tuple(pattern.days),
            overlap_minutes=str(pattern.overlap_minutes),
        )
        for pattern in patterns
    ]
    return found or [
        ShiftLine(
            name=start.name,
            starts_at=f"{start.at:%H:%M}",
            days=tuple(sorted(start.days)),
            overlap_minutes="0",
        )
        for start in USUAL_STARTS
    ]


def _leaves(at: datetime) -> list[LeaveLine]:
    standing = Leave.objects.filter(cancelled_at=None, ends_at__gt=at).select_related("person")
    return [
        LeaveLine(
            leave_id=leave.pk,
            person=str(leave.person),
            starts_at=leave.starts_at,
            ends_at=leave.ends_at,
            reason=leave.reason,
            set_by=leave.set_by,
        )
        for leave in standing
    ]


def _entries(desk: Desk, today: date) -> list[EntryLine]:
    entries = RosterEntry.objects.filter(shift__desk=desk).exclude(last_day__lt=today)
    return [
        EntryLine(
            shift=str(entry.shift),
            position=entry.position,
            person="nobody" if entry.person is None else str(entry.person),
            days=days_text(entry.days, first=entry.first_day, last=entry.last_day),
            reason=entry.reason,
            set_by=entry.set_by,
            set_at=entry.set_at,
        )
        for entry in entries.select_related("shift", "person").order_by("-id")[:50]
    ]

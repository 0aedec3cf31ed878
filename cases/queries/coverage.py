"""Who covers the next days of a desk: shift by shift, the gaps in words, and the load of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from cases.models import Person
from cases.queries.duty import Duty, Roster
from cases.vocabulary.clocks import zone_named
from cases.vocabulary.rosters import Position, first_available
from cases.vocabulary.shifts import Shift

SHOWN = timedelta(days=14)
ONE_HOUR = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class Place:
    """One position of one shift: who stands there, and why they will not be there, if so."""

    position: Position
    person: str
    absence: str

    @property
    def is_covered(self) -> bool:
        """Whether somebody stands there and is there for the whole shift."""
        return bool(self.person) and not self.absence


@dataclass(frozen=True, kw_only=True)
class CoveredShift:
    """One shift with its three positions; `unusual` says when a clock change makes it odd."""

    name: str
    span: str
    unusual: str
    is_current: bool
    places: tuple[Place, ...]


@dataclass(frozen=True, kw_only=True)
class CoveredDay:
    """The shifts that start on one local date, in the order of the columns; None for none."""

    day: date
    shifts: tuple[CoveredShift | None, ...]


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A time in which no primary is there: from when to when, why, and who would be asked."""

    starts_at: datetime
    ends_at: datetime
    span: str
    why: str
    asked: str

    @property
    def length(self) -> timedelta:
        """How long it lasts."""
        return self.ends_at - self.starts_at

    def __str__(self) -> str:
        """`Wed 25 Nov 17:00–Thu 08:00 CST: nobody is primary; Priya Raman would be asked`."""
        return f"{self.span}: {self.why}; {self.asked or 'nobody'} would be asked"


@dataclass(frozen=True, kw_only=True)
class Load:
    """How much one person stands in the days shown; `over_average` is in per cent."""

    person: str
    shifts: int
    hours: int
    over_average: int


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """The days shown; `covered_percent` is the share of time with a primary who is there."""

    columns: tuple[str, ...]
    days: tuple[CoveredDay, ...]
    gaps: tuple[Gap, ...]
    covered_percent: int
    loads: tuple[Load, ...]


def coverage_of(roster: Roster, *, at: datetime) -> Coverage:
    """The next 14 days of a desk from `at`; no query."""
    until = at + SHOWN
    shifts = roster.shifts(start=at, end=until)
    gaps = gaps_between(roster, start=at, end=until)
    missing = sum((gap.length for gap in gaps), timedelta(0))
    return Coverage(
        columns=_columns(roster),
        days=_days(roster, shifts, at),
        gaps=gaps,
        covered_percent=100 - _rounded_up(100 * (missing / SHOWN)),
        loads=_loads(roster, shifts),
    )


def _columns(roster: Roster) -> tuple[str, ...]:
    """The names of the shifts, the earliest first."""
    return tuple(start.name for start in sorted(roster.starts, key=lambda start: start.at))


def _days(roster: Roster, shifts: Sequence[Shift], at: datetime) -> tuple[CoveredDay, ...]:
    found: dict[date, dict[str, CoveredShift]] = {}
    for shift in shifts:
        found.setdefault(shift.day, {})[shift.name] = _covered(roster, shift, at)
    return tuple(
        CoveredDay(day=day, shifts=tuple(named.get(name) for name in _columns(roster)))
        for day, named in sorted(found.items())
    )


def gaps_between(roster: Roster, *, start: datetime, end: datetime) -> tuple[Gap, ...]:
    """When no primary is there, in order; what follows on without a change is one gap."""
    found: list[Gap] = []
    cuts = _cuts(roster, start, end)
    for begins, ends in zip(cuts, cuts[1:], strict=False):
        duty = roster.duty_at(begins)
        why = _why_no_primary(duty)
        if not why:
            continue
        asked, begun = _asked(duty), begins
        last = found[-1] if found else None
        if last is not None and (last.ends_at, last.why, last.asked) == (begins, why, asked):
            found.pop()
            begun = last.starts_at
        span = span_text(begun, ends, zone=roster.desk.zone)
        found.append(Gap(starts_at=begun, ends_at=ends, span=span, why=why, asked=asked))
    return tuple(found)


def span_text(start: datetime, end: datetime, *, zone: str) -> str:
    """`Wed 25 Nov 17:00–Thu 08:00 CST`; both zones are named where clocks change in between."""
    first, last = (moment.astimezone(zone_named(zone)) for moment in (start, end))
    begins = f"{first:%a} {first.day} {first:%b} {first:%H:%M}"
    if first.tzname() != last.tzname():
        begins += f" {first.tzname()}"
    day = "" if first.date() == last.date() else f"{last:%a} "
    if last - first >= timedelta(days=6):
        day = f"{last:%a} {last.day} {last:%b} "
    return f"{begins}–{day}{last:%H:%M} {last.tzname()}"


def _cuts(roster: Roster, start: datetime, end: datetime) -> list[datetime]:
    """The instants at which it can change who is there."""
    cuts = {start, end}
    cuts |= {shift.starts_at for shift in roster.shifts(start=start, end=end)}
    for leave in roster.leaves:
        cuts |= {leave.starts_at, leave.ends_at}
    return sorted(moment for moment in cuts if start <= moment <= end)


def _why_no_primary(duty: Duty) -> str:
    primary = duty.crew.primary
    if primary is None:
        return "nobody is primary"
    if duty.leave_of(primary):
        return f"{duty.people[primary]} (primary) is on leave"
    absence = duty.absence_of(primary)
    return f"{duty.people[primary]} (primary) is {absence}" if absence else ""


def _asked(duty: Duty) -> str:
    link = first_available(duty.chain(kind="", case_type=""))
    return "" if link is None or link.person is None else str(duty.people[link.person])


def _covered(roster: Roster, shift: Shift, at: datetime) -> CoveredShift:
    duty = roster.duty_at(shift.starts_at)
    return CoveredShift(
        name=shift.name,
        span=_clock_span(shift, roster.desk.zone),
        unusual=_unusual(shift, roster.desk.zone),
        is_current=shift.starts_at <= at < shift.ends_at,
        places=tuple(_place(roster, duty, position) for position in Position),
    )


def _clock_span(shift: Shift, zone: str) -> str:
    """`17:00–08:00`."""
    first, last = (each.astimezone(zone_named(zone)) for each in (shift.starts_at, shift.ends_at))
    return f"{first:%H:%M}–{last:%H:%M}"


def _unusual(shift: Shift, zone: str) -> str:
    """Says that clocks change during the shift, and how long it really lasts."""
    first, last = (each.astimezone(zone_named(zone)) for each in (shift.starts_at, shift.ends_at))
    shown, real = first.utcoffset(), last.utcoffset()
    if shown is None or real is None or shown == real:
        return ""
    hours = f"{shift.length / ONE_HOUR:g} h"
    return f"clocks go {'back' if real < shown else 'forward'}: it lasts {hours}"


def _place(roster: Roster, duty: Duty, position: Position) -> Place:
    shift, person_id = duty.shift, duty.crew.at(position)
    if person_id is None:
        return Place(position=position, person="", absence="")
    person, absence = roster.people[person_id], duty.absence_of(person_id)
    away = [
        leave
        for leave in roster.leaves
        if leave.person == person_id
        and leave.starts_at < shift.ends_at
        and shift.starts_at < leave.ends_at
    ]
    if away:
        first = max(away[0].starts_at, shift.starts_at)
        last = min(away[0].ends_at, shift.ends_at)
        is_whole = (first, last) == (shift.starts_at, shift.ends_at)
        span = span_text(first, last, zone=roster.desk.zone)
        absence = "on leave" if is_whole else f"on leave {span}"
    return Place(position=position, person=str(person), absence=absence)


def _loads(roster: Roster, shifts: Sequence[Shift]) -> tuple[Load, ...]:
    stands: dict[int, list[Shift]] = {}
    for shift in shifts:
        for person in roster.crew_of(shift).people:
            stands.setdefault(person, []).append(shift)
    hours = {
        person: sum((shift.length for shift in theirs), timedelta(0)) / ONE_HOUR
        for person, theirs in stands.items()
    }
    average = sum(hours.values()) / len(hours) if hours else 0.0
    loads = [
        _load(roster.people[person], len(stands[person]), hours[person], average)
        for person in stands
    ]
    return tuple(sorted(loads, key=lambda load: (-load.hours, load.person)))


def _load(person: Person, shifts: int, hours: float, average: float) -> Load:
    return Load(
        person=str(person),
        shifts=shifts,
        hours=round(hours),
        over_average=round(100 * (hours - average) / average),
    )


def _rounded_up(share: float) -> int:
    """A gap, however small, never reads as none."""
    return int(-(-share // 1))

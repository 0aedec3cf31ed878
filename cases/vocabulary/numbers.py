"""Arithmetic of the numbers a lead acts on: the parts of a period, medians, and spans of time."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from cases.vocabulary.clocks import first_instant_at, zone_named
from cases.vocabulary.shifts import ONE_DAY, ShiftStart, shifts_between

NOTHING = timedelta(0)


@dataclass(frozen=True, kw_only=True)
class Part:
    """A day or a shift of a period: from `starts_at` up to, and without, `ends_at` (UTC)."""

    label: str
    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, kw_only=True)
class Span:
    """A stretch of time of one case, from `starts_at` up to, and without, `ends_at` (UTC)."""

    case_id: int
    subject: str
    starts_at: datetime
    ends_at: datetime

    @property
    def length(self) -> timedelta:
        """How long it lasts, in elapsed time."""
        return self.ends_at - self.starts_at


def days_until(at: datetime, *, zone: str, days: int) -> tuple[Part, ...]:
    """The last `days` local days up to the one of `at`; one is an hour longer where clocks turn."""
    place = zone_named(zone)
    today = at.astimezone(place).date()
    first = [today - number * ONE_DAY for number in reversed(range(days))]

    def begins(day: date) -> datetime:
        return first_instant_at(datetime.combine(day, time()), zone=place)

    return tuple(
        Part(label=day_text(day), starts_at=begins(day), ends_at=begins(day + ONE_DAY))
        for day in first
    )


def shifts_until(
    at: datetime, *, zone: str, starts: Sequence[ShiftStart], days: int
) -> tuple[Part, ...]:
    """The shifts that began in the last `days` local days, up to the one of `at`, or that one."""
    since = days_until(at, zone=zone, days=days)[0].starts_at
    shifts = shifts_between(start=since, end=at + at.resolution, zone=zone, starts=starts)
    begun = [shift for shift in shifts if shift.starts_at >= since] or shifts[-1:]
    return tuple(
        Part(
            label=f"{day_text(shift.day)}, {shift.name}",
            starts_at=shift.starts_at,
            ends_at=shift.ends_at,
        )
        for shift in begun
    )


def day_text(day: date) -> str:
    """`Tue 24 Nov`."""
    return f"{day:%a} {day.day} {day:%b}"


def by_part[T](
    items: Iterable[T], *, parts: Sequence[Part], at: Callable[[T], datetime]
) -> list[list[T]]:
    """The items of each part, by their instant; what lies outside the period is left out."""
    found: list[list[T]] = [[] for _ in parts]
    begins = [part.starts_at for part in parts]
    for item in items:
        number = bisect_right(begins, at(item)) - 1
        if number >= 0 and at(item) < parts[number].ends_at:
            found[number].append(item)
    return found


def within(spans: Iterable[Span], part: Part) -> timedelta:
    """How much of the spans, added up, lies in a part."""
    overlaps = (
        min(span.ends_at, part.ends_at) - max(span.starts_at, part.starts_at) for span in spans
    )
    return sum((overlap for overlap in overlaps if overlap > NOTHING), NOTHING)


def median(values: Iterable[timedelta]) -> timedelta | None:
    """The middle one, or the mean of the two in the middle; None of nothing."""
    ordered = sorted(values)
    if not ordered:
        return None
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def nine_of_ten(values: Iterable[timedelta]) -> timedelta | None:
    """The smallest value that at least nine of ten do not exceed; None of nothing."""
    ordered = sorted(values)
    return ordered[-(-9 * len(ordered) // 10) - 1] if ordered else None


def duration_text(length: timedelta | None) -> str:
    """`40 s`, `1 h 20 min`, `3 days 4 h`: at most two units, rounded down; `–` of None."""
    if length is None:
        return "–"
    seconds = int(length.total_seconds())
    days, hours, minutes = seconds // 86_400, seconds % 86_400 // 3600, seconds % 3600 // 60
    if days:
        return _two(f"{days} day{'' if days == 1 else 's'}", hours, "h")
    if hours:
        return _two(f"{hours} h", minutes, "min")
    return f"{minutes} min" if minutes else f"{seconds} s"


def _two(larger: str, smaller: int, unit: str) -> str:
    return f"{larger} {smaller} {unit}" if smaller else larger


def share_text(part: int, whole: int) -> str:
    """`33 %`, rounded to the nearest whole per cent; `–` of nothing."""
    return f"{(200 * part + whole) // (2 * whole)} %" if whole else "–"


def ratio_text(part: int, whole: int) -> str:
    """`0.25`: so many for each one, with two digits; `–` of nothing."""
    return f"{part / whole:.2f}" if whole else "–"

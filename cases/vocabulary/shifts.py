"""Shifts: which one it is at any moment, and what a wall time means on the days clocks change.

A desk's week is a list of shift starts. A shift lasts until the next one starts, so every minute
belongs to exactly one shift, and a night shift is an hour longer or shorter when the clocks change.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise

from cases.vocabulary.clocks import BELIEVABLE_YEARS, first_instant_at, local_text, zone_named
from cases.vocabulary.errors import InvalidInput

ONE_DAY = timedelta(days=1)
USUAL_GAP = timedelta(days=2)
LONGEST_GAP = timedelta(days=9)
"""Between two starts lies at most a week, and a clock change."""
LONGEST_OVERLAP = timedelta(hours=4)
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


class AmbiguousTime(InvalidInput):
    """A wall time that occurs twice; `choices` are its two instants, earlier first."""

    code = "ambiguous_time"

    def __init__(self, message: str, *, choices: tuple[datetime, datetime]) -> None:
        super().__init__(message)
        self.choices = choices


@dataclass(frozen=True, kw_only=True)
class WallTime:
    """A time as somebody typed it: what clocks show in `zone`, without an offset.

    `which` is `earlier` or `later` where clocks show it twice and one was chosen, else empty.
    """

    wall: datetime
    zone: str
    which: str = ""


@dataclass(frozen=True, kw_only=True)
class ShiftStart:
    """When a shift starts: a wall time on certain days of the week (Monday is 0).

    People of the shift before stay for `overlap`; the shift is the new one from its start on.
    """

    name: str
    at: time
    days: frozenset[int]
    overlap: timedelta = timedelta(0)


@dataclass(frozen=True, kw_only=True)
class Shift:
    """One shift of one day: from `starts_at` up to, and without, `ends_at` (UTC instants).

    `day` is the local date on which it starts. People of the shift before stay until
    `overlap_until`.
    """

    name: str
    day: date
    starts_at: datetime
    ends_at: datetime
    overlap_until: datetime

    @property
    def length(self) -> timedelta:
        """How long it lasts, in elapsed time."""
        return self.ends_at - self.starts_at


EVERY_DAY = frozenset(range(len(DAYS)))
USUAL_STARTS = (
    ShiftStart(name="Day", at=time(8), days=EVERY_DAY),
    ShiftStart(name="Evening", at=time(17), days=EVERY_DAY),
)
"""The shifts of a desk that says nothing else."""


def check_starts(starts: Sequence[ShiftStart]) -> None:
    """Raise `InvalidInput` unless the starts make a usable week."""
    if not any(start.days for start in starts):
        raise InvalidInput("A desk needs at least one shift on at least one day.")
    _check_names(starts)
    taken: set[tuple[int, time]] = set()
    for start in starts:
        if not start.days <= set(range(len(DAYS))):
            raise InvalidInput(f"{start.name}: days are Monday to Sunday.")
        if not timedelta(0) <= start.overlap <= LONGEST_OVERLAP:
            raise InvalidInput(f"{start.name}: an overlap lasts from 0 minutes to 4 hours.")
        for day in start.days:
            if (day, start.at) in taken:
                raise InvalidInput(f"Two shifts start on {DAYS[day]} at {start.at:%H:%M}.")
            taken.add((day, start.at))


def _check_names(starts: Sequence[ShiftStart]) -> None:
    known: set[str] = set()
    for start in starts:
        name = start.name.strip().casefold()
        if not name:
            raise InvalidInput("Give each shift a name.")
        if name in known:
            raise InvalidInput(f"Two shifts are called {start.name}. Give each its own name.")
        known.add(name)


def shift_at(moment: datetime, *, zone: str, starts: Sequence[ShiftStart]) -> Shift:
    """The one shift to which a moment belongs."""
    for reach in (USUAL_GAP, LONGEST_GAP):
        around = _shifts(first=moment - reach, last=moment + reach, zone=zone, starts=starts)
        for shift in around:
            if shift.starts_at <= moment < shift.ends_at:
                return shift
    raise InvalidInput("This desk has no shifts.")


def shift_after(shift: Shift, *, zone: str, starts: Sequence[ShiftStart]) -> Shift:
    """The shift that takes over."""
    return shift_at(shift.ends_at, zone=zone, starts=starts)


def shifts_between(
    *, start: datetime, end: datetime, zone: str, starts: Sequence[ShiftStart]
) -> list[Shift]:
    """All shifts that touch the time from `start` up to, and without, `end`, in order."""
    around = _shifts(first=start - LONGEST_GAP, last=end + LONGEST_GAP, zone=zone, starts=starts)
    return [shift for shift in around if shift.starts_at < end and start < shift.ends_at]


def next_boundary(*, after: datetime, zone: str, starts: Sequence[ShiftStart]) -> datetime:
    """The first start of a shift strictly later than `after`."""
    return shift_at(after, zone=zone, starts=starts).ends_at


def _shifts(
    *, first: datetime, last: datetime, zone: str, starts: Sequence[ShiftStart]
) -> Iterator[Shift]:
    """The shifts from the first start after `first` to the last start before `last`."""
    desk_zone = zone_named(zone)
    begins: dict[datetime, tuple[date, ShiftStart]] = {}
    day, last_day = first.astimezone(desk_zone).date(), last.astimezone(desk_zone).date()
    while day <= last_day:
        for start in sorted(starts, key=lambda start: start.at):
            if day.weekday() in start.days:
                # Two that fall together where the clocks jump: the later by the clock stands.
                instant = first_instant_at(datetime.combine(day, start.at), zone=desk_zone)
                begins[instant] = day, start
        day += ONE_DAY
    for starts_at, ends_at in pairwise(sorted(begins)):
        of_day, start = begins[starts_at]
        yield Shift(
            name=start.name,
            day=of_day,
            starts_at=starts_at,
            ends_at=ends_at,
            overlap_until=min(starts_at + start.overlap, ends_at),
        )


def instant_of(wall: datetime, *, zone: str) -> datetime:
    """The instant at which clocks in `zone` show a wall time (a datetime without zone).

    Raises `InvalidInput` for a time that the clocks skip, and `AmbiguousTime` for one that they
    show twice: somebody has to say which is meant.
    """
    if wall.tzinfo is not None:
        raise InvalidInput("A wall time has no offset of its own; its zone is given beside it.")
    place = zone_named(zone)
    earlier, later = (wall.replace(tzinfo=place, fold=fold).astimezone(UTC) for fold in (0, 1))
    if earlier.astimezone(place).replace(tzinfo=None) != wall:
        after = local_text(first_instant_at(wall, zone=place), zone=zone)
        raise InvalidInput(
            f"{wall:%H:%M} does not exist on {wall:%a} {wall.day} {wall:%b} in {zone}: clocks go "
            f"forward. The next minute is {after}."
        )
    if earlier != later:
        named = " or ".join(local_text(moment, zone=zone) for moment in (earlier, later))
        raise AmbiguousTime(
            f"{wall:%H:%M} occurs twice on {wall:%a} {wall.day} {wall:%b} in {zone}, since clocks "
            f"go back. Say which: {named}.",
            choices=(earlier, later),
        )
    return earlier


def chosen_instant(typed: WallTime) -> datetime:
    """The instant that was meant; raises like `instant_of` until one of two was chosen."""
    if typed.wall.year not in BELIEVABLE_YEARS:
        raise InvalidInput(f"{typed.wall:%Y} is not a year that business is done in.")
    try:
        return instant_of(typed.wall, zone=typed.zone)
    except AmbiguousTime as error:
        chosen = dict(zip(("earlier", "later"), error.choices, strict=True)).get(typed.which)
        if chosen is None:
            raise
        return chosen

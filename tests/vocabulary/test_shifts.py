"""E1: which shift it is has one answer for every minute, also when the clocks change."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.shifts import (
    AmbiguousTime,
    ShiftStart,
    check_starts,
    instant_of,
    next_boundary,
    shift_after,
    shift_at,
    shifts_between,
)

EVERY_DAY = frozenset(range(7))
WEEKEND = frozenset({5, 6})
THREE = (
    ShiftStart(name="Day", at=time(6), days=EVERY_DAY, overlap=timedelta(minutes=30)),
    ShiftStart(name="Evening", at=time(14), days=EVERY_DAY - WEEKEND),
    ShiftStart(name="Night", at=time(22), days=EVERY_DAY),
)
ONE_MINUTE = timedelta(minutes=1)
ZONES = ("America/Chicago", "America/Denver", "Europe/London", "Australia/Lord_Howe")


@pytest.mark.parametrize("zone", ZONES)
def test_e1_every_minute_of_two_years_has_exactly_one_shift(zone: str) -> None:
    start, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC)
    found = shifts_between(start=start, end=end, zone=zone, starts=THREE)
    assert found[0].starts_at <= start and end <= found[-1].ends_at
    minute, current = start, 0
    while minute < end:
        if minute >= found[current].ends_at:
            current += 1
        here = [
            shift
            for shift in found[max(current - 1, 0) : current + 2]
            if shift.starts_at <= minute < shift.ends_at
        ]
        assert here == [found[current]], minute
        minute += ONE_MINUTE


@pytest.mark.parametrize("zone", ZONES)
def test_e1_each_start_shows_the_wall_time_of_its_pattern(zone: str) -> None:
    """Saved in winter, it does not drift in summer."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for shift in shifts_between(
        start=start, end=start + timedelta(days=730), zone=zone, starts=THREE
    ):
        pattern = next(pattern for pattern in THREE if pattern.name == shift.name)
        local = shift.starts_at.astimezone(ZoneInfo(zone))
        assert (local.time(), local.date()) == (pattern.at, shift.day)


@pytest.mark.parametrize(
    ("zone", "evening", "hours"),
    [
        ("America/Denver", datetime(2026, 11, 1, 4, 0, tzinfo=UTC), 9),
        ("America/Denver", datetime(2026, 3, 8, 5, 0, tzinfo=UTC), 7),
        ("America/Denver", datetime(2026, 11, 3, 5, 0, tzinfo=UTC), 8),
        ("Australia/Lord_Howe", datetime(2026, 4, 4, 11, 0, tzinfo=UTC), 8.5),
        ("Europe/London", datetime(2026, 10, 24, 21, 0, tzinfo=UTC), 9),
    ],
)
def test_a_night_shift_lasts_as_long_as_the_night_really_is(
    zone: str, evening: datetime, hours: float
) -> None:
    night = shift_at(evening, zone=zone, starts=THREE)
    assert (night.name, night.starts_at) == ("Night", evening)
    assert night.length == timedelta(hours=hours)
    assert shift_after(night, zone=zone, starts=THREE).name == "Day"


def test_a_shift_without_a_successor_that_day_lasts_until_the_next_one() -> None:
    saturday = datetime(2026, 11, 28, 21, 0, tzinfo=UTC)  # 15:00 in Chicago
    day = shift_at(saturday, zone="America/Chicago", starts=THREE)
    assert (day.name, day.length) == ("Day", timedelta(hours=16))


def test_the_shift_before_overlaps_and_never_past_the_next_start() -> None:
    morning = datetime(2026, 11, 24, 12, 0, tzinfo=UTC)
    day = shift_at(morning, zone="America/Chicago", starts=THREE)
    assert day.overlap_until - day.starts_at == timedelta(minutes=30)


def test_the_next_boundary_lies_ahead_also_from_a_boundary() -> None:
    morning = datetime(2026, 11, 24, 12, 0, tzinfo=UTC)
    later = next_boundary(after=morning, zone="America/Chicago", starts=THREE)
    assert later == datetime(2026, 11, 24, 20, 0, tzinfo=UTC)


def test_two_starts_that_the_clock_change_puts_together_are_one_boundary() -> None:
    starts = (
        ShiftStart(name="Two", at=time(2), days=EVERY_DAY),
        ShiftStart(name="Three", at=time(3), days=EVERY_DAY),
    )
    jump = datetime(2026, 3, 8, 9, 0, tzinfo=UTC)
    assert shift_at(jump, zone="America/Denver", starts=starts).name == "Three"


def test_c4_a_wall_time_that_occurs_twice_is_asked_about() -> None:
    with pytest.raises(AmbiguousTime, match=r"01:30 occurs twice .* MDT or .* MST") as asked:
        instant_of(datetime(2026, 11, 1, 1, 30), zone="America/Denver")
    assert asked.value.choices == (
        datetime(2026, 11, 1, 7, 30, tzinfo=UTC),
        datetime(2026, 11, 1, 8, 30, tzinfo=UTC),
    )


def test_c4_a_wall_time_that_clocks_skip_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"02:30 does not exist .* 03:00 MDT"):
        instant_of(datetime(2026, 3, 8, 2, 30), zone="America/Denver")


def test_an_ordinary_wall_time_is_one_instant() -> None:
    wall = datetime(2026, 11, 24, 8, 0)
    assert instant_of(wall, zone="America/Chicago") == datetime(2026, 11, 24, 14, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "starts",
    [
        (),
        (ShiftStart(name="Day", at=time(8), days=frozenset()),),
        (ShiftStart(name=" ", at=time(8), days=EVERY_DAY),),
        (ShiftStart(name="Day", at=time(8), days=frozenset({7})),),
        (ShiftStart(name="Day", at=time(8), days=EVERY_DAY, overlap=timedelta(hours=5)),),
        (
            ShiftStart(name="Day", at=time(8), days=EVERY_DAY),
            ShiftStart(name="Late", at=time(8), days=WEEKEND),
        ),
    ],
)
def test_a_week_that_makes_no_sense_is_refused(starts: tuple[ShiftStart, ...]) -> None:
    with pytest.raises(InvalidInput):
        check_starts(starts)

"""E01, C04: which shift it is has one answer for every minute, also when the clocks change."""

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases.vocabulary.clocks import iso
from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.shifts import (
    EVERY_DAY,
    USUAL_STARTS,
    AmbiguousTime,
    Shift,
    ShiftStart,
    check_starts,
    instant_of,
    next_boundary,
    shift_after,
    shift_at,
    shifts_between,
)

WEEKEND = frozenset({5, 6})
THREE = (
    ShiftStart(name="Day", at=time(6), days=EVERY_DAY, overlap=timedelta(minutes=30)),
    ShiftStart(name="Evening", at=time(14), days=EVERY_DAY - WEEKEND),
    ShiftStart(name="Night", at=time(22), days=EVERY_DAY),
)
ONE_MINUTE = timedelta(minutes=1)
ZONES = ("America/Chicago", "America/Denver", "Europe/London", "Australia/Lord_Howe")


TWO_YEARS = datetime(2026, 1, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC)
APIA_WITHOUT_30_DECEMBER = (
    datetime(2011, 12, 28, tzinfo=UTC),
    datetime(2012, 1, 2, tzinfo=UTC),
)


def shifts_per_minute(shifts: Sequence[Shift], *, start: datetime, end: datetime) -> bytearray:
    """For each minute from `start` up to `end`, to how many of the shifts it belongs."""
    minutes = bytearray((end - start) // ONE_MINUTE)
    for shift in shifts:
        first = (max(shift.starts_at, start) - start) // ONE_MINUTE
        last = (min(shift.ends_at, end) - start) // ONE_MINUTE
        minutes[first:last] = bytes(count + 1 for count in minutes[first:last])
    return minutes


@pytest.mark.parametrize(
    ("zone", "span"),
    [*((zone, TWO_YEARS) for zone in ZONES), ("Pacific/Apia", APIA_WITHOUT_30_DECEMBER)],
)
def test_p28_e01_every_minute_of_two_years_has_exactly_one_shift(
    zone: str, span: tuple[datetime, datetime]
) -> None:
    """Each of a million minutes is counted; the shift asked for by a moment is the same one."""
    start, end = span
    found = shifts_between(start=start, end=end, zone=zone, starts=THREE)
    assert all(shift.starts_at.second == 0 for shift in found)
    assert set(shifts_per_minute(found, start=start, end=end)) == {1}
    for shift in found:
        for moment in (shift.starts_at, shift.ends_at - ONE_MINUTE):
            assert shift_at(moment, zone=zone, starts=THREE) == shift


@pytest.mark.parametrize("zone", ZONES)
def test_e01_each_start_shows_the_wall_time_of_its_pattern(zone: str) -> None:
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


def test_a_shift_that_starts_once_a_week_lasts_all_week() -> None:
    starts = (ShiftStart(name="Watch", at=time(8), days=frozenset({0})),)
    saturday = datetime(2026, 11, 28, 21, 0, tzinfo=UTC)
    watch = shift_at(saturday, zone="America/Chicago", starts=starts)
    assert watch.length == timedelta(days=7)


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


def test_c04_a_wall_time_that_occurs_twice_is_asked_about() -> None:
    with pytest.raises(AmbiguousTime, match=r"01:30 occurs twice .* MDT or .* MST") as asked:
        instant_of(datetime(2026, 11, 1, 1, 30), zone="America/Denver")
    assert asked.value.choices == (
        datetime(2026, 11, 1, 7, 30, tzinfo=UTC),
        datetime(2026, 11, 1, 8, 30, tzinfo=UTC),
    )


def test_c04_a_wall_time_that_clocks_skip_is_refused() -> None:
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


def daily(at: time) -> tuple[ShiftStart, ...]:
    """One shift a day."""
    return (ShiftStart(name="Day", at=at, days=EVERY_DAY),)


def test_the_next_boundary_is_the_shift_start_in_the_desks_zone() -> None:
    """17:05 on Monday in Chicago: next is Tuesday 08:00."""
    evening = datetime(2026, 11, 23, 23, 5, tzinfo=UTC)
    boundary = next_boundary(after=evening, zone="America/Chicago", starts=USUAL_STARTS)
    assert iso(boundary) == "2026-11-24T14:00:00Z"


def test_c04_a_shift_that_starts_in_the_skipped_hour_starts_at_the_jump() -> None:
    """2026-03-08 02:30 does not exist in Chicago: clocks jump from 02:00 to 03:00 at 08:00Z."""
    before = datetime(2026, 3, 8, 6, 0, tzinfo=UTC)
    boundary = next_boundary(after=before, zone="America/Chicago", starts=daily(time(2, 30)))
    assert iso(boundary) == "2026-03-08T08:00:00Z"


def test_c04_a_shift_that_starts_in_the_repeated_hour_starts_once() -> None:
    """2026-11-01 01:30 happens twice in Denver; the first one counts, the second is no boundary."""
    before = datetime(2026, 11, 1, 6, 0, tzinfo=UTC)
    first = next_boundary(after=before, zone="America/Denver", starts=daily(time(1, 30)))
    second = next_boundary(after=first, zone="America/Denver", starts=daily(time(1, 30)))
    assert iso(first) == "2026-11-01T07:30:00Z"
    assert iso(second) == "2026-11-02T08:30:00Z"


@given(
    after=st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31), timezones=st.just(UTC)),
    zone=st.sampled_from(ZONES),
)
def test_e01_there_is_always_a_next_boundary_and_it_lies_ahead(after: datetime, zone: str) -> None:
    """For any minute of two years: later than now, at most a night with a clock change away."""
    boundary = next_boundary(after=after, zone=zone, starts=USUAL_STARTS)
    assert timedelta() < boundary - after <= timedelta(hours=16)

"""The arithmetic behind the lead's numbers: parts of a period, medians, and spans of time."""

from datetime import UTC, datetime, time, timedelta

import pytest

from cases.vocabulary.numbers import (
    Span,
    by_part,
    days_until,
    duration_text,
    median,
    nine_of_ten,
    ratio_text,
    share_text,
    shifts_until,
    within,
)
from cases.vocabulary.shifts import USUAL_STARTS, ShiftStart

CHICAGO = "America/Chicago"
HOUR = timedelta(hours=1)
AFTER_THE_CLOCKS_TURNED = datetime(2026, 11, 2, 18, tzinfo=UTC)  # Mon 2 Nov, noon


def minutes(*numbers: int) -> list[timedelta]:
    """So many minutes each."""
    return [timedelta(minutes=number) for number in numbers]


def test_days_follow_each_other_and_one_is_longer_where_clocks_go_back() -> None:
    days = days_until(AFTER_THE_CLOCKS_TURNED, zone=CHICAGO, days=7)
    assert [day.label for day in days][::6] == ["Tue 27 Oct", "Mon 2 Nov"]
    assert all(one.ends_at == next_.starts_at for one, next_ in zip(days, days[1:], strict=False))
    assert [(day.ends_at - day.starts_at) / HOUR for day in days] == [24, 24, 24, 24, 24, 25, 24]


@pytest.mark.parametrize(
    ("at", "zone", "hours"),
    [
        (datetime(2026, 3, 8, 18, tzinfo=UTC), CHICAGO, 23),
        (datetime(2026, 4, 4, 18, tzinfo=UTC), "Australia/Lord_Howe", 24.5),
        (datetime(2026, 3, 29, 12, tzinfo=UTC), "Asia/Beirut", 23),  # midnight itself is skipped
    ],
)
def test_the_day_of_a_change_of_clocks_has_its_own_length(
    at: datetime, zone: str, hours: float
) -> None:
    today = days_until(at, zone=zone, days=1)[0]
    assert (today.ends_at - today.starts_at) / HOUR == hours


def test_shifts_are_those_that_began_in_the_period_up_to_the_present_one() -> None:
    shifts = shifts_until(AFTER_THE_CLOCKS_TURNED, zone=CHICAGO, starts=USUAL_STARTS, days=2)
    labels = ["Sun 1 Nov, Day", "Sun 1 Nov, Evening", "Mon 2 Nov, Day"]
    assert [shift.label for shift in shifts] == labels
    long_night = shifts_until(AFTER_THE_CLOCKS_TURNED, zone=CHICAGO, starts=USUAL_STARTS, days=3)[1]
    assert long_night.ends_at - long_night.starts_at == 16 * HOUR


def test_a_shift_that_began_before_the_period_is_shown_when_it_is_the_only_one() -> None:
    weekly = [ShiftStart(name="Week", at=time(8), days=frozenset({0}))]
    at = AFTER_THE_CLOCKS_TURNED - timedelta(hours=6)  # Monday 06:00
    only = shifts_until(at, zone=CHICAGO, starts=weekly, days=5)
    assert [shift.label for shift in only] == ["Mon 26 Oct, Week"]


def test_an_instant_belongs_to_the_part_that_it_begins() -> None:
    days = days_until(AFTER_THE_CLOCKS_TURNED, zone=CHICAGO, days=2)
    instants = [
        days[0].starts_at - timedelta(seconds=1),
        days[0].starts_at,
        days[1].starts_at,
        days[1].ends_at,
    ]
    assert by_part(instants, parts=days, at=lambda moment: moment) == [
        [days[0].starts_at],
        [days[1].starts_at],
    ]


def test_a_span_is_counted_in_each_part_for_as_long_as_it_lay_there() -> None:
    first, second = days_until(AFTER_THE_CLOCKS_TURNED, zone=CHICAGO, days=2)
    night = Span(
        case_id=1,
        subject="S-1",
        starts_at=second.starts_at - 3 * HOUR,
        ends_at=second.starts_at + HOUR,
    )
    assert [within([night, night], part) for part in (first, second)] == [6 * HOUR, 2 * HOUR]


@pytest.mark.parametrize(
    ("values", "middle", "most"),
    [((5,), 5, 5), ((9, 1), 5, 9), ((3, 1, 2), 2, 3), (tuple(range(1, 11)), 5.5, 9)],
)
def test_the_median_and_what_nine_of_ten_do_not_exceed(
    values: tuple[int, ...], middle: float, most: int
) -> None:
    assert median(minutes(*values)) == timedelta(minutes=middle)
    assert nine_of_ten(minutes(*values)) == timedelta(minutes=most)


def test_nothing_has_neither_median_nor_share() -> None:
    assert (median([]), nine_of_ten([])) == (None, None)
    assert (duration_text(None), share_text(0, 0), ratio_text(3, 0)) == ("–", "–", "–")


def test_lengths_shares_and_ratios_read_as_people_say_them() -> None:
    lengths = (40, 119, 720, 3600, 4800, 86_400, 273_600)
    assert [duration_text(timedelta(seconds=number)) for number in lengths] == [
        "40 s",
        "1 min",
        "12 min",
        "1 h",
        "1 h 20 min",
        "1 day",
        "3 days 4 h",
    ]
    assert [share_text(part, 3) for part in (0, 1, 2, 3)] == ["0 %", "33 %", "67 %", "100 %"]
    assert ratio_text(1, 4) == "0.25"

"""Instants, zones and shift boundaries, clock changes included (failures C4, E1, E4, E5)."""

from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases.vocabulary.clocks import instant_from, iso, local_text, next_boundary, zone_named
from cases.vocabulary.errors import InvalidInput

EIGHT_AND_FIVE = (time(8), time(17))
ZONES = ("America/Chicago", "America/Denver", "Europe/London", "Australia/Lord_Howe")


@pytest.mark.parametrize("name", ["CST", "GMT+3", "IST", "", "Chicago", "EST5EDT"])
def test_e04_a_zone_without_rules_of_a_place_is_refused(name: str) -> None:
    """Abbreviations and offsets name no clock-change rules."""
    with pytest.raises(InvalidInput):
        zone_named(name)


@pytest.mark.parametrize("text", ["2026-11-24T10:00", "tomorrow", "", "0001-01-01T00:00:00+00:00"])
def test_e05_a_time_that_cannot_be_compared_is_refused(text: str) -> None:
    """No zone, no time at all, or a system's idea of 'empty'."""
    with pytest.raises(InvalidInput):
        instant_from(text)


def test_the_next_boundary_is_the_shift_start_in_the_desks_zone() -> None:
    """17:05 on Monday in Chicago: next is Tuesday 08:00."""
    evening = datetime(2026, 11, 23, 23, 5, tzinfo=UTC)
    boundary = next_boundary(after=evening, zone="America/Chicago", starts=EIGHT_AND_FIVE)
    assert iso(boundary) == "2026-11-24T14:00:00Z"


def test_c04_a_shift_that_starts_in_the_skipped_hour_starts_at_the_jump() -> None:
    """2026-03-08 02:30 does not exist in Chicago: clocks jump from 02:00 to 03:00 at 08:00Z."""
    before = datetime(2026, 3, 8, 6, 0, tzinfo=UTC)
    boundary = next_boundary(after=before, zone="America/Chicago", starts=(time(2, 30),))
    assert iso(boundary) == "2026-03-08T08:00:00Z"


def test_c04_a_shift_that_starts_in_the_repeated_hour_starts_once() -> None:
    """2026-11-01 01:30 happens twice in Denver; the first one counts, the second is no boundary."""
    before = datetime(2026, 11, 1, 6, 0, tzinfo=UTC)
    first = next_boundary(after=before, zone="America/Denver", starts=(time(1, 30),))
    second = next_boundary(after=first, zone="America/Denver", starts=(time(1, 30),))
    assert iso(first) == "2026-11-01T07:30:00Z"
    assert iso(second) == "2026-11-02T08:30:00Z"


@given(
    after=st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31), timezones=st.just(UTC)),
    zone=st.sampled_from(ZONES),
)
def test_e01_there_is_always_a_next_boundary_and_it_lies_ahead(after: datetime, zone: str) -> None:
    """For any minute of two years: later than now, at most a night with a clock change away."""
    boundary = next_boundary(after=after, zone=zone, starts=EIGHT_AND_FIVE)
    assert timedelta() < boundary - after <= timedelta(hours=16)


def test_times_are_shown_with_their_zone_and_shorter_on_the_same_day() -> None:
    """The place's own time, never a bare one."""
    moment = datetime(2026, 11, 25, 19, 0, tzinfo=UTC)
    assert local_text(moment, zone="America/New_York") == "Wed 25 Nov 14:00 EST"
    assert local_text(moment, zone="America/New_York", relative_to=moment) == "14:00 EST"

"""Instants, zones and shift boundaries, clock changes included (failures C4, E1, E4, E5)."""

from datetime import UTC, datetime

import pytest

from cases.vocabulary.clocks import instant_from, local_text, zone_named
from cases.vocabulary.errors import InvalidInput


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


def test_times_are_shown_with_their_zone_and_shorter_on_the_same_day() -> None:
    """The place's own time, never a bare one."""
    moment = datetime(2026, 11, 25, 19, 0, tzinfo=UTC)
    assert local_text(moment, zone="America/New_York") == "Wed 25 Nov 14:00 EST"
    assert local_text(moment, zone="America/New_York", relative_to=moment) == "14:00 EST"

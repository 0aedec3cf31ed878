"""P25, P12: lists that spoil, and what is read first. A list of this system holds three cases."""

from datetime import timedelta

import pytest

from cases.clock import business_now
from cases.models import SourceFeed
from cases.vocabulary.refreshing import NotRead
from tests.cases.builders import Cast, a_shipment, at_business_time, stage_of
from tests.refresh.outside import (
    Outside,
    a_night,
    follow_since_noon,
    quote_of,
    the_handover,
)


def subjects(count: int) -> list[str]:
    """S-01 and so on, in the order in which they come to be read."""
    return [f"S-{number:02}" for number in range(1, count + 1)]


def test_p12_half_of_the_cases_unreachable_keep_none_of_the_others_waiting(
    cast: Cast, outside: Outside
) -> None:
    """The six that spoil their lists come first, and are asked for again after all the others."""
    names = subjects(12)
    cases = a_night(cast, outside, names)
    outside.spoiling = set(names[:6])
    outside.refresh()
    assert [batch[0] for batch in outside.read[:4]] == ["S-01", "S-04", "S-07", "S-10"]
    stages = [stage_of(case) for case in cases.values()]
    assert stages == ["blocked"] * 6 + ["waiting_for_review"] * 6
    assert the_handover().cases_read == 6


@pytest.mark.parametrize("first", [True, False])
def test_p12_bad_records_side_by_side_cost_no_other_its_reading(
    cast: Cast, outside: Outside, first: bool
) -> None:
    names = subjects(12)
    cases = a_night(cast, outside, names)
    bad = set(names[:2] if first else names[-2:]) | {"S-06"}
    outside.spoiling = bad
    outside.refresh()
    blocked = {name for name, case in cases.items() if stage_of(case) == "blocked"}
    assert blocked == bad


def test_p12_a_system_that_answers_no_list_is_soon_left_alone(cast: Cast, outside: Outside) -> None:
    """One call for each list, and some for the parts of the first; all of them would take 25."""
    names = subjects(15)
    cases = a_night(cast, outside, names)
    outside.spoiling = set(names)
    outside.refresh()
    assert len(outside.read) <= len(names) / outside.most_at_once + 4
    assert {stage_of(case) for case in cases.values()} == {"blocked"}
    assert the_handover().refreshed_at is not None


def test_p12_no_part_is_asked_for_once_there_is_no_answer_at_all(
    cast: Cast, outside: Outside
) -> None:
    names = subjects(9)
    cases = a_night(cast, outside, names)
    outside.spoiling = set(names)

    def fall_silent() -> None:
        if len(outside.read) == 4:
            outside.is_away = NotRead(reason="transport system cannot be reached")

    outside.on_read = fall_silent
    outside.refresh()
    assert len(outside.read) == 4
    assert {stage_of(case) for case in cases.values()} == {"blocked"}


def test_p12_parts_are_asked_for_as_long_as_that_helps(
    cast: Cast, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of 64 with one good record: after twenty calls in vain the rest of it is left."""
    monkeypatch.setattr(Outside, "most_at_once", 64)
    names = subjects(64)
    a_night(cast, outside, names)
    outside.spoiling = set(names[:-1])
    outside.refresh()
    assert len(outside.read) <= 1 + 22


def test_p12_beside_what_was_told_there_is_more_to_find(
    cast: Cast, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first 21 of 32 spoil the list; none of the others is lost to the patience for them."""
    monkeypatch.setattr(Outside, "most_at_once", 32)
    names = subjects(32)
    a_night(cast, outside, names)
    outside.spoiling = set(names[:21])
    outside.refresh()
    assert the_handover().cases_read == 11


def test_p25_held_back_in_the_middle_of_a_list_the_rest_has_its_turn_later(
    cast: Cast, outside: Outside
) -> None:
    """What failed is blocked with the next try; what was not asked for is not."""
    names = subjects(6)
    cases = a_night(cast, outside, names)
    outside.spoiling = {"S-01"}

    def slow_down() -> None:
        if len(outside.read) == 2:
            outside.is_away = NotRead(
                reason="no call now", retry_after=timedelta(seconds=40), was_asked=False
            )

    outside.on_read = slow_down
    outside.refresh()
    stages = [stage_of(case) for case in cases.values()]
    assert stages == ["blocked"] * 3 + ["waiting_for_review"] * 3
    assert the_handover().refreshed_at is None
    outside.is_away, outside.on_read, outside.spoiling = None, lambda: None, set()
    at_business_time(business_now() + timedelta(seconds=41))
    outside.refresh()
    assert {stage_of(case) for case in cases.values()} == {"waiting_for_review"}
    assert the_handover().cases_read == len(names)


def test_p25_what_the_feed_names_is_read_before_what_it_only_does_not_prove(
    cast: Cast, outside: Outside
) -> None:
    """The feed was not followed when these were read; it does name S-05, which has changed."""
    a_night(cast, outside, subjects(5))
    outside.changes("S-05", a_shipment(42, subject="S-05"), quote_of("S-05"))
    outside.refresh()
    assert outside.subjects_read[0] == "S-05"
    assert len(outside.subjects_read) == 5


def test_p12_what_the_feed_names_does_not_share_a_list_with_what_spoils_it(
    cast: Cast, outside: Outside
) -> None:
    a_night(cast, outside, subjects(3))
    outside.changes("S-03", a_shipment(42, subject="S-03"), quote_of("S-03"))
    outside.spoiling = {"S-01", "S-02"}
    outside.refresh()
    assert outside.read[0] == ["S-03"]
    assert the_handover().cases_read == 1


def test_p12_parts_of_what_the_feed_names_come_before_what_it_does_not_name(
    cast: Cast, outside: Outside
) -> None:
    a_night(cast, outside, subjects(6))
    for name in ("S-04", "S-05"):
        outside.changes(name, a_shipment(42, subject=name), quote_of(name))
    outside.spoiling = {"S-01", "S-04"}
    outside.refresh()
    assert outside.read[:3] == [["S-04", "S-05"], ["S-04"], ["S-05"]]
    assert the_handover().cases_read == 4


def test_p25_a_change_named_after_the_refresh_is_read_at_the_next_look(
    cast: Cast, outside: Outside
) -> None:
    follow_since_noon(outside)
    a_night(cast, outside, subjects(2))
    outside.refresh()
    assert outside.read == []
    outside.changes("S-02", a_shipment(42, subject="S-02"), quote_of("S-02"))
    SourceFeed.objects.update(next_read_at=None)
    outside.refresh()
    assert outside.read == [["S-02"]]

"""P25: a sheet goes with its boundary when people change the shifts while it is open."""

from datetime import datetime, time, timedelta

import pytest

from cases.actions import roster
from cases.actions.handovers import open_handovers
from cases.clock import business_now
from cases.models import AuditEvent, Case, Handover, SourceFeed
from cases.queries.handover import find_handover
from cases.vocabulary.errors import Conflict
from cases.vocabulary.shifts import EVERY_DAY, USUAL_STARTS, ShiftStart
from tests.cases.builders import MORNING, Cast, at_business_time
from tests.cases.mornings import (
    AFTER,
    BEFORE,
    Kind,
    answer,
    hand_over,
    looked_at,
    read_in_the_morning,
    row_for,
    sheet,
    sign,
)

MINUTE = timedelta(minutes=1)
TEN_TO_EIGHT, TEN = MORNING - 10 * MINUTE, MORNING + timedelta(hours=2)


@pytest.fixture
def handover(cast: Cast) -> Handover:
    """Tuesday 07:41: the sheet of 08:00, for which its case was read."""
    found, _ = read_in_the_morning(cast, "S-318")
    at_business_time(BEFORE + MINUTE)
    return found


def the_day_begins(cast: Cast, at: time) -> None:
    """The lead lets the day shift begin at another time."""
    starts = [ShiftStart(name="Day", at=at, days=EVERY_DAY), USUAL_STARTS[1]]
    roster.set_shifts(desk=cast.desk, starts=starts, by=cast.lead, at=business_now())


def looks_at(moment: datetime) -> Handover:
    """The sweep comes by, and opens no further sheet; the only one as it stands then."""
    at_business_time(moment)
    assert open_handovers() == 0
    return find_handover(Handover.objects.get().pk)


def test_p25_a_boundary_that_comes_earlier_has_its_handover(cast: Cast, handover: Handover) -> None:
    the_day_begins(cast, time(7, 50))
    found = looks_at(BEFORE + 2 * MINUTE)
    assert (found.boundary, found.opened_at) == (TEN_TO_EIGHT, handover.opened_at)
    told = AuditEvent.objects.get(case_id=0, event="handover_moved")
    assert (told.actor_name, told.data["before"]) == ("Watchbill", "2026-11-24T14:00:00Z")
    hand_over(found, cast.owner)
    at_business_time(TEN_TO_EIGHT)
    case = Case.objects.get()
    assert not row_for(case).only_as_blocked
    answer(looked_at(case), Kind.ACCEPT, cast.colleague)
    sign(found, cast.lead)


def test_p25_a_sweep_that_comes_after_the_earlier_boundary_still_moves_the_sheet(
    cast: Cast, handover: Handover
) -> None:
    the_day_begins(cast, time(7, 50))
    at_business_time(TEN_TO_EIGHT + MINUTE)
    open_handovers()
    assert Handover.objects.get().boundary == TEN_TO_EIGHT


def test_p25_a_boundary_that_is_put_off_takes_the_sheet_along_and_is_read_for_anew(
    cast: Cast, handover: Handover
) -> None:
    Handover.objects.update(refreshed_at=business_now())
    SourceFeed.objects.create(system="transport", next_read_at=TEN)
    the_day_begins(cast, time(10))
    found = looks_at(BEFORE + 2 * MINUTE)
    assert (found.boundary, found.opened_at) == (TEN, handover.opened_at)
    hand_over(found, cast.owner)
    case = Case.objects.get()
    answer(looked_at(case), Kind.QUESTION, cast.colleague, reason="Why?")
    with pytest.raises(Conflict, match="begins Tue 24 Nov 10:00 CST"):
        sign(found, cast.lead)
    assert not row_for(case).only_as_blocked
    found = looks_at(TEN - 30 * MINUTE)
    assert found.opened_at >= TEN - 30 * MINUTE
    assert found.refreshed_at is None
    assert SourceFeed.objects.get().next_read_at is None
    assert row_for(case).only_as_blocked


def test_p25_a_shift_that_is_taken_away_takes_the_sheet_to_the_next_one(
    cast: Cast, handover: Handover
) -> None:
    night = ShiftStart(name="Evening", at=time(17), days=EVERY_DAY)
    late = ShiftStart(name="Late", at=time(8, 30), days=EVERY_DAY)
    day = ShiftStart(name="Day", at=time(12), days=EVERY_DAY)
    roster.set_shifts(desk=cast.desk, starts=[night, late, day], by=cast.lead, at=business_now())
    found = looks_at(BEFORE + 2 * MINUTE)
    assert (found.from_shift, found.to_shift) == ("Evening", "Late")
    assert found.boundary == MORNING + 30 * MINUTE
    shown = sheet(found)
    assert (shown.outgoing, shown.incoming) == ("Marta Ortega", "")


def test_p25_what_was_handed_over_by_then_stays_at_its_boundary(
    cast: Cast, handover: Handover
) -> None:
    at_business_time(AFTER)
    the_day_begins(cast, time(7, 50))
    assert looks_at(AFTER + MINUTE).boundary == MORNING
    assert not AuditEvent.objects.filter(event="handover_moved").exists()

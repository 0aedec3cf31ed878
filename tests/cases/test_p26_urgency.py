"""P26: what makes a row urgent, and which cases come back by themselves."""

from datetime import timedelta

import pytest

from cases.actions.clock import move_business_clock
from cases.actions.lines import NewLine, write_line
from cases.clock import business_now
from cases.models import Case
from cases.queries.handover_shapes import SheetRow
from cases.vocabulary.shifts import WallTime
from tests.cases.builders import (
    EVENING,
    MORNING,
    Cast,
    a_quote,
    a_shipment,
    agent_reads,
    an_open_case,
    at_business_time,
)
from tests.cases.mornings import a_night_case, a_roster, opened, row_for

IN_AN_HOUR = WallTime(wall=MORNING.replace(tzinfo=None, hour=8, minute=30), zone="America/Chicago")


def row_with(case: Case, cast: Cast, sort: str) -> SheetRow:
    """The row at 07:40 once a line of that sort is written, with a time at 08:30."""
    line = NewLine(sort=sort, text="Wake the driver", party="Bo of Swift", due=IN_AN_HOUR)
    write_line(case_id=case.pk, line=line, by=cast.owner, at=business_now())
    return row_for(case)


@pytest.fixture
def case(cast: Cast) -> Case:
    """A case on the sheet whose proposal lasts over the day."""
    a_roster(cast)
    case = a_night_case(cast)
    opened(cast)
    assert row_for(case).condition != "urgent"
    return case


@pytest.mark.parametrize("sort", ["promise", "next_step", "waiting_on"])
def test_p26_what_is_due_within_the_hour_is_urgent(cast: Cast, case: Case, sort: str) -> None:
    row = row_with(case, cast, sort)
    assert (row.condition, row.must_read_back) == ("urgent", True)


def test_p26_until_when_something_must_not_be_done_is_no_deadline(cast: Cast, case: Case) -> None:
    row = row_with(case, cast, "do_not")
    assert (row.condition, row.ends_at == MORNING + timedelta(minutes=30)) == ("watch", False)
    assert [line.due_word for line in row.lines["do_not"]] == ["until"]


def test_p26_a_case_without_a_plan_is_decided_or_comes_back_when_somebody_is_asked_again(
    cast: Cast,
) -> None:
    """Escalated for want of a rate: a person decides, unless Bo is asked again at half past."""
    a_roster(cast)
    at_business_time(EVENING)
    case = an_open_case(cast)
    world = (a_shipment(), a_quote(state="withdrawn"))
    agent_reads(case, world)
    opened(cast)
    agent_reads(case, world)
    assert (row_for(case).section, row_for(case).condition) == ("ready", "watch")
    assert row_for(case).wait.following == "Priya Raman says what happens instead."
    assert row_with(case, cast, "waiting_on").section == "waking"
    move_business_clock(by=timedelta(hours=1))
    assert row_for(case).section == "ready"

"""P25, P13: cases that share a record. What is read for one is weighed for the others too."""

from dataclasses import replace
from datetime import timedelta

import pytest

from cases.actions import runs
from cases.models import Case, Desk, Handover, SourceFeed, SourceRecord
from tests.cases.builders import (
    AGENT,
    EVENING,
    TWO_O_CLOCK,
    Cast,
    a_grant,
    a_shipment,
    agent_reads,
    an_open_case,
    at_business_time,
    audit_of,
    current_proposal,
    stage_of,
)
from tests.refresh.outside import (
    HALF_PAST_SEVEN,
    MINUTE,
    Outside,
    a_night,
    follow_since_noon,
    quote_of,
    the_handover,
)

HOURS_LATER = timedelta(hours=3)
MOVED = (a_shipment(42, subject="S-1", delivery_window=TWO_O_CLOCK), quote_of("S-1"))
pytestmark = pytest.mark.usefixtures("two_types")


def beside(cast: Cast, outside: Outside, *, opened: timedelta = timedelta(0)) -> Case:
    """Another kind of trouble with S-1, which waits for a release as well."""
    at_business_time(EVENING + opened)
    case = an_open_case(cast, subject="S-1", case_type="E07")
    agent_reads(case, outside.told["S-1"])
    at_business_time(HALF_PAST_SEVEN)
    return case


def test_p13_a_quote_withdrawn_is_noticed_though_a_later_case_never_knew_it(
    cast: Cast, outside: Outside
) -> None:
    """The proposal of the first case rests on it; the second was opened after it was gone."""
    one = a_night(cast, outside, ("S-1",))["S-1"]
    outside.changes("S-1", a_shipment(subject="S-1"), quote_of("S-9"))
    other = beside(cast, outside, opened=HOURS_LATER)
    outside.refresh()
    assert (current_proposal(one).state, current_proposal(other).state) == ("stale", "ready")
    assert SourceRecord.objects.filter(record_id="Q-S-1", latest__outcome="missing").exists()
    assert not other.sources.filter(record_id="Q-S-1").exists()


def test_p25_a_case_of_which_a_record_was_left_out_is_not_refreshed_but_read_by_itself(
    cast: Cast, outside: Outside
) -> None:
    cases = a_night(cast, outside, ("S-1", "S-2"))
    outside.left_out = {"Q-S-1"}
    outside.refresh()
    assert the_handover().cases_read == 1
    assert due(cases["S-1"])


def due(*cases: Case) -> bool:
    """Whether the agent has work on exactly these."""
    found = runs.nudge_due(agent=AGENT, limit=10)
    return {run.case_id for run in found} == {case.pk for case in cases}


def test_p25_both_cases_about_a_shipment_are_weighed_and_wake_the_agent(
    cast: Cast, outside: Outside
) -> None:
    follow_since_noon(outside)
    cases = a_night(cast, outside, ("S-1", "S-2"))
    other = beside(cast, outside)
    outside.changes("S-1", *MOVED)
    outside.refresh()
    assert [stage_of(case) for case in (cases["S-1"], other)] == ["investigating"] * 2
    assert [current_proposal(case).state for case in (cases["S-1"], other)] == ["stale"] * 2
    assert due(cases["S-1"], other)
    read = [row for row in audit_of(other) if row.event == "source_read"]
    assert [row.data["changed"] for row in read if row.actor_kind == "agent"][-2:] == [True, False]


def test_p25_a_case_of_a_desk_that_hands_nothing_over_now_is_weighed_with_it(
    cast: Cast, outside: Outside
) -> None:
    """Denver's shift changes an hour later; what was read for Chicago is news to it already."""
    follow_since_noon(outside)
    one = a_night(cast, outside, ("S-1",))["S-1"]
    denver = Desk.objects.create(name="DEN desk", zone="America/Denver", lead=cast.lead)
    other = beside(replace(cast, desk=denver), outside, opened=90 * MINUTE)
    outside.changes("S-1", *MOVED)
    outside.refresh()
    assert Handover.objects.get().desk == cast.desk
    assert (stage_of(other), current_proposal(other).state) == ("investigating", "stale")
    assert due(one, other)


def test_p13_one_reading_is_weighed_for_every_case_about_the_shipment(
    cast: Cast, outside: Outside
) -> None:
    """A worker holds one of the two, and must not lose the news."""
    follow_since_noon(outside)
    one = a_night(cast, outside, ("S-1",))["S-1"]
    other = beside(cast, outside)
    outside.changes("S-1", *MOVED)
    grant = a_grant(other)
    outside.refresh()
    assert (current_proposal(one).state, current_proposal(other).state) == ("stale", "ready")
    runs.let_go(grant=grant)
    SourceFeed.objects.update(next_read_at=None)
    outside.refresh()
    assert current_proposal(other).state == "stale"


def test_p13_what_a_visit_read_for_one_case_leaves_the_other_unproved(
    cast: Cast, outside: Outside
) -> None:
    """The feed is silent since, but the other proposal never saw version 42."""
    one = a_night(cast, outside, ("S-1",))["S-1"]
    other = beside(cast, outside)
    follow_since_noon(outside)
    outside.told["S-1"] = list(MOVED)
    at_business_time(HALF_PAST_SEVEN - 60 * MINUTE)
    agent_reads(one, MOVED)
    at_business_time(HALF_PAST_SEVEN)
    outside.refresh()
    assert (current_proposal(one).number, current_proposal(one).state) == (2, "ready")
    assert (current_proposal(other).number, current_proposal(other).state) == (1, "stale")
    assert due(other)

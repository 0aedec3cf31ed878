"""P25, P11, P12: at a shift boundary every open case is refreshed, in bulk, with its coverage."""

from dataclasses import replace
from datetime import timedelta

import pytest

from cases.actions import decisions, pauses, runs
from cases.actions.handovers import open_handovers
from cases.clock import business_now
from cases.models import Case, Handover, Observation, Run, SourceFeed
from cases.vocabulary.errors import DecisionRefused
from cases.vocabulary.freight_plans import promise_about
from cases.vocabulary.refreshing import NotRead
from tests.cases.builders import (
    AGENT,
    LEASE,
    MORNING,
    OAKLINE,
    TEN_O_CLOCK,
    TWO_O_CLOCK,
    Cast,
    a_shipment,
    agent_reads,
    an_answer,
    at_business_time,
    audit_of,
    current_proposal,
    events_of,
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

FIVE = ("S-1", "S-2", "S-3", "S-4", "S-5")
AWAY = NotRead(reason="transport system answered 503 (service unavailable)")


def test_p25_from_half_an_hour_before_the_boundary_every_open_case_is_read(
    cast: Cast, outside: Outside
) -> None:
    cases = a_night(cast, outside, FIVE)
    at_business_time(MORNING - 31 * MINUTE)
    assert outside.refresh() == 0
    at_business_time(MORNING - 30 * MINUTE)
    assert outside.refresh() == len(cases)
    handover = the_handover()
    assert (handover.boundary, handover.from_shift, handover.to_shift) == (
        MORNING,
        "Evening",
        "Day",
    )
    assert (handover.cases_to_read, handover.cases_read) == (5, 5)
    assert handover.refreshed_at is not None
    assert handover.rows.count() == len(cases)


def test_p25_what_was_refreshed_is_not_read_again_one_by_one_at_the_boundary(
    cast: Cast, outside: Outside
) -> None:
    a_night(cast, outside, FIVE)
    outside.refresh()
    at_business_time(MORNING + MINUTE)
    assert not runs.nudge_due(agent=AGENT, limit=10)


def test_p25_without_a_refresh_each_case_is_still_due_at_the_boundary(
    cast: Cast, outside: Outside
) -> None:
    cases = a_night(cast, outside, FIVE)
    at_business_time(MORNING + MINUTE)
    assert len(runs.nudge_due(agent=AGENT, limit=10)) == len(cases)


def test_p25_an_old_sheet_that_was_never_refreshed_does_not_drive_the_refresh_for_ever(
    cast: Cast, outside: Outside
) -> None:
    a_night(cast, outside, FIVE)
    open_handovers()
    Handover.objects.update(boundary=MORNING - timedelta(days=1), opened_at=HALF_PAST_SEVEN)
    at_business_time(MORNING + MINUTE)
    outside.refresh()
    newest = Handover.objects.latest("boundary")
    assert newest.refreshed_at is not None
    assert Handover.objects.filter(refreshed_at=None).exists()
    feed = SourceFeed.objects.get()
    assert feed.next_read_at is not None
    assert feed.next_read_at - business_now() > timedelta(seconds=20)


def test_p25_a_boundary_that_was_missed_gets_its_handover_later(
    cast: Cast, outside: Outside
) -> None:
    a_night(cast, outside, FIVE)
    at_business_time(MORNING + timedelta(hours=2))
    outside.refresh()
    assert the_handover().boundary == MORNING


def test_p25_what_the_feed_does_not_name_is_proved_unchanged_without_a_call(
    cast: Cast, outside: Outside
) -> None:
    follow_since_noon(outside)
    cases = a_night(cast, outside, FIVE)
    outside.changes("S-2", a_shipment(42, subject="S-2", weight="18300"), quote_of("S-2"))
    assert outside.refresh() == len(cases)
    assert outside.subjects_read == ["S-2"]
    assert (the_handover().cases_read, stage_of(cases["S-1"])) == (5, "waiting_for_review")
    retained = audit_of(cases["S-1"])[-1]
    assert retained.event == "proposal_retained"
    assert "names no change of it up to entry 1" in retained.data["reason"]


def test_p25_only_a_material_change_makes_work_for_the_agent(cast: Cast, outside: Outside) -> None:
    """The night of S-318 in the middle of four quiet cases."""
    follow_since_noon(outside)
    cases = a_night(cast, outside, FIVE)
    moved = a_shipment(42, subject="S-3", delivery_window=TWO_O_CLOCK, carrier_assignment=OAKLINE)
    outside.changes("S-3", moved, quote_of("S-3"))
    outside.refresh()
    stale = current_proposal(cases["S-3"])
    assert (stale.state, stage_of(cases["S-3"])) == ("stale", "investigating")
    assert [row.case_id for row in runs.nudge_due(agent=AGENT, limit=10)] == [cases["S-3"].pk]
    changes = next(row for row in audit_of(cases["S-3"]) if row.event == "proposal_stale")
    assert [item["key"] for item in changes.data["changes"]] == [
        "delivery_window",
        "carrier_assignment",
    ]


def test_scenario_09_an_employee_did_all_of_it_and_is_credited(
    cast: Cast, outside: Outside
) -> None:
    """Carrier assigned and customer told: nothing is left, the proposal is cleared."""
    follow_since_noon(outside)
    cases = a_night(cast, outside, FIVE)
    about = promise_about(window=TEN_O_CLOCK, scac="OAKX")
    notice = {"about": about, "sent_at": "2026-11-24T12:00:00Z", "sent_by": "J. Ortiz"}
    done = a_shipment(42, subject="S-4", carrier_assignment=OAKLINE, customer_notice=notice)
    outside.changes("S-4", done, quote_of("S-4", state="withdrawn"))
    outside.refresh()
    withdrawn = current_proposal(cases["S-4"])
    assert (withdrawn.state, stage_of(cases["S-4"])) == ("withdrawn", "waiting_for_acceptance")
    assert "Ortiz" in withdrawn.state_reason


def test_scenario_05_what_cannot_be_read_is_blocked_and_comes_back_by_itself(
    cast: Cast, outside: Outside
) -> None:
    """The others are refreshed; these have an owner, a reason and a next try, and no release."""
    cases = a_night(cast, outside, FIVE)
    outside.away = {"S-2", "S-5"}
    outside.refresh()
    handover, blocked = the_handover(), Case.objects.get(pk=cases["S-2"].pk)
    assert (handover.cases_to_read, handover.cases_read) == (5, 3)
    assert (blocked.stage, blocked.owner) == ("blocked", cast.owner)
    assert "cannot be read: transport system answered 503" in blocked.blocked_reason
    assert blocked.next_try_at is not None
    with pytest.raises(DecisionRefused):
        decisions.release(answer=an_answer(blocked), by=cast.owner, at=business_now())
    outside.away = set()
    at_business_time(blocked.next_try_at + timedelta(seconds=1))
    outside.refresh()
    assert sorted(outside.subjects_read[5:]) == ["S-2", "S-5"]
    assert stage_of(blocked) == "waiting_for_review"
    assert the_handover().cases_read == 5


def test_scenario_05_after_429_nothing_is_asked_before_the_system_says(
    cast: Cast, outside: Outside
) -> None:
    cases = a_night(cast, outside, FIVE)
    outside.is_away = replace(AWAY, retry_after=timedelta(seconds=120))
    outside.refresh()
    blocked = Case.objects.get(pk=cases["S-1"].pk)
    assert blocked.blocked_since is not None and blocked.next_try_at is not None
    assert blocked.next_try_at - blocked.blocked_since >= timedelta(seconds=120)
    calls = len(outside.read)
    at_business_time(business_now() + MINUTE)
    assert (outside.refresh(), len(outside.read)) == (0, calls)


def test_p25_our_own_pace_blocks_nothing_the_rest_is_read_in_its_turn(
    cast: Cast, outside: Outside
) -> None:
    cases = a_night(cast, outside, FIVE)
    wait = timedelta(seconds=40)
    outside.is_away = NotRead(reason="no call now", retry_after=wait, was_asked=False)
    outside.refresh()
    assert the_handover().refreshed_at is None
    assert {stage_of(case) for case in cases.values()} == {"waiting_for_review"}
    outside.is_away = None
    at_business_time(business_now() + wait)
    assert outside.refresh() == len(cases)


def test_p25_what_can_be_released_and_ends_first_is_read_first(
    cast: Cast, outside: Outside
) -> None:
    cases = a_night(cast, outside, FIVE)
    Case.objects.filter(pk=cases["S-4"].pk).update(decide_by=MORNING)
    outside.refresh()
    assert outside.subjects_read[0] == "S-4"


def test_p12_facts_that_end_by_the_clock_are_read_although_the_feed_is_silent(
    cast: Cast, outside: Outside
) -> None:
    """A rate runs out without a word from anybody: silence proves nothing about it."""
    follow_since_noon(outside)
    cases = a_night(cast, outside, ("S-1",))
    noon = MORNING + timedelta(hours=4)
    at_business_time(noon + MINUTE)
    outside.told["S-1"] = [a_shipment(subject="S-1"), quote_of("S-1", state="expired")]
    outside.refresh()
    assert outside.subjects_read == ["S-1"]
    assert current_proposal(cases["S-1"]).state == "expired"


def test_p12_when_the_feed_cannot_be_read_everything_is_read_in_bulk(
    cast: Cast, outside: Outside
) -> None:
    follow_since_noon(outside)
    a_night(cast, outside, FIVE)
    outside.feed_is_away = AWAY
    outside.refresh()
    assert sorted(outside.subjects_read) == list(FIVE)


def test_p12_a_system_that_does_not_answer_is_left_alone(cast: Cast, outside: Outside) -> None:
    cases = a_night(cast, outside, [f"S-{number}" for number in range(15)])
    outside.is_away = AWAY
    outside.refresh()
    assert len(outside.read) == 1
    assert {stage_of(case) for case in cases.values()} == {"blocked"}


def test_p13_a_feed_that_began_anew_proves_nothing(cast: Cast, outside: Outside) -> None:
    """A restore of the source: its entries count from one again, and say nothing of last night."""
    outside.feed = ["S-9"]
    follow_since_noon(outside)
    a_night(cast, outside, FIVE)
    outside.era = "second"
    outside.refresh()
    assert sorted(outside.subjects_read) == list(FIVE)


def test_p13_a_reading_older_than_the_feed_names_is_never_taken_for_fresh(
    cast: Cast, outside: Outside
) -> None:
    """The feed knows of version 42; a stale replica still shows 41."""
    follow_since_noon(outside)
    cases = a_night(cast, outside, FIVE)
    outside.changes("S-2", a_shipment(42, subject="S-2"), quote_of("S-2"))

    def lag() -> None:
        outside.told["S-2"] = [a_shipment(41, subject="S-2"), quote_of("S-2")]

    outside.on_read = lag
    outside.refresh()
    assert stage_of(cases["S-2"]) == "blocked"
    assert the_handover().cases_read == 4


def test_p12_a_case_that_cannot_be_weighed_keeps_no_other_from_being_refreshed(
    cast: Cast, outside: Outside
) -> None:
    """Its stored proposal makes no sense any more; a visit of its own says so."""
    cases = a_night(cast, outside, FIVE)
    cases["S-2"].proposals.update(facts=[{"key": "nonsense"}])
    outside.refresh()
    assert the_handover().cases_read == 4
    assert [row.case_id for row in runs.nudge_due(agent=AGENT, limit=10)] == [cases["S-2"].pk]


def test_p18_what_a_worker_holds_is_left_to_it_and_read_afterwards(
    cast: Cast, outside: Outside
) -> None:
    cases = a_night(cast, outside, FIVE)
    Run.objects.filter(case=cases["S-1"]).update(due_at=business_now())
    grant = runs.claim(case_id=cases["S-1"].pk, agent=AGENT, worker="other", lease=LEASE)
    assert grant is not None
    before = events_of(cases["S-1"])
    outside.refresh()
    assert ("S-1" not in outside.subjects_read, events_of(cases["S-1"])) == (True, before)
    runs.let_go(grant=grant)
    SourceFeed.objects.update(next_read_at=None)
    outside.refresh()
    assert the_handover().cases_read == 5


def test_p21_a_paused_lane_is_not_refreshed_and_catches_up(cast: Cast, outside: Outside) -> None:
    a_night(cast, outside, FIVE)
    pause = pauses.set_pause(
        lane="refresh", kind="", agent="", reason="Connector.", by=cast.lead, at=business_now()
    )
    outside.refresh()
    assert (outside.read, outside.pages, Handover.objects.count()) == ([], 0, 1)
    pauses.lift_pause(pause_id=pause.pk, reason="Back.", by=cast.lead, at=business_now())
    outside.refresh()
    assert the_handover().cases_read == 5


def test_p21_a_pause_set_during_the_refresh_stops_the_next_call(
    cast: Cast, outside: Outside
) -> None:
    a_night(cast, outside, FIVE)

    def pause() -> None:
        pauses.set_pause(
            lane="refresh", kind="", agent="", reason="Stop.", by=cast.lead, at=business_now()
        )

    outside.on_read = pause
    outside.refresh()
    assert len(outside.read) == 1


def test_e10_a_hundred_refreshes_without_a_change_mark_nothing_stale(
    cast: Cast, outside: Outside
) -> None:
    """A source without versions, named by its feed each time: facts alone are compared."""
    cases = a_night(cast, outside, ("S-1",))
    for number in range(100):
        reading = replace(a_shipment(subject="S-1"), version=None, etag=f"tag-{number}")
        outside.changes("S-1", reading, quote_of("S-1"))
        SourceFeed.objects.update(next_read_at=None)
        outside.refresh()
    assert len(outside.subjects_read) == 100
    assert current_proposal(cases["S-1"]).state == "ready"
    assert not [event for event in events_of(cases["S-1"]) if event == "proposal_stale"]
    assert Observation.objects.filter(record__record_type="shipment").count() == 101


def test_a_revised_proposal_is_ready_after_one_visit(cast: Cast, outside: Outside) -> None:
    follow_since_noon(outside)
    cases = a_night(cast, outside, ("S-1",))
    moved = a_shipment(42, subject="S-1", delivery_window=TWO_O_CLOCK)
    outside.changes("S-1", moved, quote_of("S-1"))
    outside.refresh()
    agent_reads(cases["S-1"], outside.told["S-1"])
    revised = current_proposal(cases["S-1"])
    assert (revised.number, revised.state) == (2, "ready")
    assert [change["key"] for change in revised.changes] == ["delivery_window"]

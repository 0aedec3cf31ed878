"""P8: valid until is the first thing to end; the refresh and the silence of a feed respect it."""

from datetime import timedelta

from cases.actions import runs
from cases.models import Case
from tests.cases.builders import (
    AGENT,
    EVENING,
    MORNING,
    Cast,
    a_quote,
    a_shipment,
    agent_reads,
    an_open_case,
    at_business_time,
    current_proposal,
    events_of,
    stage_of,
)
from tests.refresh.outside import HALF_PAST_SEVEN, MINUTE, Outside, a_night, follow_since_noon

AT_SEVEN, AT_NINE = HALF_PAST_SEVEN - 30 * MINUTE, MORNING + timedelta(hours=1)


def with_rate_until(cast: Cast, outside: Outside, subject: str, ends_at: str) -> Case:
    """One more case that waits for a release, on a rate of its own."""
    at_business_time(EVENING)
    outside.told[subject] = [
        a_shipment(subject=subject),
        a_quote(f"Q-{subject}", expires_at=ends_at),
    ]
    case = an_open_case(cast, subject=subject)
    agent_reads(case, outside.told[subject])
    at_business_time(HALF_PAST_SEVEN)
    return case


def test_p08_the_proposal_whose_rate_ended_first_expires_at_the_refresh_and_no_other(
    cast: Cast, outside: Outside
) -> None:
    """Nobody said a word: the feed is silent, and the rate of S-1 ended at seven."""
    follow_since_noon(outside)
    first = with_rate_until(cast, outside, "S-1", "2026-11-24T13:00:00Z")
    cases = a_night(cast, outside, ("S-2", "S-3"))
    outside.told["S-1"][1] = a_quote("Q-S-1", expires_at="2026-11-24T13:00:00Z", state="expired")
    outside.refresh()
    assert outside.subjects_read == ["S-1"]
    ready = {name: current_proposal(case).state for name, case in cases.items()}
    assert ready == {"S-2": "ready", "S-3": "ready"}
    assert (stage_of(first), current_proposal(first).state) == ("investigating", "expired")
    assert "proposal_expired" in events_of(first)
    assert [run.case_id for run in runs.nudge_due(agent=AGENT, limit=10)] == [first.pk]


def test_p08_a_limit_of_the_playbook_ends_a_proposal_although_all_its_facts_hold(
    cast: Cast, outside: Outside
) -> None:
    follow_since_noon(outside)
    cases = a_night(cast, outside, ("S-1", "S-2"))
    cases["S-2"].proposals.update(valid_until=AT_SEVEN)
    outside.refresh()
    assert outside.subjects_read == ["S-2"]
    states = [current_proposal(case).state for case in cases.values()]
    assert states == ["ready", "expired"]


def test_p08_of_what_the_feed_proved_unchanged_the_first_to_end_wakes_the_agent_then(
    cast: Cast, outside: Outside
) -> None:
    """The next shift starts at 17:00; the rate of S-1 ends at nine and that of S-2 at noon."""
    follow_since_noon(outside)
    first = with_rate_until(cast, outside, "S-1", "2026-11-24T15:00:00Z")
    a_night(cast, outside, ("S-2",))
    outside.refresh()
    assert outside.read == []
    at_business_time(AT_NINE - MINUTE)
    assert not runs.nudge_due(agent=AGENT, limit=10)
    at_business_time(AT_NINE + MINUTE)
    assert [run.case_id for run in runs.nudge_due(agent=AGENT, limit=10)] == [first.pk]

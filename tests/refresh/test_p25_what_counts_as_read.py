"""P25, P26: a case is as fresh as its question, and the sheet says how its facts are known."""

from dataclasses import replace
from datetime import datetime, timedelta

from django.test import Client

from agent.sources.transport_profiles import MODERN
from cases.actions import decisions, evidence, runs
from cases.actions.clock import move_business_clock
from cases.actions.handovers import open_handovers
from cases.clock import business_now
from cases.models import Case, Handover, HandoverRow, Observation, SourceFeed, SourceRecord
from cases.queries.handover import row_of
from cases.queries.handover_shapes import SheetRow
from cases.vocabulary.refreshing import NotRead
from cases.vocabulary.work import Comparison, SourceReading
from tests.cases.builders import (
    AGENT,
    EVENING,
    TWO_O_CLOCK,
    Cast,
    a_grant,
    a_shipment,
    agent_reads,
    an_answer,
    an_open_case,
    at_business_time,
    current_proposal,
    stage_of,
)
from tests.refresh.outside import (
    HALF_PAST_SEVEN,
    MINUTE,
    Outside,
    a_night,
    follow_since_noon,
    missing,
    quote_of,
    the_handover,
)

MOVED = (a_shipment(42, subject="S-1", delivery_window=TWO_O_CLOCK), quote_of("S-1"))
GONE = (missing("shipment", "S-1"), missing("quote", "Q-S-1"))
NOT_NOW = NotRead(reason="no call now", retry_after=timedelta(seconds=40), was_asked=False)
TEN_SECONDS = timedelta(seconds=10)


def row_for(case: Case) -> SheetRow:
    """The case's row on the newest sheet."""
    newest = HandoverRow.objects.filter(case=case).latest("handover__boundary")
    return row_of(row_id=newest.pk, at=business_now())


def page_of(cast: Cast, address: str = "") -> str:
    """A page in a browser, by default the newest sheet."""
    client = Client()
    client.force_login(cast.owner)
    newest = Handover.objects.latest("boundary")
    return str(client.get(address or f"/handover/{newest.pk}/").content.decode())


def visits(case: Case, readings: tuple[SourceReading, ...], *, asked_at: datetime) -> None:
    """A visit of the agent whose question was sent at that instant."""
    grant = a_grant(case)
    evidence.record_readings(grant=grant, by=AGENT, readings=readings, asked_at=asked_at)
    evidence.compare_with_now(grant=grant, by=AGENT)
    runs.let_go(grant=grant)


def test_p25_a_list_asked_for_before_the_sheet_was_opened_does_not_count_for_it(
    cast: Cast, outside: Outside
) -> None:
    """07:29:50 for the sheet of the evening; its answer takes 15 seconds, and is read again."""
    outside.can = replace(MODERN, change_feed=False)
    cases = a_night(cast, outside, ("S-1", "S-2"))
    Case.objects.update(opened_at=EVENING - MINUTE, refreshed_at=EVENING - MINUTE)
    at_business_time(EVENING + MINUTE)
    assert open_handovers() == 1
    at_business_time(HALF_PAST_SEVEN - TEN_SECONDS)

    def slowly() -> None:
        move_business_clock(by=TEN_SECONDS * 1.5)
        outside.on_read = lambda: None
        assert open_handovers() == 1

    outside.on_read = slowly
    outside.refresh()
    assert len(outside.read) == 1
    assert not any(row_for(case).was_read for case in cases.values())
    opened_at = Handover.objects.latest("boundary").opened_at
    assert Observation.objects.latest("id").observed_at < opened_at
    at_business_time(business_now() + MINUTE)
    outside.refresh()
    assert all(row_for(case).was_read for case in cases.values())


def test_p25_a_visit_that_asked_before_the_sheet_was_opened_does_not_count_for_it(
    cast: Cast, outside: Outside
) -> None:
    one = a_night(cast, outside, ("S-1",))["S-1"]
    open_handovers()
    told = tuple(outside.told["S-1"])
    visits(one, told, asked_at=the_handover().opened_at - timedelta(seconds=1))
    assert not row_for(one).was_read
    visits(one, told, asked_at=business_now())
    assert row_for(one).was_read


def test_p30_what_the_agent_read_after_the_feed_named_it_counts_at_once(
    cast: Cast, outside: Outside
) -> None:
    """The list has its turn in 40 seconds; until then the mark of the feed stands."""
    follow_since_noon(outside)
    one = a_night(cast, outside, ("S-1",))["S-1"]
    outside.refresh()
    before = business_now()
    outside.changes("S-1", *MOVED)
    outside.is_away = NOT_NOW
    at_business_time(business_now() + MINUTE)
    outside.refresh()
    assert not row_for(one).was_read
    visits(one, MOVED, asked_at=before)
    assert not row_for(one).was_read
    visits(one, MOVED, asked_at=business_now())
    assert row_for(one).was_read
    assert SourceRecord.objects.filter(record_id="S-1", named_at__isnull=False).exists()


def test_p25_what_was_read_before_the_feed_was_followed_is_not_proved_by_its_silence(
    cast: Cast, outside: Outside
) -> None:
    """Asked for at 16:59:50, written down at 17:00; the feed is followed since 16:59:55."""
    follow_since_noon(outside)
    cases = a_night(cast, outside, ("S-1", "S-2"))
    at_business_time(EVENING)
    asked = {"S-1": EVENING - TEN_SECONDS, "S-2": EVENING}
    for name, case in cases.items():
        visits(case, tuple(outside.told[name]), asked_at=asked[name])
    at_business_time(HALF_PAST_SEVEN)
    SourceFeed.objects.update(followed_since=EVENING - TEN_SECONDS / 2)
    outside.refresh()
    assert outside.subjects_read == ["S-1"]
    assert the_handover().cases_read == 2


def test_p26_the_sheet_tells_what_was_read_again_from_what_was_proved_unchanged(
    cast: Cast, outside: Outside
) -> None:
    follow_since_noon(outside)
    cases = a_night(cast, outside, ("S-1", "S-2"))
    outside.changes("S-2", a_shipment(42, subject="S-2"), quote_of("S-2"))
    outside.refresh()
    proved, read = (row_for(case).facts[0] for case in cases.values())
    assert proved.observed_at is not None and proved.observed_at < EVENING + MINUTE
    assert proved.proved_at is not None and proved.proved_at >= HALF_PAST_SEVEN
    assert read.observed_at is not None and read.observed_at >= HALF_PAST_SEVEN
    assert read.proved_at is None
    page = page_of(cast)
    assert page.count("proved unchanged") == len(row_for(cases["S-1"]).facts)
    assert "not for this handover" not in page


def test_p25_a_shipment_that_does_not_exist_is_blocked_and_not_counted_as_read(
    cast: Cast, outside: Outside
) -> None:
    cases = a_night(cast, outside, ("S-1", "S-2"))
    outside.told["S-1"] = list(GONE)
    outside.refresh()
    one = Case.objects.get(pk=cases["S-1"].pk)
    assert (one.stage, one.owner, one.next_try_at is None) == ("blocked", cast.owner, False)
    assert one.blocked_reason == "Shipment S-1 does not exist in its system."
    assert current_proposal(one).state == "stale"
    assert (the_handover().cases_to_read, the_handover().cases_read) == (2, 1)
    row = row_for(one)
    assert (row.was_read, row.only_as_blocked, row.section) == (False, True, "not_refreshed")
    assert "does not exist, asked" in page_of(cast)
    assert "Not found</span>" in page_of(cast, f"/cases/{one.pk}/")


def test_p25_one_that_a_person_has_is_not_counted_as_read_either(
    cast: Cast, outside: Outside
) -> None:
    """Escalated: the agent plans nothing, whatever it reads."""
    one = a_night(cast, outside, ("S-1",))["S-1"]
    one.refresh_from_db()
    decisions.reject(answer=an_answer(one, reason="Not like this."), by=cast.owner, at=EVENING)
    outside.told["S-1"] = list(GONE)
    outside.refresh()
    assert (stage_of(one), row_for(one).was_read, the_handover().cases_read) == (
        "escalated",
        False,
        0,
    )


def test_p12_nothing_is_planned_about_a_shipment_that_does_not_exist(
    cast: Cast, outside: Outside
) -> None:
    """A wrong number: tries are spaced out, and once it exists the case goes on."""
    at_business_time(EVENING)
    case = an_open_case(cast, subject="S-1")
    for _ in range(2):
        assert agent_reads(case, GONE[:1]) is Comparison.BLOCKED
    case.refresh_from_db()
    assert (case.blocked_from, case.blocked_tries) == ("investigating", 2)
    assert not case.proposals.exists()
    assert agent_reads(case, MOVED) is Comparison.PLAN


def test_p12_case_and_reading_are_as_old_as_the_question(cast: Cast, outside: Outside) -> None:
    one = a_night(cast, outside, ("S-1",))["S-1"]
    asked_at = business_now() - TEN_SECONDS
    visits(one, MOVED, asked_at=asked_at)
    one.refresh_from_db()
    latest = SourceRecord.objects.get(record_id="S-1").latest
    assert latest is not None
    assert (one.refreshed_at, latest.observed_at) == (asked_at, asked_at)

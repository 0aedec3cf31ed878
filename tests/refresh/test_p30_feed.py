"""P30: the change feed is counted once: late, repeated and reordered entries, and a broken write.

Entries of one instant are in `tests/agent/test_transport_bulk.py` (E11), the refresh that is killed
anywhere in `tests/conformance/test_refresh_kills.py`.
"""

from dataclasses import dataclass
from datetime import timedelta

import pytest

from agent.refresh import LEASE
from agent.refresh_desk import RecordRefresh
from cases import audit
from cases.actions import evidence, feeds, runs
from cases.clock import business_now
from cases.models import AuditEvent, Case, Evidence, Observation, SourceFeed, SourceRecord
from cases.vocabulary.errors import LeaseLost
from cases.vocabulary.refreshing import FeedGrant, FeedPage
from cases.vocabulary.work import Comparison, SourceReading
from tests.cases.builders import (
    AGENT,
    TWO_O_CLOCK,
    Cast,
    a_grant,
    a_shipment,
    agent_plans,
    an_open_case,
    at_business_time,
    audit_of,
    current_proposal,
    events_of,
)
from tests.refresh.outside import (
    MINUTE,
    Outside,
    a_night,
    follow_since_noon,
    quote_of,
    the_handover,
)

TWO = ("S-1", "S-2")


class Broke(Exception):  # noqa: N818 (said of the database)
    """Something went wrong in the middle of writing."""


def moved(subject: str, version: int = 42) -> tuple[SourceReading, ...]:
    """The shipment at a later version, with its delivery in the afternoon."""
    return (
        a_shipment(version, subject=subject, delivery_window=TWO_O_CLOCK),
        quote_of(subject),
    )


def shipment(subject: str) -> SourceRecord:
    """The record as it stands."""
    return SourceRecord.objects.get(record_type="shipment", record_id=subject)


@dataclass(kw_only=True)
class Reader:
    """Somebody who holds the feed and reads pages of it."""

    grant: FeedGrant

    def keeps(self, *, position: int, has_more: bool = True, **named: int | None) -> None:
        """One page."""
        page = FeedPage(
            named={subject.replace("_", "-"): version for subject, version in named.items()},
            position=position,
            last_entry=f"entry {position}",
            has_more=has_more,
        )
        self.grant = feeds.keep_page(grant=self.grant, page=page, asked_at=business_now())


@pytest.fixture
def reader(cast: Cast, outside: Outside) -> Reader:
    """07:30, with two cases about S-1 and S-2 and their handover open."""
    follow_since_noon(outside)
    a_night(cast, outside, TWO)
    RecordRefresh(agent_name="exception-bot", agent_version="1.0").open_handovers()
    grant = feeds.claim_feed(system="transport", agent=AGENT, worker="reader", lease=LEASE)
    assert grant is not None
    return Reader(grant=grant)


def test_p30_a_change_named_again_and_again_is_read_and_told_once(
    cast: Cast, outside: Outside
) -> None:
    follow_since_noon(outside)
    cases = a_night(cast, outside, TWO)
    outside.page = 2
    for _ in range(5):
        outside.changes("S-1", *moved("S-1"))
    outside.refresh()
    assert (outside.pages, outside.subjects_read) == (3, ["S-1"])
    assert events_of(cases["S-1"]).count("proposal_stale") == 1
    SourceFeed.objects.update(next_read_at=None)
    outside.refresh()
    assert outside.subjects_read == ["S-1"]
    assert SourceFeed.objects.get().position == 5


def test_p30_a_page_that_is_kept_twice_marks_nothing_twice(reader: Reader) -> None:
    reader.keeps(position=7, S_1=42)
    first = shipment("S-1").named_at
    events = AuditEvent.objects.count()
    reader.keeps(position=7, S_1=42)
    record = shipment("S-1")
    assert first is not None and record.named_at is not None
    assert record.highest_version == 42
    assert (SourceFeed.objects.get().position, AuditEvent.objects.count()) == (7, events)


def test_p30_entries_in_another_order_leave_the_newest_version_standing(reader: Reader) -> None:
    """42 is named after 43, and comes late: a reading of 42 would still be too old."""
    reader.keeps(position=8, S_1=43)
    reader.keeps(position=9, S_1=42, S_2=None)
    assert shipment("S-1").highest_version == 43
    assert shipment("S-2").named_at is not None


def test_p30_a_change_while_a_shipment_is_read_for_the_first_time_is_not_lost(
    reader: Reader, outside: Outside, cast: Cast
) -> None:
    """Asked for before the change, written down after the feed named it."""
    case, asked_at = an_open_case(cast, subject="S-9"), business_now()
    reader.keeps(position=7, has_more=False, S_9=None)
    outside.told["S-9"] = list(moved("S-9"))
    grant = a_grant(case)
    first = (a_shipment(subject="S-9"), quote_of("S-9"))
    evidence.record_readings(grant=grant, by=AGENT, readings=first, asked_at=asked_at)
    assert evidence.compare_with_now(grant=grant, by=AGENT) is Comparison.PLAN
    agent_plans(case, grant)
    runs.let_go(grant=grant)
    feeds.end_reading(grant=reader.grant, is_complete=True, wait=timedelta(0))
    SourceFeed.objects.update(next_read_at=None)
    outside.refresh()
    assert "S-9" in outside.subjects_read
    assert current_proposal(case).state == "stale"


def test_p30_what_the_feed_names_late_is_read_though_the_case_was_refreshed(
    cast: Cast, outside: Outside
) -> None:
    """The entry comes a minute after the refresh; the proposal does not stand until the next."""
    follow_since_noon(outside)
    cases = a_night(cast, outside, TWO)
    outside.refresh()
    assert (the_handover().cases_read, outside.subjects_read) == (2, [])
    outside.changes("S-2", *moved("S-2"))
    at_business_time(business_now() + MINUTE)
    outside.refresh()
    assert outside.subjects_read == ["S-2"]
    assert [current_proposal(cases[name]).state for name in TWO] == ["ready", "stale"]


def test_p30_the_place_in_the_feed_moves_on_only_with_what_the_page_names(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The write breaks after the marks: neither they nor the place are kept."""
    before = SourceFeed.objects.get().position

    def breaks(self: SourceFeed, **_: object) -> None:
        raise Broke

    monkeypatch.setattr(SourceFeed, "save", breaks)
    with pytest.raises(Broke):
        reader.keeps(position=9, S_1=42)
    assert (SourceFeed.objects.get().position, shipment("S-1").named_at) == (before, None)


def test_p30_readings_results_evidence_and_audit_are_kept_together_or_not_at_all(
    cast: Cast, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The audit comes last and breaks; the next refresh finds everything still to be done."""
    follow_since_noon(outside)
    cases = a_night(cast, outside, TWO)
    outside.changes("S-1", *moved("S-1"))
    at_rest = kept_of(cases["S-1"])

    def breaks(**_: object) -> None:
        raise Broke

    with monkeypatch.context() as broken:
        broken.setattr(audit, "append_many", breaks)
        broken.setattr("cases.actions.proofs.prove_unchanged", lambda **_: 0)
        with pytest.raises(Broke):
            outside.refresh()
    assert kept_of(cases["S-1"]) == at_rest
    assert shipment("S-1").named_at is not None
    at_business_time(business_now() + LEASE + timedelta(seconds=1))
    outside.refresh()
    now = kept_of(cases["S-1"])
    assert (now[0], now[1] - at_rest[1], now[3]) == ("stale", 2, "investigating")
    assert not audit.broken_links(AuditEvent.objects.filter(case_id=cases["S-1"].pk))


def kept_of(case: Case) -> tuple[str, int, int, str, int]:
    """Its proposal, how many readings and how much evidence there is, its stage, its audit."""
    links = Observation.objects.filter(record__cases=case)
    evidence = Evidence.objects.filter(proposal__case=case)
    stage = Case.objects.values_list("stage", flat=True).get(pk=case.pk)
    return (
        current_proposal(case).state,
        links.count(),
        evidence.count(),
        stage,
        len(audit_of(case)),
    )


def test_p30_a_late_write_of_a_reader_that_was_overtaken_changes_nothing(
    reader: Reader, outside: Outside
) -> None:
    at_business_time(business_now() + LEASE + timedelta(seconds=1))
    outside.refresh()
    place = SourceFeed.objects.get().position
    with pytest.raises(LeaseLost):
        reader.keeps(position=99, S_1=77)
    assert (SourceFeed.objects.get().position, shipment("S-1").highest_version) == (place, 41)

"""P25, P30, E11: the transport system's change feed and its lists, over real HTTP."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from agent.sources import transport_bulk
from agent.sources.transport import TransportSource
from agent.sources.transport_bulk import TransportBulk
from agent.sources.transport_profiles import PROFILES
from cases.vocabulary.refreshing import CaseToRead, FeedPage, FeedStartedOver, NotRead
from cases.vocabulary.work import ReadOutcome, RecordKey
from tests.agent.odd_system import odd_system, says
from tests.agent.world import nothing
from tests.simulator import Simulator

BOTH = ("S-318", "S-377")


@pytest.fixture
def bulk(simulator: Simulator) -> Iterator[TransportBulk]:
    """The adapter in the freshly loaded S-318 world."""
    simulator.control.reset()
    source = TransportSource(
        address=simulator.url, token=simulator.token, timeout=timedelta(seconds=2)
    )
    yield source.bulk
    source.close()


def asked(*subjects: str, **records: str) -> list[CaseToRead]:
    """Cases about these shipments; `records` are quotes known of the first."""
    known = tuple(RecordKey(record_type="quote", record_id=name) for name in records.values())
    return [
        CaseToRead(case_id=number, subject=subject, records=known if number == 0 else ())
        for number, subject in enumerate(subjects)
    ]


def page_after(bulk: TransportBulk, page: FeedPage) -> FeedPage:
    """The next page."""
    found = bulk.changes_after(position=page.position, last_entry=page.last_entry, permit=nothing)
    assert isinstance(found, FeedPage)
    return found


def end_of_feed(bulk: TransportBulk) -> FeedPage:
    """Where the feed ends."""
    page = FeedPage(named={}, position=0, last_entry="", has_more=True)
    while page.has_more:
        page = page_after(bulk, page)
    return page


def offer(shipment: str, quote_id: str) -> dict[str, object]:
    """A carrier names a price; all steps of a batch happen at one instant."""
    return {
        "actor": "carrier_offers_quote",
        "shipment_id": shipment,
        "quote_id": quote_id,
        "scac": "NRDX",
        "name": "Nordline Express",
        "amount_minor": 100_000,
        "currency": "USD",
        "expires_at": "2026-11-25T00:00:00Z",
        "expires_zone": "America/Chicago",
    }


def test_e11_300_changes_at_one_instant_are_read_once_and_the_reader_gets_on(
    bulk: TransportBulk, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The place is a number that rises with each change, never a time."""
    simulator.control.batch([offer("S-318", "QX-99")])  # places rise on over each reset
    start = end_of_feed(bulk)
    for first in (1000, 1100, 1200):
        steps = [offer(BOTH[n % 2], f"QX-{n}") for n in range(first, first + 100)]
        simulator.control.batch(steps)  # all at one instant
    monkeypatch.setattr(transport_bulk, "ENTRIES_PER_PAGE", 50)
    pages, page = [], start
    while page.has_more or page is start:
        page = page_after(bulk, page)
        pages.append(page)
    assert pages[-1].position == start.position + 300
    assert len(pages) == 7  # each page but the first begins with the entry read last
    assert {name for page in pages for name in page.named} == set(BOTH)
    assert not page_after(bulk, page).named


def test_p25_the_feed_names_the_shipment_of_a_quote_and_of_a_message(
    bulk: TransportBulk, simulator: Simulator
) -> None:
    start = end_of_feed(bulk)
    simulator.control.batch([offer("S-318", "QX-99")])
    assert page_after(bulk, start).named == {"S-318": None}


def test_p13_a_feed_without_the_entry_read_last_has_started_over(bulk: TransportBulk) -> None:
    end = end_of_feed(bulk)
    found = bulk.changes_after(position=end.position + 7, last_entry="another", permit=nothing)
    assert isinstance(found, FeedStartedOver)


def test_p25_many_shipments_in_three_calls_as_each_alone(
    bulk: TransportBulk, simulator: Simulator
) -> None:
    source = TransportSource(
        address=simulator.url, token=simulator.token, timeout=timedelta(seconds=2)
    )
    calls = []
    told = bulk.read_many(cases=asked(*BOTH), permit=lambda: calls.append(1))
    assert not isinstance(told, NotRead)
    assert len(calls) == 3
    for subject in BOTH:
        alone = source.read(subject=subject, records=(), permit=nothing)
        assert [(item.record_id, item.version, item.fields) for item in told[subject]] == [
            (item.record_id, item.version, item.fields) for item in alone
        ]
    source.close()


def test_p12_a_shipment_that_is_gone_is_missing_and_hides_no_other(bulk: TransportBulk) -> None:
    told = bulk.read_many(cases=asked("S-000", "S-318", quote="Q-1"), permit=nothing)
    assert not isinstance(told, NotRead)
    assert {item.outcome for item in told["S-000"]} == {ReadOutcome.MISSING}
    assert told["S-318"][0].outcome is ReadOutcome.READ


def test_p13_two_cases_about_a_shipment_are_told_of_every_record_that_one_of_them_knows(
    bulk: TransportBulk,
) -> None:
    """The later one never knew the quote that is gone; it hides nothing from the first."""
    cases = [*asked("S-318", quote="Q-GONE"), *asked("S-318")]
    told = bulk.read_many(cases=cases, permit=nothing)
    assert not isinstance(told, NotRead)
    outcomes = {item.record_id: item.outcome for item in told["S-318"]}
    assert outcomes["S-318"] is ReadOutcome.READ
    assert outcomes["Q-GONE"] is ReadOutcome.MISSING


def test_scenario_05_429_says_how_long_nothing_is_asked(
    bulk: TransportBulk, simulator: Simulator
) -> None:
    simulator.control.fault("429", seconds=120, times=1)
    first = bulk.read_many(cases=asked("S-318"), permit=nothing)
    second = bulk.read_many(cases=asked("S-318"), permit=nothing)
    assert isinstance(first, NotRead) and isinstance(second, NotRead)
    assert first.retry_after == timedelta(seconds=120)
    assert second.was_asked and timedelta(seconds=110) < second.retry_after
    assert "asks for fewer calls" in second.reason


def test_p25_where_a_list_breaks_fewer_records_may_be_asked_for() -> None:
    """An answer of 500 is one; no answer at all is none, and neither is a wish to be left alone."""
    with odd_system() as system:
        system.replies["GET /v1/shipments"] = says({}, status=500)
        told = system.source().bulk.read_many(cases=asked("S-318"), permit=nothing)
    assert isinstance(told, NotRead) and told.was_answered
    gone = system.source().bulk.read_many(cases=asked("S-318"), permit=nothing)
    assert isinstance(gone, NotRead) and not gone.was_answered


def test_p13_without_versions_the_feed_still_names_what_changed(simulator: Simulator) -> None:
    simulator.control.reset(scenario="s318", profile="no_version")
    source = TransportSource(
        address=simulator.url,
        token=simulator.token,
        timeout=timedelta(seconds=2),
        capabilities=PROFILES["no_version"],
    )
    start = end_of_feed(source.bulk)
    simulator.control.actor(
        "employee_edits", shipment_id="S-377", employee="k.ito", patch={"weight_kg": "9000"}
    )
    assert page_after(source.bulk, start).named == {"S-377": None}
    told = source.bulk.read_many(cases=asked("S-377"), permit=nothing)
    assert not isinstance(told, NotRead) and told["S-377"][0].version is None
    source.close()

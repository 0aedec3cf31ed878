"""P12: what is gone, what is only unreadable, and which part of an answer hides which other."""

from collections.abc import Iterator
from typing import Any

import pytest

from agent.sources.base import NoLease
from agent.sources.transport import TransportSource
from cases.vocabulary.work import ReadOutcome, RecordKey
from tests.agent import samples
from tests.agent.odd_system import (
    LEASE,
    MESSAGES,
    QUOTES,
    SHIPMENT,
    OddSystem,
    Reply,
    odd_system,
    says,
)
from tests.agent.test_transport_source import TTL
from tests.agent.world import nothing

PROBLEM = "application/problem+json"
GONE = samples.problem(404, "shipment_not_found")
KNOWN = tuple(
    RecordKey(record_type=record_type, record_id=record_id)
    for record_type, record_id in (("shipment", "S-318"), ("quote", "QX-68"), ("quote", "QX-71"))
)
READ, MISSING, FAILED = ReadOutcome.READ, ReadOutcome.MISSING, ReadOutcome.FAILED


@pytest.fixture
def system() -> Iterator[OddSystem]:
    """A transport system that says what the test wants."""
    with odd_system() as running:
        yield running


@pytest.fixture
def source(system: OddSystem) -> Iterator[TransportSource]:
    """The adapter pointed at it."""
    opened = system.source()
    yield opened
    opened.close()


def outcomes(source: TransportSource) -> dict[str, ReadOutcome]:
    """What became of each record of S-318."""
    return {
        reading.record_id: reading.outcome
        for reading in source.read(subject="S-318", records=KNOWN, permit=nothing)
    }


def test_a_shipment_that_is_gone_takes_everything_known_of_it_along(
    source: TransportSource, system: OddSystem
) -> None:
    system.replies[SHIPMENT] = says(GONE, status=404, media_type=f"{PROBLEM}; charset=utf-8")
    assert outcomes(source) == {"S-318": MISSING, "QX-68": MISSING, "QX-71": MISSING}


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=404, pieces=(b"<html>nginx</html>",), headers={"Content-Type": "text/html"}),
        Reply(status=404),
        says(GONE, status=404),
        says(samples.problem(404, "unknown_path"), status=404, media_type=PROBLEM),
        says(GONE, status=410, media_type=PROBLEM),
    ],
)
def test_a_404_from_somewhere_on_the_way_does_not_make_the_shipment_disappear(
    source: TransportSource, system: OddSystem, reply: Reply
) -> None:
    system.replies[SHIPMENT] = reply
    assert set(outcomes(source).values()) == {FAILED}


@pytest.mark.parametrize("path", [QUOTES, MESSAGES])
def test_a_listing_that_is_not_found_is_unreadable_whatever_it_says(
    source: TransportSource, system: OddSystem, path: str
) -> None:
    system.replies[path] = says(GONE, status=404, media_type=PROBLEM)
    assert set(outcomes(source).values()) == {FAILED}


@pytest.mark.parametrize(
    "changes",
    [
        {"currency": "CHF"},
        {"amount_minor": 10**30},
        {"amount_minor": -1},
        {"carrier": {"scac": "", "name": ""}},
        {"expires_at": "9999-12-31T23:59:59Z"},
        {"status": "s" * 33},
    ],
)
def test_an_unusable_quote_counts_as_missing_and_hides_no_other(
    source: TransportSource, system: OddSystem, changes: dict[str, Any]
) -> None:
    items = [samples.quote(id="QX-68", **changes), samples.quote()]
    system.replies[QUOTES] = says({"items": items})
    assert outcomes(source) == {"S-318": READ, "QX-68": MISSING, "QX-71": READ}


@pytest.mark.parametrize("quote_id", ["Q\x00", "Q" * 301, 5, None])
def test_a_quote_that_does_not_even_say_which_it_is_is_left_out(
    source: TransportSource, system: OddSystem, quote_id: object
) -> None:
    system.replies[QUOTES] = says({"items": [samples.quote(id=quote_id), samples.quote()]})
    assert outcomes(source) == {"S-318": READ, "QX-68": MISSING, "QX-71": READ}


@pytest.mark.parametrize(
    "granted",
    [
        {"lease_id": "L\ud800", "fencing_token": 1},
        {"lease_id": "L-1", "fencing_token": True},
        {"lease_id": "L-1", "fencing_token": 10**30},
        [],
    ],
)
def test_p19_a_lease_that_cannot_be_used_is_none(
    source: TransportSource, system: OddSystem, granted: object
) -> None:
    system.replies[LEASE] = says(granted, status=201)
    lease = source.take_lease(subject="S-318", holder="watchbill case 1", ttl=TTL, permit=nothing)
    assert isinstance(lease, NoLease)
    assert lease.reason.startswith("S-318 could not be reserved: transport system sent something")


def test_p12_an_answer_that_drips_is_given_up_in_time(
    source: TransportSource, system: OddSystem
) -> None:
    system.replies[SHIPMENT] = Reply(pieces=(b" ",) * 200, pause=0.05)
    (reading, *_) = source.read(subject="S-318", records=(), permit=nothing)
    assert reading.failure == "transport system did not answer in time"

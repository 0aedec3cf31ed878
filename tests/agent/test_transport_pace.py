"""P17, P25: the agent keeps the pace a system declares, and leaves it alone when it asks for it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from agent.crew import NotConfigured, assemble
from agent.sources.pace import LONGEST_HOLD, HeldBack, Pace, retry_after
from agent.sources.transport import TransportSource
from agent.sources.transport_profiles import MODERN
from cases.vocabulary.work import CallOutcome, ReadOutcome
from tests.agent import samples
from tests.agent.odd_system import BOOK, OddSystem, odd_system
from tests.agent.world import nothing

DATE = "Mon, 23 Nov 2026 23:00:00 GMT"


@pytest.fixture
def system() -> Iterator[OddSystem]:
    """A transport system that says what the test wants."""
    with odd_system() as running:
        yield running


def source_of(system: OddSystem, *, calls_per_minute: int) -> TransportSource:
    """The adapter for a system that allows so many calls."""
    can = replace(MODERN, calls_per_minute=calls_per_minute)
    return TransportSource(
        address=system.url, token="t", timeout=timedelta(seconds=2), capabilities=can
    )


def test_no_more_calls_are_made_in_a_minute_than_the_system_allows(system: OddSystem) -> None:
    source = source_of(system, calls_per_minute=3)
    (first, *_) = source.read(subject="S-318", records=(), permit=nothing)  # three calls
    assert first.outcome is ReadOutcome.READ
    result = source.perform(order=samples.order(), fencing_token=1, permit=nothing)
    assert result.outcome is CallOutcome.NOT_SENT
    assert result.retry_after is not None
    assert timedelta(seconds=50) < result.retry_after <= timedelta(seconds=60)
    (second,) = source.read(subject="S-318", records=(), permit=nothing)
    assert second.outcome is ReadOutcome.FAILED
    assert "asks for fewer calls" in second.failure
    assert BOOK not in system.requests
    assert len(system.requests) == 3
    source.close()


def test_a_turn_that_comes_soon_is_waited_for_and_then_permitted() -> None:
    pace, order = Pace(calls_per_minute=None), []
    pace.hold_off(timedelta(milliseconds=50))
    pace.wait_for_turn()
    order.append("turn")
    with pytest.raises(HeldBack) as held:
        pace.hold_off(timedelta(days=2))
        pace.wait_for_turn()
    assert LONGEST_HOLD - timedelta(seconds=5) < held.value.wait <= LONGEST_HOLD
    assert order == ["turn"]


@pytest.mark.parametrize(
    ("header", "rest"),
    [
        ("30", 30),
        (" 5 ", 5),
        ("Mon, 23 Nov 2026 23:01:30 GMT", 90),
        ("Mon, 23 Nov 2026 22:00:00 GMT", 0),
        ("", None),
        ("soon", None),
        ("-5", None),
    ],
)
def test_retry_after_is_read_in_both_its_forms(header: str, rest: int | None) -> None:
    expected = None if rest is None else timedelta(seconds=rest)
    assert retry_after(header, date=DATE) == expected


def test_p17_a_profile_nobody_knows_is_refused_when_a_worker_starts() -> None:
    with pytest.raises(NotConfigured, match="TRANSPORT_PROFILE is 'perfect'; use one of locked_by"):
        assemble(
            {
                "TRANSPORT_URL": "http://127.0.0.1:1",
                "TRANSPORT_TOKEN": "x",
                "TRANSPORT_PROFILE": "perfect",
            }
        )


@pytest.mark.parametrize("header", ["1000000000", "8" * 40, "Fri, 01 Jan 2100 00:00:00 GMT"])
def test_p19_nobody_is_left_alone_for_decades_however_long_was_asked_for(header: str) -> None:
    assert retry_after(header, date=DATE) == LONGEST_HOLD

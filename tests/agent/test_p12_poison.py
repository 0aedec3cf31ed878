"""P12, P16: poison from the source is unreadable and named; it never crashes a visit."""

import gzip
from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings

from agent.desk import RecordDesk
from agent.planner.rules import RulePlanner
from agent.runner import Runner, Visit
from cases.actions import decisions
from cases.clock import business_now
from cases.models import Attempt, Case, Observation
from tests.agent import samples
from tests.agent.odd_system import (
    BOOK,
    BOOKINGS,
    QUOTES,
    SHIPMENT,
    OddSystem,
    Reply,
    odd_system,
    says,
)
from tests.agent.rig import MemoryCheckpoints
from tests.cases.builders import EVENING, Cast, a_cast, an_answer, an_open_case, at_business_time


@pytest.fixture
def system() -> Iterator[OddSystem]:
    """A transport system that says what the test wants."""
    with odd_system() as running:
        yield running


@pytest.fixture
def cast(db: None, settings: Settings) -> Cast:
    """The people and the desk, at 17:00."""
    settings.MOVABLE_CLOCK = True
    people = a_cast()
    at_business_time(EVENING)
    return people


def visit(case: Case, system: OddSystem) -> Visit:
    """One visit by a new worker with the real door, adapter and graph."""
    source = system.source()
    runner = Runner(
        desk=RecordDesk(agent_name="exception-bot", agent_version="1.0"),
        source=source,
        planner=RulePlanner(),
        checkpoints=MemoryCheckpoints(),
        worker="test",
    )
    try:
        return runner.advance(case_id=case.pk)
    finally:
        source.close()
        case.refresh_from_db()


def delivery(start: str) -> dict[str, Any]:
    """A shipment delivered at that instant."""
    window = {"start": start, "end": start}
    return {"stops": [samples.stop(1, "pickup"), samples.stop(2, "delivery", window=window)]}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"version": 10**30}, "version is 1000"),
        ({"version": -1}, "version is -1"),
        ({"id": "S\x00"}, "id is"),
        ({"id": "S" * 301}, "id is longer than 300 characters"),
        ({"id": "S-999"}, "about shipment S-999, which was not asked for"),
        ({"weight_kg": "1e999999"}, "weight_kg is '1e999999'"),
        ({"weight_kg": "-5"}, "weight_kg is '-5'"),
        ({"weight_kg": "0"}, "weight_kg is '0'"),
        ({"weight_kg": "10000000"}, "weight_kg is '10000000'"),
        ({"lane": "x" * 10_001}, "lane is longer than 10000 characters"),
        (delivery("0001-01-01T00:00:00Z"), "start: '0001-01-01T00:00:00Z' is not"),
        (delivery("9999-12-31T23:59:59Z"), "start: '9999-12-31T23:59:59Z' is not"),
        (delivery("0001-01-01T00:00:00+14:00"), "start: '0001"),
        ({"stops": [samples.stop(10**40, "delivery")]}, "sequence is 1000"),
    ],
)
def test_p12_a_value_no_database_holds_blocks_the_case_and_is_named(
    cast: Cast, system: OddSystem, changes: dict[str, Any], named: str
) -> None:
    system.replies[SHIPMENT] = says(samples.shipment(**changes))
    case = an_open_case(cast)
    assert visit(case, system) is Visit.PAUSED
    assert (case.stage, case.blocked_tries) == ("blocked", 1)
    assert "Shipment S-318 cannot be read: transport system sent something" in case.blocked_reason
    assert named in case.blocked_reason
    assert len(case.blocked_reason) < 700


@pytest.mark.parametrize(
    "body", [b'{"x":' + b"[" * 200_000 + b"]" * 200_000 + b"}", b"\xff\xfe\xfa"]
)
def test_p12_a_body_that_is_no_readable_json_blocks_the_case(
    cast: Cast, system: OddSystem, body: bytes
) -> None:
    system.replies[SHIPMENT] = Reply(pieces=(body,))
    case = an_open_case(cast)
    assert visit(case, system) is Visit.PAUSED
    assert "sent something unusable (no readable JSON)" in case.blocked_reason


@pytest.mark.parametrize("path", [SHIPMENT, QUOTES])
@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (
            Reply(pieces=(b"garbage",), headers={"Content-Encoding": "gzip"}),
            "its compression is broken",
        ),
        (Reply(pieces=(b" " * 1_000_000,) * 6), "more than 5 MB"),
        (
            Reply(pieces=(gzip.compress(b" " * 6_000_000),), headers={"Content-Encoding": "gzip"}),
            "more than 5 MB",
        ),
        (Reply(pieces=(b"{}",), headers={"Date": "Mon, 23 Nov 99999 23:00:00 GMT"}), "no usable"),
        (Reply(pieces=(b"{}",), headers={"Date": f"{'9' * 30}"}), "no usable date"),
    ],
)
def test_p12_an_answer_that_cannot_be_taken_in_blocks_the_case(
    cast: Cast, system: OddSystem, path: str, reply: Reply, said: str
) -> None:
    system.replies[path] = reply
    case = an_open_case(cast)
    assert visit(case, system) is Visit.PAUSED
    assert said in case.blocked_reason


def test_p12_damage_in_words_for_people_is_marked_and_kept(cast: Cast, system: OddSystem) -> None:
    customer = {"name": "Har\x00bor", "email": "a@b.example"}
    system.replies[SHIPMENT] = says(samples.shipment(lane="DFW \ud800 ATL", customer=customer))
    case = an_open_case(cast)
    assert visit(case, system) is Visit.PAUSED
    assert case.stage == "waiting_for_review"
    seen = Observation.objects.get(record__record_type="shipment")
    assert seen.fields["lane"] == "DFW \ufffd ATL"
    assert seen.fields["customer_contact"]["name"] == "Har\ufffdbor"


def released(cast: Cast, system: OddSystem) -> Case:
    """A case whose booking was just released."""
    case = an_open_case(cast)
    visit(case, system)
    decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())
    case.refresh_from_db()
    return case


@pytest.mark.parametrize("damage", ["bad \x00 thing", "bad \ud800 thing", "bad " * 9000])
def test_p16_a_refusal_in_damaged_words_is_recorded_and_not_asked_for_twice(
    cast: Cast, system: OddSystem, damage: str
) -> None:
    case = released(cast, system)
    system.replies[BOOK] = says({"code": "unknown_scac", "detail": damage}, status=422)
    assert visit(case, system) is Visit.PAUSED
    attempt = Attempt.objects.get()
    assert (attempt.outcome, case.stage) == ("refused", "escalated")
    assert len(attempt.detail) <= 500
    assert "422" in attempt.detail
    assert system.requests.count(BOOK) == 1


@pytest.mark.parametrize("record_id", ["B\x00", "B\ud800", "B" * 301, ""])
def test_p16_an_acceptance_under_an_unusable_id_is_recorded_as_unknown(
    cast: Cast, system: OddSystem, record_id: str
) -> None:
    case = released(cast, system)
    system.replies[BOOK] = says({"id": record_id}, status=202)
    assert visit(case, system) is Visit.PAUSED
    assert (Attempt.objects.get().outcome, case.stage) == ("unknown", "reconciling")
    assert "202" in Attempt.objects.get().detail


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "s" * 33},
        {"status": "confirmed\x00"},
        {"quote_id": "Q\x00"},
        {"id": "B" * 301},
        {"amount_minor": 10**40},
        {"currency": "CHF"},
    ],
)
def test_p16_a_look_that_cannot_be_kept_is_unreadable_not_absent(
    cast: Cast, system: OddSystem, changes: dict[str, Any]
) -> None:
    case = released(cast, system)
    system.replies[BOOKINGS] = says({"items": [samples.booking(**changes)]})
    assert visit(case, system) is Visit.PAUSED
    assert case.stage == "blocked"
    assert "The target cannot be read back: transport system sent something" in case.blocked_reason
    assert system.requests.count(BOOK) == 1

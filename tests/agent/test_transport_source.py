"""P12, P15: what is particular to the transport system; the rest is in `tests/contract`."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

import agent.sources.exchange as exchange_module
from agent.sources.base import NoLease, TargetLease
from agent.sources.transport import TransportSource
from cases.vocabulary.errors import CallsPaused
from cases.vocabulary.freight import FREIGHT
from cases.vocabulary.work import (
    AttemptOrder,
    CallOutcome,
    EffectWork,
    ReadOutcome,
    RecordKey,
    SourceReading,
)
from tests.agent import samples
from tests.agent.world import nothing
from tests.simulator import Simulator
from tools.ports import free_port

TTL = timedelta(seconds=60)
KNOWN = (
    RecordKey(record_type="shipment", record_id="S-318"),
    RecordKey(record_type="quote", record_id="QX-68"),
)


@pytest.fixture
def source(simulator: Simulator) -> Iterator[TransportSource]:
    """The adapter in the freshly loaded S-318 world, waiting at most a second."""
    simulator.control.reset()
    opened = TransportSource(
        address=simulator.url, token=simulator.token, timeout=timedelta(seconds=1)
    )
    yield opened
    opened.close()


def by_id(readings: list[SourceReading]) -> dict[str, SourceReading]:
    """Readings by record id."""
    return {reading.record_id: reading for reading in readings}


def wanted(action: str) -> EffectWork:
    """A new effect with a key and reference of its own, for a quote the world has."""
    parameters: dict[str, Any] = {
        "book_replacement_carrier": {
            **samples.BOOKING_PARAMETERS,
            "quote_id": "QX-68",
            "scac": "NRDX",
            "amount": {"amount_minor": 191_000, "currency": "USD"},
        },
        "send_customer_update": samples.MESSAGE_PARAMETERS,
    }[action]
    return samples.effect(
        action, key=uuid4(), reference=f"WB-{uuid4().hex[:6]}", parameters=parameters
    )


def order_for(source: TransportSource, effect: EffectWork) -> AttemptOrder:
    """Permission for one call on the version just read."""
    version = by_id(source.read(subject="S-318", records=(), permit=nothing))["S-318"].version
    return AttemptOrder(attempt_id=1, effect=effect, subject="S-318", subject_version=version)


def leased(source: TransportSource) -> TargetLease:
    """A lease on S-318."""
    lease = source.take_lease(subject="S-318", holder="watchbill case 1", ttl=TTL, permit=nothing)
    assert isinstance(lease, TargetLease)
    return lease


def test_a_shipment_is_read_with_its_quotes_in_the_facts_of_the_playbook(
    source: TransportSource,
) -> None:
    readings = by_id(source.read(subject="S-318", records=(), permit=nothing))
    assert set(readings) == {"S-318", "QX-68", "QX-70"}
    for reading in readings.values():
        expected = {f.key for f in FREIGHT.facts.values() if f.record_type == reading.record_type}
        assert (reading.outcome, set(reading.fields)) == (ReadOutcome.READ, expected)
    shipment = readings["S-318"]
    assert shipment.version == 39
    assert shipment.source_time is not None
    assert abs(shipment.source_time - datetime(2026, 11, 23, 22, tzinfo=UTC)) < timedelta(minutes=5)
    assert shipment.fields["delivery_window"] == {
        "start": "2026-11-25T15:00:00Z",
        "end": "2026-11-25T17:00:00Z",
        "zone": "America/New_York",
    }


def test_what_an_employee_did_is_read_with_their_name(
    source: TransportSource, simulator: Simulator
) -> None:
    simulator.control.actor(
        "employee_assigns_carrier",
        shipment_id="S-318",
        scac="OAKX",
        name="Oakline Freight",
        employee="J. Ortiz",
    )
    simulator.control.actor(
        "employee_sends_message",
        shipment_id="S-318",
        employee="J. Ortiz",
        recipient="receiving@harborfoods.example",
        channel="e-mail",
        template="delivery_update",
        about="delivery at two",
        body="We come at two.",
    )
    fields = by_id(source.read(subject="S-318", records=(), permit=nothing))["S-318"].fields
    assert fields["carrier_assignment"]["set_by"] == "J. Ortiz"
    assert fields["customer_notice"]["about"] == "delivery at two"
    assert fields["customer_notice"]["sent_by"] == "J. Ortiz"


def test_p12_an_unavailable_system_gives_failed_readings_for_everything_known(
    source: TransportSource, simulator: Simulator
) -> None:
    simulator.control.fault(kind="503", path_prefix="/v1/quotes")
    readings = by_id(source.read(subject="S-318", records=KNOWN, permit=nothing))
    assert set(readings) == {"S-318", "QX-68"}
    for reading in readings.values():
        assert reading.outcome is ReadOutcome.FAILED
        assert reading.failure == "transport system answered 503 (service unavailable)"
        assert reading.fields == {}


def test_p12_a_system_that_does_not_answer_in_time_gives_failed_readings(
    source: TransportSource, simulator: Simulator
) -> None:
    simulator.control.fault(kind="slow", seconds=3)
    (reading,) = source.read(subject="S-318", records=(), permit=nothing)
    assert (reading.outcome, reading.failure) == (
        ReadOutcome.FAILED,
        "transport system did not answer in time",
    )


def test_p12_a_system_that_is_not_there_gives_failed_readings_and_takes_no_call() -> None:
    nobody = TransportSource(
        address=f"http://127.0.0.1:{free_port()}", token="x", timeout=timedelta(seconds=1)
    )
    (reading,) = nobody.read(subject="S-318", records=(), permit=nothing)
    assert reading.failure == "transport system cannot be reached"
    assert (
        nobody.perform(order=samples.order(), fencing_token=1, permit=nothing).outcome
        is CallOutcome.NOT_SENT
    )
    look = nobody.look_up(effect=samples.effect(), permit=nothing)
    assert (look.readable, look.found) == (False, False)
    assert isinstance(
        nobody.take_lease(subject="S-318", holder="x", ttl=TTL, permit=nothing), NoLease
    )
    nobody.release_lease(TargetLease(lease_id="L-1", fencing_token=1), permit=nothing)


def test_a_shipment_that_does_not_exist_is_missing_with_its_quotes_not_failed(
    source: TransportSource,
) -> None:
    readings = by_id(source.read(subject="S-999", records=(KNOWN[1],), permit=nothing))
    assert set(readings) == {"S-999", "QX-68"}
    assert {reading.outcome for reading in readings.values()} == {ReadOutcome.MISSING}


@pytest.mark.parametrize("subject", ["S/31 8", "S-318?x=1", "Ü-1", "x" * 300])
def test_an_id_for_which_the_system_has_no_address_reads_no_other_shipment(
    source: TransportSource, subject: str
) -> None:
    (reading,) = source.read(subject=subject, records=(), permit=nothing)
    assert (reading.record_id, reading.outcome) == (subject, ReadOutcome.FAILED)
    assert reading.failure == "transport system answered 404 (not found)"


def test_a_wrong_credential_is_a_failed_reading(simulator: Simulator) -> None:
    stranger = TransportSource(address=simulator.url, token="wrong", timeout=timedelta(seconds=10))
    (reading,) = stranger.read(subject="S-318", records=(), permit=nothing)
    assert reading.failure == "transport system answered 401 (unauthorized)"


def test_p15_a_booking_happens_once_and_is_found_again_by_its_reference(
    source: TransportSource, simulator: Simulator
) -> None:
    effect = wanted("book_replacement_carrier")
    order, lease = order_for(source, effect), leased(source)
    first = source.perform(order=order, fencing_token=lease.fencing_token, permit=nothing)
    again = source.perform(order=order, fencing_token=lease.fencing_token, permit=nothing)
    assert first.outcome is again.outcome is CallOutcome.ANSWERED
    (entry,) = simulator.control.ledger(shipment_id="S-318")
    assert (entry.client_reference, entry.idempotency_key, entry.fencing_token) == (
        effect.reference,
        str(effect.key),
        lease.fencing_token,
    )
    simulator.control.advance_clock(seconds=5)
    look = source.look_up(effect=effect, permit=nothing)
    spec = FREIGHT.action(effect.action)
    assert (look.found, look.record_id) == (True, first.record_id)
    assert look.state in spec.adopted_when
    for check in spec.reads_back:
        assert look.fields[check.field] == effect.parameters[check.parameter]


def test_p15_a_message_is_sent_once_and_read_back_as_released(
    source: TransportSource, simulator: Simulator
) -> None:
    effect = wanted("send_customer_update")
    order, lease = order_for(source, effect), leased(source)
    result = source.perform(order=order, fencing_token=lease.fencing_token, permit=nothing)
    assert result.outcome is CallOutcome.ANSWERED, result.detail
    simulator.control.advance_clock(seconds=5)
    look = source.look_up(effect=effect, permit=nothing)
    spec = FREIGHT.action(effect.action)
    assert look.state in spec.adopted_when
    for check in spec.reads_back:
        assert look.fields[check.field] == effect.parameters[check.parameter]


def test_p21_a_connection_that_took_long_asks_the_permit_again_before_anything_is_sent(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pause came while the connection was being made: nothing reaches the target."""
    monkeypatch.setattr(exchange_module, "PERMIT_HOLDS_FOR_SECONDS", -1.0)
    simulator.control.reset()
    asked: list[int] = []

    def permit() -> None:
        asked.append(1)
        if len(asked) == 2:
            raise CallsPaused("Priya Raman paused everything: storm")

    opened = TransportSource(
        address=simulator.url, token=simulator.token, timeout=timedelta(seconds=1)
    )
    with pytest.raises(CallsPaused):
        opened.take_lease(subject="S-318", holder="case 7", ttl=TTL, permit=permit)
    opened.close()
    assert simulator.control.calls() == []


def test_p21_a_quick_connection_asks_once(source: TransportSource) -> None:
    """Each ask is a write; one per call is enough where nothing took long."""
    asked: list[int] = []
    source.read(subject="S-318", records=(), permit=lambda: asked.append(1))
    assert len(asked) == 3

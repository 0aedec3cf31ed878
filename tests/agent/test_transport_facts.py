"""P13, P20: the transport system's JSON becomes facts in one form, or is refused as unusable."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.sources.transport_facts import (
    booking_look,
    message_look,
    quote_reading,
    shipment_reading,
)
from agent.sources.transport_gate import Malformed, items_of
from cases.vocabulary.facts import FactSheet, Reading, same
from cases.vocabulary.freight import FREIGHT
from cases.vocabulary.playbook import PlanKind
from cases.vocabulary.wording import window_text
from cases.vocabulary.work import ReadOutcome, SourceReading
from tests.agent import samples
from tests.agent.world import EVENING

THEN = datetime(2026, 11, 23, 23, 0, tzinfo=UTC)


def read_shipment(body: Any, *messages: dict[str, Any]) -> SourceReading:
    """The reading of a shipment with these messages."""
    return shipment_reading(body=body, messages=messages, source_time=THEN)


def test_a_shipment_takes_the_forms_of_the_freight_facts() -> None:
    reading = read_shipment(samples.shipment(carrier=samples.carrier()), samples.message())
    assert (reading.record_type, reading.record_id) == ("shipment", "S-318")
    assert (reading.outcome, reading.version) == (ReadOutcome.READ, 41)
    assert reading.fields == {
        "pickup_window": {
            "start": "2026-11-24T18:00:00Z",
            "end": "2026-11-24T21:00:00Z",
            "zone": "America/Chicago",
        },
        "delivery_window": {
            "start": "2026-11-25T15:00:00Z",
            "end": "2026-11-25T17:00:00Z",
            "zone": "America/New_York",
        },
        "carrier_assignment": {"code": "OAKX", "name": "Oakline Freight", "set_by": "J. Ortiz"},
        "customer_contact": {
            "code": "receiving@harborfoods.example",
            "name": "Harbor Foods",
            "set_by": "",
        },
        "customer_notice": {
            "about": "delivery 2026-11-25 10:00 EST by OAKX",
            "sent_at": "2026-11-24T04:20:00Z",
            "sent_by": "J. Ortiz",
        },
        "equipment": "reefer",
        "weight": "18250",
        "lane": "DFW → ATL",
        "ended": None,
    }


@pytest.mark.parametrize(
    ("status", "ended"),
    [
        ("booked", None),
        ("in_transit", None),
        ("delivered", "delivered"),
        ("cancelled", "cancelled"),
    ],
)
def test_e09_a_shipment_says_how_it_ended(status: str, ended: str | None) -> None:
    assert read_shipment(samples.shipment(status=status)).fields["ended"] == ended


def test_e05_a_window_without_an_offset_is_unusable_and_never_guessed() -> None:
    """10:00 in Denver is one instant wherever it is looked at; a bare 10:00 is none at all."""
    denver = {"start": "2026-11-24T10:00:00-07:00", "end": "2026-11-24T14:00:00-07:00"}
    stops = [samples.stop(1, "delivery", zone="America/Denver", window=denver)]
    window = read_shipment(samples.shipment(stops=stops)).fields["delivery_window"]
    assert window["start"] == "2026-11-24T17:00:00Z"
    bare = {"start": "2026-11-24T10:00", "end": "2026-11-24T14:00"}
    with pytest.raises(Malformed, match="has no zone"):
        read_shipment(samples.shipment(stops=[samples.stop(1, "delivery", window=bare)]))


@pytest.mark.parametrize("viewer", ["Europe/Berlin", "America/New_York", "UTC"])
def test_e05_every_viewer_reads_the_same_window_in_the_zone_of_the_place(
    viewer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    denver = {"start": "2026-11-24T17:00:00Z", "end": "2026-11-24T21:00:00Z"}
    stops = [samples.stop(1, "delivery", zone="America/Denver", window=denver)]
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", viewer)
        time.tzset()
        window = read_shipment(samples.shipment(stops=stops)).fields["delivery_window"]
        shown = window_text(window)
    time.tzset()
    assert shown == "Tue 24 Nov 10:00–14:00 MST"


def test_the_readings_of_a_shipment_and_its_quote_are_enough_to_plan_on() -> None:
    read = [
        read_shipment(samples.shipment()),
        quote_reading(body=samples.quote(), source_time=THEN),
    ]
    sheet = FactSheet(
        subject_type="shipment",
        subject_id="S-318",
        readings=tuple(
            Reading(
                record_type=reading.record_type,
                record_id=reading.record_id,
                version=reading.version,
                observed_at=THEN,
                fields=reading.fields,
            )
            for reading in read
        ),
    )
    best = FREIGHT.candidates(FREIGHT.types["E02"], sheet, EVENING)[0]
    assert best.kind is PlanKind.PROPOSE
    for reading in read:
        for key, value in reading.fields.items():
            assert same(FREIGHT.facts[key], value, value)
            assert FREIGHT.facts[key].record_type == reading.record_type


def test_the_customer_was_told_what_the_newest_message_that_arrived_says() -> None:
    reading = read_shipment(
        samples.shipment(),
        samples.message(about="newest", created_at="2026-11-24T05:00:00Z"),
        samples.message(about="older", created_at="2026-11-24T04:00:00Z"),
        samples.message(about="lost", created_at="2026-11-24T06:00:00Z", status="bounced"),
    )
    assert reading.fields["customer_notice"]["about"] == "newest"


def test_of_messages_in_the_same_second_the_later_in_the_list_counts() -> None:
    reading = read_shipment(
        samples.shipment(), samples.message(about="first"), samples.message(about="second")
    )
    assert reading.fields["customer_notice"]["about"] == "second"


def test_with_several_stops_the_first_pickup_and_the_last_delivery_count() -> None:
    later = {"start": "2026-11-26T15:00:00Z", "end": "2026-11-26T17:00:00Z"}
    stops = [
        samples.stop(4, "delivery", window=later),
        samples.stop(3, "delivery"),
        samples.stop(2, "pickup", window=later),
        samples.stop(1, "pickup"),
    ]
    fields = read_shipment(samples.shipment(stops=stops)).fields
    assert fields["pickup_window"]["start"] == "2026-11-24T18:00:00Z"
    assert fields["delivery_window"]["start"] == "2026-11-26T15:00:00Z"


def test_a_shipment_without_a_delivery_stop_has_no_delivery_window() -> None:
    fields = read_shipment(samples.shipment(stops=[samples.stop(1, "pickup")])).fields
    assert fields["delivery_window"] is None


@pytest.mark.parametrize("state", ["open", "used", "expired", "withdrawn"])
def test_a_quote_says_what_ended_it(state: str) -> None:
    reading = quote_reading(body=samples.quote(status=state), source_time=THEN)
    assert reading.fields["rate_expiry"] == {
        "expires_at": "2026-11-24T06:00:00Z",
        "zone": "America/Chicago",
        "state": state,
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"version": "41"},
        {"version": True},
        {"version": None},
        {"carrier": "OAKX"},
        {"carrier": {"scac": "OAKX"}},
        {"customer": None},
        {"weight_kg": 18250},
        {"weight_kg": "heavy"},
        {"weight_kg": "NaN"},
        {"stops": None},
        {"stops": [samples.stop(1, "pickup", zone="CST")]},
        {"stops": [samples.stop(1, "pickup", window=None)]},
        {"stops": [samples.stop(1, "pickup", window={"start": "2026-11-24T18:00", "end": ""})]},
        {"id": 318},
    ],
)
def test_a_shipment_that_breaks_the_contract_is_unusable_not_guessed_at(
    changes: dict[str, Any],
) -> None:
    with pytest.raises(Malformed, match="something unusable"):
        read_shipment(samples.shipment(**changes))


def test_a_shipment_that_leaves_the_carrier_out_is_not_taken_for_uncovered() -> None:
    body = samples.shipment()
    del body["carrier"]
    with pytest.raises(Malformed):
        read_shipment(body)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(key=st.sampled_from(sorted(samples.shipment())), value=JSON)
def test_any_damage_to_a_shipment_is_read_or_refused_but_never_an_accident(
    key: str, value: object
) -> None:
    try:
        reading = read_shipment(samples.shipment(**{key: value}))
    except Malformed:
        return
    assert set(reading.fields) == {
        spec.key for spec in FREIGHT.facts.values() if spec.record_type == "shipment"
    }


@given(body=JSON)
def test_any_answer_at_all_is_listed_or_refused(body: object) -> None:
    try:
        items = items_of(body)
    except Malformed:
        return
    for item in items:
        with pytest.raises(Malformed):
            quote_reading(body=item, source_time=THEN)


def test_a_look_carries_the_fields_that_the_catalogue_reads_back() -> None:
    booked = booking_look(effect=samples.effect(), items=[samples.booking()])
    told = message_look(effect=samples.effect("send_customer_update"), items=[samples.message()])
    for look, name in ((booked, "book_replacement_carrier"), (told, "send_customer_update")):
        assert {check.field for check in FREIGHT.action(name).reads_back} == set(look.fields)
        assert look.found
        assert look.state in FREIGHT.action(name).adopted_when
    assert booked.fields["amount"] == {"amount_minor": 179_000, "currency": "USD"}


def test_an_empty_listing_is_a_look_that_found_nothing() -> None:
    look = booking_look(effect=samples.effect(), items=[])
    assert (look.found, look.readable) == (False, True)


def test_two_records_under_one_reference_are_counted_and_said_aloud() -> None:
    look = booking_look(effect=samples.effect(), items=[samples.booking(), samples.booking()])
    assert look.records == 2
    assert "2 records carry WB-1-3-1" in look.detail

"""Bookings and messages: every rule in front of the effect, and the effect itself."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.transport_sim.caller import Caller, read, refused
from tools.simulator_control import SimulatorControl, SimulatorRefused


def test_a_booking_is_received_at_once_and_confirmed_by_the_clock(
    caller: Caller, control: SimulatorControl
) -> None:
    control.settings(booking_confirm_seconds=600)
    answer = caller.book()
    assert answer.status_code == 202
    booking = answer.json()
    assert answer.headers["Location"] == f"/v1/bookings/{booking['id']}"
    assert (booking["status"], booking["confirmed_at"]) == ("received", None)
    control.advance_clock(seconds=300)
    assert read(caller.client.get(answer.headers["Location"]))["status"] == "received"
    control.advance_clock(seconds=300)
    confirmed = read(caller.client.get(answer.headers["Location"]))
    assert (confirmed["status"], confirmed["version"]) == ("confirmed", 2)
    assert confirmed["confirmed_at"] is not None


def test_a_booking_covers_the_shipment_uses_the_quote_and_enters_the_ledger(
    caller: Caller, control: SimulatorControl
) -> None:
    headers = caller.headers()
    booking = read(caller.book(headers))
    shipment = caller.shipment()
    assert (shipment["version"], shipment["status"]) == (40, "booked")
    assert shipment["carrier"]["scac"] == "NRDX"
    assert shipment["carrier"]["name"] == "Nordline Express"
    assert shipment["carrier"]["assigned_by"] == "watchbill-agent"
    assert shipment["carrier"]["booking_id"] == booking["id"]
    quote = read(caller.client.get("/v1/quotes/QX-68"))
    assert (quote["status"], quote["version"]) == ("used", 2)
    (entry,) = control.ledger()
    assert (entry.kind, entry.principal) == ("booking", "watchbill-agent")
    assert (entry.record_id, entry.shipment_id) == (booking["id"], "S-318")
    assert entry.client_reference == "case-318 book"
    assert entry.idempotency_key == headers["Idempotency-Key"]
    assert entry.fencing_token == int(headers["Fencing-Token"])
    assert entry.details["amount_minor"] == 191_000


def test_an_effect_is_found_by_reference_and_by_shipment(caller: Caller) -> None:
    booking = read(caller.book())
    message = read(caller.tell())
    for path, record in (("/v1/bookings", booking), ("/v1/messages", message)):
        reference = {"client_reference": record["client_reference"]}
        by_reference = read(caller.client.get(path, params=reference))["items"]
        by_shipment = read(caller.client.get(path, params={"shipment_ids": "S-318"}))["items"]
        assert [item["id"] for item in by_reference] == [record["id"]]
        assert [item["id"] for item in by_shipment] == [record["id"]]
        assert read(caller.client.get(path, params={"client_reference": "no"}))["items"] == []


def test_a_message_is_queued_at_once_and_delivered_by_the_clock(
    caller: Caller, control: SimulatorControl
) -> None:
    control.settings(message_deliver_seconds=60)
    answer = caller.tell()
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")
    assert caller.shipment()["version"] == 39
    control.advance_clock(seconds=60)
    delivered = read(caller.client.get(answer.headers["Location"]))
    assert (delivered["status"], delivered["version"]) == ("delivered", 2)
    (entry,) = control.ledger()
    assert (entry.kind, entry.record_id) == ("message", delivered["id"])
    assert entry.details["body"] == "Your delivery is planned for 10:00."


def _tell(caller: Caller, headers: dict[str, str]) -> Any:
    return caller.tell(headers)


def _book(caller: Caller, headers: dict[str, str]) -> Any:
    return caller.book(headers)


@pytest.mark.parametrize("write", [_book, _tell])
@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"Idempotency_Key": None}, 400, "idempotency_key_missing"),
        ({"Idempotency_Key": "two words"}, 400, "idempotency_key_malformed"),
        ({"If_Match": None}, 428, "precondition_required"),
        ({"If_Match": "*"}, 428, "precondition_required"),
        ({"If_Match": "39"}, 400, "malformed_if_match"),
        ({"If_Match": '"38"'}, 412, "version_mismatch"),
        ({"If_Match": 'W/"39"'}, 412, "version_mismatch"),
        ({"Fencing_Token": None}, 428, "fencing_token_required"),
        ({"Fencing_Token": "latest"}, 400, "malformed_fencing_token"),
        ({"Fencing_Token": "999999999"}, 422, "fencing_token_unknown"),
    ],
)
def test_a_write_without_its_conditions_has_no_effect(
    caller: Caller,
    control: SimulatorControl,
    write: Callable[[Caller, dict[str, str]], Any],
    changes: dict[str, str | None],
    status: int,
    code: str,
) -> None:
    refused(write(caller, caller.headers(**changes)), status, code)
    assert control.ledger() == []
    assert caller.shipment()["version"] == 39


def test_a_wrong_version_is_told_the_current_one(caller: Caller) -> None:
    answer = caller.book(caller.headers(If_Match='"12"'))
    assert refused(answer, 412, "version_mismatch")["current_version"] == 39


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"amount_minor": 190_999}, 422, "amount_mismatch"),
        ({"currency": "CAD"}, 422, "amount_mismatch"),
        ({"scac": "BLUX"}, 422, "carrier_mismatch"),
        ({"quote_id": "QX-404"}, 422, "quote_not_found"),
        ({"shipment_id": "S-404"}, 404, "shipment_not_found"),
    ],
)
def test_a_booking_must_say_what_the_quote_says(
    caller: Caller, control: SimulatorControl, changes: dict[str, Any], status: int, code: str
) -> None:
    refused(caller.book(**changes), status, code)
    assert control.ledger() == []


def test_an_expired_quote_cannot_be_booked(caller: Caller, control: SimulatorControl) -> None:
    control.advance_clock(seconds=2 * 3600)
    refused(caller.book(), 410, "quote_expired")
    assert control.ledger() == []


def test_a_withdrawn_quote_cannot_be_booked(caller: Caller, control: SimulatorControl) -> None:
    assert control.actor("quote_withdrawn", quote_id="QX-68")["status"] == "withdrawn"
    refused(caller.book(), 410, "quote_not_open")


def test_a_used_quote_cannot_be_booked_again(caller: Caller, control: SimulatorControl) -> None:
    booking = read(caller.book())
    control.actor("carrier_declines", booking_id=booking["id"])
    refused(caller.book(), 410, "quote_not_open")


def test_a_covered_shipment_is_not_booked_over_an_employees_carrier(
    caller: Caller, control: SimulatorControl
) -> None:
    control.actor(
        "employee_assigns_carrier",
        shipment_id="S-318",
        scac="OAKX",
        name="Oakline Freight",
        employee="k.ito",
    )
    refused(caller.book(), 409, "shipment_already_covered")
    assert caller.shipment()["carrier"]["scac"] == "OAKX"


def test_a_running_booking_blocks_another_even_when_the_carrier_was_taken_off(
    caller: Caller, control: SimulatorControl
) -> None:
    read(caller.book())
    patch = {"carrier": None}
    control.actor("employee_edits", shipment_id="S-318", employee="k.ito", patch=patch)
    assert caller.shipment()["status"] == "uncovered"
    second: dict[str, Any] = {"quote_id": "QX-70", "scac": "BLUX", "amount_minor": 184_000}
    refused(caller.book(**second), 409, "shipment_already_covered")


def test_a_cancelled_shipment_takes_no_booking(caller: Caller, control: SimulatorControl) -> None:
    patch = {"status": "cancelled"}
    control.actor("employee_edits", shipment_id="S-318", employee="k.ito", patch=patch)
    refused(caller.book(), 409, "shipment_not_open")


def test_a_declined_booking_uncovers_its_shipment_and_another_quote_can_be_used(
    caller: Caller, control: SimulatorControl
) -> None:
    booking = read(caller.book())
    declined = control.actor("carrier_declines", booking_id=booking["id"])
    assert declined["status"] == "declined"
    shipment = caller.shipment()
    assert (shipment["status"], shipment["carrier"]) == ("uncovered", None)
    second: dict[str, Any] = {"quote_id": "QX-70", "scac": "BLUX", "amount_minor": 184_000}
    assert caller.book(**second).status_code == 202
    assert [entry.kind for entry in control.ledger()] == ["booking", "shipment_update", "booking"]
    with pytest.raises(SimulatorRefused, match="booking_not_active"):
        control.actor("carrier_declines", booking_id=booking["id"])

"""Reads that lag behind: records nobody finds yet, and answers as of a while ago."""

from typing import Any

import pytest

from tests.transport_sim.caller import Caller, read, refused
from tools.simulator_control import SimulatorControl

MOVE: dict[str, Any] = {
    "shipment_id": "S-318",
    "stop_id": "S-318-2",
    "start_local": "2026-11-25T14:00",
    "end_local": "2026-11-25T16:00",
    "employee": "k.ito",
}


def _ids(caller: Caller, path: str, **params: str) -> list[str]:
    return [item["id"] for item in read(caller.client.get(path, params=params))["items"]]


def _booking_is_found(caller: Caller, booking: dict[str, Any]) -> list[bool]:
    """By id, by reference, by shipment."""
    return [
        caller.client.get(f"/v1/bookings/{booking['id']}").status_code == 200,
        _ids(caller, "/v1/bookings", client_reference="case-318 book") == [booking["id"]],
        _ids(caller, "/v1/bookings", shipment_ids="S-318") == [booking["id"]],
    ]


def test_a_new_booking_is_found_by_nothing_until_the_window_is_over(
    caller: Caller, control: SimulatorControl
) -> None:
    control.fault("404_after_create", seconds=10)
    booking = read(caller.book())
    assert _booking_is_found(caller, booking) == [False, False, False]
    refused(caller.client.get(f"/v1/bookings/{booking['id']}"), 404, "booking_not_found")
    # The shipment knows: what is late is the record, not the effect.
    assert caller.shipment()["carrier"]["booking_id"] == booking["id"]
    control.advance_clock(seconds=10)
    assert _booking_is_found(caller, booking) == [True, True, True]


def test_a_new_message_is_found_by_nothing_until_the_window_is_over(
    caller: Caller, control: SimulatorControl
) -> None:
    control.fault("404_after_create", path_prefix="/v1/messages", seconds=10)
    message = read(caller.tell())
    by_id = f"/v1/messages/{message['id']}"
    refused(caller.client.get(by_id), 404, "message_not_found")
    assert _ids(caller, "/v1/messages", client_reference="case-318 tell") == []
    assert _ids(caller, "/v1/messages", shipment_ids="S-318") == []
    control.advance_clock(seconds=10)
    assert read(caller.client.get(by_id))["id"] == message["id"]
    assert _ids(caller, "/v1/messages", client_reference="case-318 tell") == [message["id"]]


def test_inside_the_window_the_same_key_still_gives_the_stored_answer(
    caller: Caller, control: SimulatorControl
) -> None:
    control.fault("404_after_create", seconds=10)
    headers = caller.headers()
    booking = read(caller.book(headers))
    retry = caller.book(headers)
    assert (retry.headers["Idempotent-Replayed"], retry.json()) == ("true", booking)


def test_a_late_read_shows_every_record_as_it_was(
    caller: Caller, control: SimulatorControl
) -> None:
    before = caller.shipment()
    booking = read(caller.book())
    control.actor("employee_moves_window", **MOVE)
    now = caller.shipment()
    control.fault("stale_read", seconds=60)
    assert caller.shipment() == before
    assert read(caller.client.get("/v1/shipments?ids=S-318"))["items"] == [before]
    assert read(caller.client.get("/v1/shipments?limit=10"))["items"][-1] == before
    assert read(caller.client.get("/v1/quotes/QX-68"))["status"] == "open"
    assert _booking_is_found(caller, booking) == [False, False, False]
    assert read(caller.client.get("/v1/changes"))["changes"] == []
    control.advance_clock(seconds=60)
    assert caller.shipment() == now
    assert read(caller.client.get("/v1/quotes/QX-68"))["status"] == "used"
    assert _booking_is_found(caller, booking) == [True, True, True]
    assert read(caller.client.get("/v1/changes"))["changes"] != []


def test_a_late_read_shows_each_version_in_its_time(
    caller: Caller, control: SimulatorControl
) -> None:
    for weight in ("18300", "18400", "18500"):
        patch = {"weight_kg": weight}
        control.actor("employee_edits", shipment_id="S-318", employee="d.ruiz", patch=patch)
        control.advance_clock(seconds=100)
    seen = []
    for seconds in (50, 150, 250, 350):
        control.clear_faults()
        control.fault("stale_read", seconds=seconds)
        shipment = caller.shipment()
        seen.append((shipment["version"], shipment["weight_kg"]))
    assert seen == [(42, "18500"), (41, "18400"), (40, "18300"), (39, "18250")]


def test_the_tag_of_a_late_read_does_not_open_a_write(
    caller: Caller, control: SimulatorControl
) -> None:
    control.actor("employee_moves_window", **MOVE)
    control.fault("stale_read", seconds=60)
    answer = caller.client.get("/v1/shipments/S-318")
    assert answer.headers["ETag"] == '"39"'
    same = caller.client.get("/v1/shipments/S-318", headers={"If-None-Match": '"39"'})
    assert same.status_code == 304
    refused(caller.book(), 412, "version_mismatch")
    assert [entry.principal for entry in control.ledger()] == ["k.ito"]


def test_a_quote_read_late_is_still_open_after_it_expired(
    caller: Caller, control: SimulatorControl
) -> None:
    control.advance_clock(seconds=30 * 60 + 5)
    assert read(caller.client.get("/v1/quotes/QX-70"))["status"] == "expired"
    control.fault("stale_read", times=1, seconds=60)
    assert read(caller.client.get("/v1/quotes/QX-70"))["status"] == "open"
    assert read(caller.client.get("/v1/quotes/QX-70"))["status"] == "expired"


def test_nobody_looks_back_beyond_the_start(caller: Caller, control: SimulatorControl) -> None:
    read(caller.book())
    control.reset()
    control.fault("stale_read", seconds=3600)
    assert caller.shipment()["version"] == 39
    assert _ids(caller, "/v1/bookings", shipment_ids="S-318") == []


def test_the_matching_rules_hold_for_late_reads_too(
    caller: Caller, control: SimulatorControl
) -> None:
    control.actor("employee_moves_window", **MOVE)
    control.fault("stale_read", path_prefix="/v1/shipments/S-377", seconds=60)
    assert caller.shipment()["version"] == 40
    control.fault("stale_read", path_prefix="/v1/shipments/S-318", times=2, seconds=60)
    assert [caller.shipment()["version"] for _ in range(3)] == [39, 39, 40]


@pytest.mark.parametrize("kind", ["stale_read", "404_after_create"])
def test_only_reads_are_late_and_every_one_of_them(
    caller: Caller, control: SimulatorControl, kind: str
) -> None:
    headers = caller.headers()
    control.fault(kind, seconds=3600)
    assert caller.book(headers).status_code == 202
    assert caller.tell(caller.headers(If_Match='"40"')).status_code == 202
    for path in ("shipments", "quotes?shipment_ids=S-318", "changes", "quotes/QX-68"):
        read(caller.client.get(f"/v1/{path}"))

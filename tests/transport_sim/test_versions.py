"""Changes to a shipment: only on the version that was read, never lost, never torn."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.simulator import Simulator
from tests.transport_sim.caller import Caller, read, refused
from tools.simulator_control import SimulatorControl


def test_a_patch_needs_the_version_that_was_read(caller: Caller, control: SimulatorControl) -> None:
    body = {"equipment": "dry_van"}
    refused(caller.patch(body, etag=None), 428, "precondition_required")
    stale = refused(caller.patch(body, etag='"38"'), 412, "version_mismatch")
    assert stale["current_version"] == 39
    assert control.ledger() == []
    answer = caller.patch(body, etag='"39"')
    assert (answer.status_code, answer.headers["ETag"]) == (200, '"40"')
    assert answer.json() == caller.shipment()
    assert answer.json()["updated_by"] == "watchbill-agent"
    (entry,) = control.ledger()
    assert entry.details["changed"] == {"equipment": {"old": "reefer", "new": "dry_van"}}


def test_of_many_writers_with_one_version_one_wins(
    simulator: Simulator, caller: Caller, control: SimulatorControl
) -> None:
    def patch(number: int) -> int:
        with simulator.client() as client:
            return Caller(client).patch({"weight_kg": f"{number}"}, etag='"39"').status_code

    with ThreadPoolExecutor(max_workers=10) as pool:
        statuses = sorted(pool.map(patch, range(100, 110)))
    assert statuses == [200] + [412] * 9
    assert caller.shipment()["version"] == 40
    assert len(control.ledger()) == 1


def test_a_patch_that_changes_nothing_is_no_effect(
    caller: Caller, control: SimulatorControl
) -> None:
    answer = caller.patch({"equipment": "reefer", "weight_kg": "18250.0"}, etag='"39"')
    assert (answer.status_code, answer.json()["version"]) == (200, 39)
    assert control.ledger() == []


def test_a_patch_can_move_a_window_in_local_time_or_in_utc(caller: Caller) -> None:
    local = {"start_local": "2026-11-25T14:00", "end_local": "2026-11-25T16:00"}
    moved = read(caller.patch({"stops": [{"id": "S-318-2", "window": local}]}, etag='"39"'))
    assert moved["stops"][1]["window"]["start"] == "2026-11-25T19:00:00Z"
    instants = {"start": "2026-11-25T20:00:00Z", "end": "2026-11-25T16:00:00-05:00"}
    moved = read(caller.patch({"stops": [{"id": "S-318-2", "window": instants}]}, etag='"40"'))
    assert moved["stops"][1]["window"]["start_local"] == "2026-11-25T15:00"
    assert moved["stops"][1]["window"]["end_local"] == "2026-11-25T16:00"


@pytest.mark.parametrize(
    ("window", "because"),
    [
        ({"start_local": "2026-11-01T01:30", "end_local": "2026-11-01T05:00"}, "twice"),
        ({"start_local": "2026-03-08T02:30", "end_local": "2026-03-08T05:00"}, "skip"),
        ({"start_local": "2026-11-25T14:00", "end_local": "2026-11-25T14:00"}, "after the start"),
        ({"start_local": "2026-11-25T14:00"}, "required"),
        ({"start_local": "2026-11-25T14:00Z", "end_local": "2026-11-25T16:00"}, "without offset"),
        ({"start": "2026-11-25T14:00", "end": "2026-11-25T16:00:00Z"}, "offset"),
        ({"start_local": "0001-01-01T00:00", "end_local": "9999-12-31T23:59"}, "window"),
    ],
)
def test_a_window_that_means_nothing_at_its_place_is_refused(
    caller: Caller, window: dict[str, str], because: str
) -> None:
    answer = caller.patch({"stops": [{"id": "S-318-1", "window": window}]}, etag='"39"')
    assert because in str(refused(answer, 422, "invalid_field"))
    assert caller.shipment()["version"] == 39


def test_a_window_of_another_shipments_stop_is_refused(caller: Caller) -> None:
    window = {"start_local": "2026-11-25T14:00", "end_local": "2026-11-25T16:00"}
    answer = caller.patch({"stops": [{"id": "S-377-1", "window": window}]}, etag='"39"')
    refused(answer, 422, "stop_not_found")


def test_a_carrier_can_be_put_in_and_taken_off(caller: Caller) -> None:
    carrier = {"scac": "OAKX", "name": "Oakline Freight"}
    booked = read(caller.patch({"carrier": carrier}, etag='"39"'))
    assert (booked["status"], booked["carrier"]["scac"]) == ("booked", "OAKX")
    assert booked["carrier"]["assigned_by"] == "watchbill-agent"
    open_again = read(caller.patch({"carrier": None}, etag='"40"'))
    assert (open_again["status"], open_again["carrier"]) == ("uncovered", None)


@pytest.mark.parametrize("body", [{"status": "booked"}, {"status": "delivered", "carrier": None}])
def test_status_and_carrier_must_agree(caller: Caller, body: dict[str, Any]) -> None:
    answer = caller.patch(body, etag='"39"')
    if body["status"] == "booked":
        refused(answer, 422, "status_carrier_mismatch")
    else:
        assert read(answer)["status"] == "delivered"


def test_a_patch_with_an_old_fencing_token_is_refused(caller: Caller) -> None:
    old = caller.lease()["fencing_token"]
    new = caller.lease()["fencing_token"]
    body = {"equipment": "dry_van"}
    for token, status in ((old, 409), (new, 200)):
        headers = {"If-Match": '"39"', "Fencing-Token": str(token)}
        answer = caller.client.patch("/v1/shipments/S-318", json=body, headers=headers)
        assert answer.status_code == status


def test_a_shipment_is_never_read_with_the_stops_of_another_version(
    simulator: Simulator, caller: Caller, control: SimulatorControl
) -> None:
    """Each version has its own hour; a torn read would pair a version with another's hour."""
    rounds = 60

    def move() -> None:
        for number in range(rounds):
            control.actor(
                "employee_moves_window",
                shipment_id="S-318",
                stop_id="S-318-2",
                start_local=f"2026-11-25T08:{number:02}",
                end_local="2026-11-25T18:00",
                employee="k.ito",
            )

    with ThreadPoolExecutor(max_workers=1) as pool, simulator.client() as client:
        moving = pool.submit(move)
        seen = set()
        while not moving.done():
            for shipment in (
                Caller(client).shipment(),
                read(client.get("/v1/shipments?ids=S-318"))["items"][0],
            ):
                seen.add((shipment["version"], shipment["stops"][1]["window"]["start_local"]))
        moving.result()
    truth = {(39, "2026-11-25T10:00")}
    truth |= {(40 + number, f"2026-11-25T08:{number:02}") for number in range(rounds)}
    assert seen <= truth
    assert len(seen) > 5

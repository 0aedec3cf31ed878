"""The director's side: scenarios, the clock, and what other people do."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.transport_sim.caller import Caller, read
from tools.simulator_control import SimulatorControl, SimulatorRefused

AFTERNOON = datetime(2026, 11, 23, 22, 0, tzinfo=UTC)
NIGHT: list[dict[str, Any]] = [
    {
        "actor": "employee_moves_window",
        "shipment_id": "S-318",
        "stop_id": "S-318-2",
        "start_local": "2026-11-25T14:00",
        "end_local": "2026-11-25T16:00",
        "employee": "k.ito",
    },
    {
        "actor": "employee_assigns_carrier",
        "shipment_id": "S-318",
        "scac": "OAKX",
        "name": "Oakline Freight",
        "employee": "k.ito",
    },
]
OFFER: dict[str, Any] = {
    "shipment_id": "S-318",
    "quote_id": "QX-71",
    "scac": "BLUX",
    "name": "Bluewater Express",
    "amount_minor": 179_000,
    "currency": "USD",
    "expires_at": "2026-11-24T06:00:00Z",
    "expires_zone": "America/Chicago",
}


def test_the_scenario_starts_at_its_own_hour_and_the_clock_ticks_on(
    control: SimulatorControl,
) -> None:
    assert [scenario["name"] for scenario in control.scenarios()] == ["s318", "wave", "desk"]
    assert control.reset() == AFTERNOON
    first, second = control.clock().now, control.clock().now
    assert AFTERNOON < first < second < AFTERNOON + timedelta(seconds=10)


def test_a_scenario_can_start_at_another_hour(control: SimulatorControl) -> None:
    start = datetime(2026, 11, 23, 23, 0, tzinfo=UTC)
    assert control.reset(now=start) == start
    assert start <= control.clock().now < start + timedelta(seconds=10)


def test_a_reset_leaves_nothing_behind(caller: Caller, control: SimulatorControl) -> None:
    headers = caller.headers()
    read(caller.book(headers))
    read(caller.tell())
    control.actor("carrier_offers_quote", **OFFER)
    control.fault("slow", seconds=1)
    control.settings(booking_confirm_seconds=5)
    control.reset()
    assert (control.ledger(), control.calls(), control.faults()) == ([], [], [])
    assert control.settings()["booking_confirm_seconds"] == 1
    assert caller.shipment()["carrier"] is None
    items = read(caller.client.get("/v1/quotes?shipment_ids=S-318"))["items"]
    assert {item["id"]: item["status"] for item in items} == {"QX-68": "open", "QX-70": "open"}
    assert read(caller.client.get("/v1/bookings?shipment_ids=S-318"))["items"] == []
    again = caller.book(caller.headers(Idempotency_Key=headers["Idempotency-Key"]))
    assert "Idempotent-Replayed" not in again.headers


def test_the_clock_is_set_advanced_and_made_real_again(control: SimulatorControl) -> None:
    morning = datetime(2026, 11, 24, 14, 0, tzinfo=UTC)
    assert morning <= control.set_clock(morning).now < morning + timedelta(seconds=5)
    later = control.advance_clock(seconds=3600).now
    assert timedelta(hours=1) <= later - morning < timedelta(hours=1, seconds=10)
    assert control.use_real_clock().offset_seconds == 0


def test_the_night_turns_version_41_into_42_with_three_differences(
    caller: Caller, control: SimulatorControl
) -> None:
    for weight in ("18300", "18250"):
        patch = {"weight_kg": weight}
        control.actor("employee_edits", shipment_id="S-318", employee="d.ruiz", patch=patch)
    control.actor("carrier_offers_quote", **OFFER)
    evening = caller.shipment()
    quote = read(caller.client.get("/v1/quotes/QX-71"))
    assert (evening["version"], quote["status"]) == (41, "open")

    control.set_clock(datetime(2026, 11, 24, 9, 0, tzinfo=UTC))
    records = control.batch(NIGHT)
    control.set_clock(datetime(2026, 11, 24, 14, 0, tzinfo=UTC))

    morning = caller.shipment()
    assert records == [morning, morning]
    assert morning["version"] == 42
    differing = {name for name in morning if morning[name] != evening[name]}
    assert differing == {
        *("version", "etag", "updated_at", "updated_by"),
        *("status", "carrier", "stops"),
    }
    assert morning["carrier"]["scac"] == "OAKX"
    assert morning["carrier"]["assigned_by"] == "k.ito"
    assert morning["stops"][0] == evening["stops"][0]
    assert morning["stops"][1]["window"]["start_local"] == "2026-11-25T14:00"
    assert read(caller.client.get("/v1/quotes/QX-71"))["status"] == "expired"
    night = control.ledger(shipment_id="S-318")[-2:]
    assert [entry.details["shipment_version"] for entry in night] == [42, 42]
    assert {entry.principal for entry in night} == {"k.ito"}


def test_a_night_happens_whole_or_not_at_all(caller: Caller, control: SimulatorControl) -> None:
    impossible = {**NIGHT[0], "stop_id": "S-377-1"}
    with pytest.raises(SimulatorRefused, match="stop_not_found"):
        control.batch([NIGHT[1], impossible])
    assert caller.shipment()["version"] == 39
    assert control.ledger() == []


def test_each_employees_deed_is_a_version_of_its_own_with_a_name_on_it(
    caller: Caller, control: SimulatorControl
) -> None:
    for step in NIGHT:
        deed = dict(step)
        control.actor(deed.pop("actor"), **deed)
    shipment = caller.shipment()
    assert (shipment["version"], shipment["updated_by"]) == (41, "k.ito")
    assert [entry.kind for entry in control.ledger()] == ["shipment_update"] * 2


def test_an_employee_who_saves_without_a_change_still_makes_a_version(
    caller: Caller, control: SimulatorControl
) -> None:
    before = caller.shipment()
    control.actor("employee_edits", shipment_id="S-318", employee="k.ito", patch={})
    after = caller.shipment()
    differing = {name for name in after if after[name] != before[name]}
    assert differing == {"version", "etag", "updated_at", "updated_by"}


def test_a_quote_is_offered_once_and_withdrawn_once(
    caller: Caller, control: SimulatorControl
) -> None:
    offered = control.actor("carrier_offers_quote", **OFFER)
    assert offered == read(caller.client.get("/v1/quotes/QX-71"))
    with pytest.raises(SimulatorRefused, match="quote_exists"):
        control.actor("carrier_offers_quote", **OFFER)
    assert control.actor("quote_withdrawn", quote_id="QX-71")["version"] == 2
    with pytest.raises(SimulatorRefused, match="quote_not_open"):
        control.actor("quote_withdrawn", quote_id="QX-71")
    assert control.ledger() == []


@pytest.mark.parametrize(
    ("actor", "deed", "because"),
    [
        ("time_traveller", {}, "unknown_actor"),
        ("employee_edits", {"shipment_id": "S-318", "employee": "k"}, "patch"),
        ("employee_edits", {"shipment_id": "S-404", "employee": "k", "patch": {}}, "not_found"),
        ("carrier_offers_quote", {**OFFER, "expires_zone": "Mars/Olympus"}, "expires_zone"),
        ("carrier_offers_quote", {**OFFER, "expires_at": "2026-11-24T06:00"}, "offset"),
        ("quote_withdrawn", {"quote_id": "QX-404"}, "quote_not_found"),
    ],
)
def test_an_impossible_deed_is_refused(
    control: SimulatorControl, actor: str, deed: dict[str, Any], because: str
) -> None:
    with pytest.raises(SimulatorRefused, match=because):
        control.actor(actor, **deed)

"""The change feed: every new version, in order, and nothing missed by a reader."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from tests.simulator import Simulator
from tests.transport_sim.caller import Caller, read
from tools.simulator_control import SimulatorControl


def _start(caller: Caller, control: SimulatorControl) -> int:
    """The present end of the feed, which goes on rising from test to test."""
    control.actor("employee_edits", shipment_id="S-377", employee="m.ortiz", patch={})
    return int(read(caller.client.get("/v1/changes"))["next_after"])


def _changes(client: httpx.Client, after: int) -> list[dict[str, Any]]:
    return list(read(client.get("/v1/changes", params={"after": after}))["changes"])


def test_every_record_that_gets_a_version_appears_once(
    caller: Caller, control: SimulatorControl
) -> None:
    control.settings(booking_confirm_seconds=60)
    start = _start(caller, control)
    booking = read(caller.book())
    control.advance_clock(seconds=60)
    changes = _changes(caller.client, start)
    seen = [(c["record_type"], c["record_id"], c["version"], c["by"]) for c in changes]
    assert sorted(seen) == sorted(
        [
            ("booking", booking["id"], 1, "watchbill-agent"),
            ("booking", booking["id"], 2, "NRDX"),
            ("quote", "QX-68", 2, "watchbill-agent"),
            ("shipment", "S-318", 40, "watchbill-agent"),
        ]
    )
    assert [c["sequence"] for c in changes] == list(range(start + 1, start + 5))


def test_pages_follow_each_other(caller: Caller, control: SimulatorControl) -> None:
    start = _start(caller, control)
    for _ in range(3):
        control.actor("employee_edits", shipment_id="S-318", employee="k.ito", patch={})
    first = read(caller.client.get(f"/v1/changes?after={start}&limit=2"))
    assert (len(first["changes"]), first["has_more"]) == (2, True)
    last = read(caller.client.get(f"/v1/changes?after={first['next_after']}&limit=2"))
    assert ([c["version"] for c in last["changes"]], last["has_more"]) == ([42], False)
    end = read(caller.client.get(f"/v1/changes?after={last['next_after']}"))
    assert end == {"changes": [], "next_after": last["next_after"], "has_more": False}


def test_a_reader_misses_nothing_of_concurrent_writers(
    simulator: Simulator, caller: Caller, control: SimulatorControl
) -> None:
    """Writers of different records commit out of order; a reader polls as fast as it can."""
    start = _start(caller, control)
    writers, rounds = 8, 15
    done = threading.Event()
    with ThreadPoolExecutor(max_workers=writers + 1) as pool:
        polling = pool.submit(_poll, simulator, start, done)
        for writing in [pool.submit(_write, control, n, rounds) for n in range(writers)]:
            writing.result()
        done.set()
        seen = polling.result()
    assert seen == list(range(start + 1, start + 1 + writers * rounds))


def _write(control: SimulatorControl, number: int, rounds: int) -> None:
    """Offer quotes or edit a shipment, on either of the two shipments."""
    shipment_id = "S-318" if number % 4 < 2 else "S-377"
    for turn in range(rounds):
        if number % 2:
            control.actor(
                "carrier_offers_quote",
                shipment_id=shipment_id,
                quote_id=f"QX-{number}-{turn}",
                scac="NRDX",
                name="Nordline Express",
                amount_minor=100_000,
                currency="USD",
                expires_at="2026-11-25T00:00:00Z",
                expires_zone="America/Chicago",
            )
        else:
            control.actor("employee_edits", shipment_id=shipment_id, employee="k.ito", patch={})


def _poll(simulator: Simulator, start: int, done: threading.Event) -> list[int]:
    """Every sequence a reader sees that always asks for what comes after its last one."""
    found: list[int] = []
    with simulator.client() as client:
        while True:
            last_round = done.is_set()
            after = found[-1] if found else start
            page = read(client.get("/v1/changes", params={"after": after, "limit": 500}))
            found.extend(change["sequence"] for change in page["changes"])
            if last_round:
                return found

"""Misbehaviour on order, and the call log that tells what really arrived."""

import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.simulator import Simulator
from tests.transport_sim.caller import Caller, read, refused
from tools.simulator_control import Call, SimulatorControl, SimulatorRefused


def test_503_refuses_as_often_as_ordered_and_does_nothing(
    caller: Caller, control: SimulatorControl
) -> None:
    headers = caller.headers()
    control.fault("503", method="POST", path_prefix="/v1/bookings", times=2)
    for _ in range(2):
        answer = caller.book(headers)
        assert refused(answer, 503, "service_unavailable")["retryable"] is True
        assert answer.headers["Retry-After"] == "1"
    assert control.ledger() == []
    assert caller.book(headers).status_code == 202


def test_a_fault_without_times_lasts_until_it_is_deleted(
    caller: Caller, control: SimulatorControl
) -> None:
    fault = control.fault("503", path_prefix="/v1/shipments")
    assert fault.times_left is None
    for _ in range(3):
        refused(caller.client.get("/v1/shipments/S-318"), 503, "service_unavailable")
    assert caller.client.get("/v1/quotes/QX-68").status_code == 200
    assert [one.kind for one in control.faults()] == ["503"]
    control.clear_faults()
    assert control.faults() == []
    assert caller.shipment()["version"] == 39


def test_faults_do_not_concern_the_control_plane(control: SimulatorControl) -> None:
    control.fault("503")
    assert control.ledger() == []
    assert control.is_healthy()


def test_of_two_calls_at_once_one_uses_up_a_single_fault(
    simulator: Simulator, control: SimulatorControl
) -> None:
    control.fault("503", times=1)

    def get(_: int) -> int:
        with simulator.client() as client:
            return client.get("/v1/shipments/S-318").status_code

    with ThreadPoolExecutor(max_workers=8) as pool:
        statuses = sorted(pool.map(get, range(8)))
    assert statuses == [200] * 7 + [503]


def test_commit_then_timeout_leaves_one_effect_and_the_key_gives_the_stored_answer(
    simulator: Simulator, caller: Caller, control: SimulatorControl
) -> None:
    headers = caller.headers()
    control.fault("commit_then_timeout", path_prefix="/v1/bookings", times=1, seconds=2)
    with simulator.client(timeout_seconds=0.5) as impatient, pytest.raises(httpx.ReadTimeout):
        Caller(impatient).book(headers)
    assert len(control.ledger()) == 1
    (held,) = [call for call in control.calls() if call.method == "POST" and "book" in call.path]
    assert (held.status, held.duration_ms) == (None, None)
    retry = caller.book(headers)
    assert (retry.status_code, retry.headers["Idempotent-Replayed"]) == (202, "true")
    reference = {"client_reference": "case-318 book"}
    (found,) = read(caller.client.get("/v1/bookings", params=reference))["items"]
    assert found["id"] == retry.json()["id"]
    assert len(control.ledger()) == 1
    finished = _answered(control, held.sequence)
    assert finished.status == 202
    assert finished.duration_ms is not None
    assert finished.duration_ms >= 2000


def _answered(control: SimulatorControl, sequence: int) -> Call:
    """The call once it is answered, although nobody listens any more."""
    for _ in range(100):
        (call,) = [c for c in control.calls(after=sequence - 1) if c.sequence == sequence]
        if call.status is not None:
            return call
        time.sleep(0.1)
    raise AssertionError("the call was never completed")


def test_commit_then_timeout_spares_reads_unless_they_are_named(
    caller: Caller, control: SimulatorControl
) -> None:
    control.fault("commit_then_timeout", times=1, seconds=0)
    caller.shipment()
    assert control.faults()[0].times_left == 1
    caller.tell()
    assert control.faults()[0].times_left == 0


def test_slow_works_only_after_its_delay_even_when_the_client_has_gone(
    simulator: Simulator, caller: Caller, control: SimulatorControl
) -> None:
    headers = caller.headers()
    control.fault("slow", method="POST", times=1, seconds=1.5)
    with simulator.client(timeout_seconds=0.3) as impatient, pytest.raises(httpx.ReadTimeout):
        Caller(impatient).book(headers)
    assert control.ledger() == []
    call = control.calls()[-1]
    assert call.status is None
    assert _answered(control, call.sequence).status == 202
    assert len(control.ledger()) == 1


def test_many_held_answers_do_not_hold_up_anybody_else(
    simulator: Simulator, caller: Caller, control: SimulatorControl
) -> None:
    control.fault("slow", path_prefix="/v1/shipments", seconds=3)

    def get(_: int) -> int:
        with simulator.client() as client:
            return client.get("/v1/shipments/S-318").status_code

    with ThreadPoolExecutor(max_workers=40) as pool:
        held = [pool.submit(get, number) for number in range(40)]
        _wait_for_open_calls(control, 40)
        started = time.perf_counter()
        assert caller.client.get("/v1/quotes/QX-68").status_code == 200
        assert time.perf_counter() - started < 1.5
        assert not any(call.done() for call in held)
        assert [call.result() for call in held] == [200] * 40


def _wait_for_open_calls(control: SimulatorControl, number: int) -> None:
    """Return once so many calls have arrived and none is answered."""
    for _ in range(40):
        if len([call for call in control.calls() if call.status is None]) == number:
            return
        time.sleep(0.05)
    raise AssertionError("the calls did not all arrive")


def test_the_call_log_has_reads_writes_and_refusals(
    caller: Caller, control: SimulatorControl
) -> None:
    headers = caller.headers()
    read(caller.book(headers))
    caller.client.get("/v1/shipments?ids=S-318")
    caller.client.get("/v1/nowhere", headers={"Authorization": "Bearer wrong"})
    log = [(call.method, call.path, call.query, call.status) for call in control.calls()]
    assert log == [
        ("GET", "/v1/shipments/S-318", "", 200),
        ("POST", "/v1/leases", "", 201),
        ("POST", "/v1/bookings", "", 202),
        ("GET", "/v1/shipments", "ids=S-318", 200),
        ("GET", "/v1/nowhere", "", 404),
    ]
    booking = control.calls()[2]
    assert booking.idempotency_key == headers["Idempotency-Key"]
    assert booking.fencing_token == int(headers["Fencing-Token"])
    assert [call.path for call in control.calls(after=booking.sequence)][0] == "/v1/shipments"


@pytest.mark.parametrize(
    "order",
    [
        {"kind": "gremlins"},
        {"kind": "503", "times": 0},
        {"kind": "503", "path_prefix": "/sim/ledger"},
        {"kind": "slow", "seconds": -1.0},
        {"kind": "503", "method": "get"},
    ],
)
def test_a_malformed_fault_is_refused(control: SimulatorControl, order: dict[str, str]) -> None:
    with pytest.raises(SimulatorRefused, match="invalid_field"):
        control.fault(order.pop("kind"), **order)  # type: ignore[arg-type]

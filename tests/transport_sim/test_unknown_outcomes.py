"""Calls that leave their caller in the dark: what happened, and what the caller can find out."""

import time
from collections.abc import Iterator
from contextlib import suppress

import httpx
import pytest

from tests.simulator import Simulator
from tests.transport_sim.caller import Caller, read, refused
from tools.simulator_control import Call, SimulatorControl, SimulatorRefused


@pytest.fixture
def headers(caller: Caller) -> dict[str, str]:
    """What a write needs, read before anything goes wrong."""
    return caller.headers()


@pytest.fixture
def impatient(simulator: Simulator, control: SimulatorControl) -> Iterator[Caller]:
    """A caller that waits half a second."""
    with simulator.client(timeout_seconds=0.5) as client:
        yield Caller(client)


def _last(control: SimulatorControl, method: str) -> Call:
    return [call for call in control.calls() if call.method == method][-1]


def _ended(control: SimulatorControl, sequence: int) -> Call:
    """The call once it is over, although nobody listens any more."""
    for _ in range(100):
        (call,) = [c for c in control.calls(after=sequence - 1) if c.sequence == sequence]
        if call.duration_ms is not None:
            return call
        time.sleep(0.05)
    raise AssertionError("the call never ended")


def test_commit_then_500_has_its_effect_and_does_not_promise_that_it_had_none(
    caller: Caller, control: SimulatorControl, headers: dict[str, str]
) -> None:
    control.fault("commit_then_500", path_prefix="/v1/bookings", times=1)
    problem = refused(caller.book(headers), 500, "internal_error")
    assert problem["retryable"] is False
    assert "not known" in problem["detail"]
    (effect,) = control.ledger()
    assert _last(control, "POST").status == 500
    retry = caller.book(headers)
    assert (retry.status_code, retry.headers["Idempotent-Replayed"]) == (202, "true")
    assert retry.json()["id"] == effect.record_id
    assert len(control.ledger()) == 1


def test_timeout_before_commit_never_has_an_effect_and_leaves_the_key_free(
    impatient: Caller, caller: Caller, control: SimulatorControl, headers: dict[str, str]
) -> None:
    control.fault("timeout_before_commit", times=1, seconds=1.5)
    with pytest.raises(httpx.ReadTimeout):
        impatient.book(headers)
    held = _last(control, "POST")
    assert held.duration_ms is None
    ended = _ended(control, held.sequence)
    assert (ended.status, control.ledger()) == (504, [])
    assert ended.duration_ms is not None
    assert ended.duration_ms >= 1500
    fresh = caller.book(headers)
    assert fresh.status_code == 202
    assert "Idempotent-Replayed" not in fresh.headers


def test_a_patient_caller_is_not_told_that_a_timeout_had_no_effect(
    caller: Caller, control: SimulatorControl, headers: dict[str, str]
) -> None:
    control.fault("timeout_before_commit", times=1, seconds=0)
    problem = refused(caller.tell(headers), 504, "gateway_timeout")
    assert problem["retryable"] is False
    assert control.ledger() == []


@pytest.mark.parametrize(
    ("kind", "effects"),
    [("connection_reset_before_commit", 0), ("connection_reset_after_commit", 1)],
)
def test_a_reset_breaks_the_connection_without_an_answer(
    caller: Caller, control: SimulatorControl, headers: dict[str, str], kind: str, effects: int
) -> None:
    control.fault(kind, path_prefix="/v1/bookings", times=1)
    with pytest.raises(httpx.ReadError):
        caller.book(headers)
    # Without an answer nothing tells when the work was over, so wait for the log to say so.
    ended = _ended(control, _last(control, "POST").sequence)
    assert ended.status is None
    assert len(control.ledger()) == effects
    retry = caller.book(headers)
    assert ("Idempotent-Replayed" in retry.headers) == bool(effects)
    assert len(control.ledger()) == 1


@pytest.mark.parametrize(
    "kind",
    [
        "commit_then_500",
        "timeout_before_commit",
        "connection_reset_before_commit",
        "connection_reset_after_commit",
    ],
)
def test_faults_about_commits_spare_reads_unless_they_are_named(
    caller: Caller, control: SimulatorControl, kind: str
) -> None:
    control.fault(kind, times=1, seconds=0)
    caller.shipment()
    assert control.faults()[0].times_left == 1
    control.clear_faults()
    control.fault(kind, method="GET", times=1, seconds=0)
    with suppress(httpx.ReadError):
        assert caller.client.get("/v1/shipments/S-318").is_server_error
    assert control.faults()[0].times_left == 0


def test_429_does_nothing_and_says_when_to_come_back(
    caller: Caller, control: SimulatorControl, headers: dict[str, str]
) -> None:
    control.fault("429", path_prefix="/v1/messages", times=1, seconds=7)
    answer = caller.tell(headers)
    assert refused(answer, 429, "rate_limited")["retryable"] is True
    assert answer.headers["Retry-After"] == "7"
    assert control.ledger() == []
    assert caller.tell(headers).status_code == 202


def test_lookup_down_concerns_searches_by_reference_and_nothing_else(
    caller: Caller, control: SimulatorControl, headers: dict[str, str]
) -> None:
    control.fault("lookup_down", times=1)
    booking = read(caller.book(headers))
    read(caller.client.get(f"/v1/bookings/{booking['id']}"))
    read(caller.client.get("/v1/bookings?shipment_ids=S-318"))
    search = "/v1/bookings?client_reference=case-318 book"
    assert refused(caller.client.get(search), 503, "lookup_unavailable")["retryable"] is True
    assert [item["id"] for item in read(caller.client.get(search))["items"]] == [booking["id"]]


def test_lost_lease_is_noticed_at_the_next_renewal_and_stays_lost(
    caller: Caller, control: SimulatorControl
) -> None:
    lease = caller.lease()
    path = f"/v1/leases/{lease['lease_id']}"
    read(caller.client.put(path, json={"ttl_seconds": 60}))
    control.fault("lost_lease", times=1)
    caller.shipment()
    for _ in range(2):
        lost = caller.client.put(path, json={"ttl_seconds": 60})
        refused(lost, 409, "lease_lost")
    assert caller.lease()["fencing_token"] > lease["fencing_token"] + 1


def test_lost_lease_is_noticed_by_the_next_write_under_it(
    caller: Caller, control: SimulatorControl, headers: dict[str, str]
) -> None:
    control.fault("lost_lease", times=1)
    # A write that relies on no lease has none to lose.
    unfenced = {name: value for name, value in headers.items() if name != "Fencing-Token"}
    refused(caller.book(unfenced), 428, "fencing_token_required")
    assert control.faults()[0].times_left == 1
    for _ in range(2):
        refused(caller.book(headers), 409, "stale_fencing_token")
    assert control.ledger() == []
    anew = caller.headers(Idempotency_Key=headers["Idempotency-Key"])
    assert caller.book(anew).status_code == 202


def test_a_lease_named_by_a_patch_can_be_lost_too(
    caller: Caller, control: SimulatorControl, headers: dict[str, str]
) -> None:
    control.fault("lost_lease", times=1)
    patch = {"weight_kg": "18300"}
    refused(
        caller.client.patch("/v1/shipments/S-318", json=patch, headers=headers),
        409,
        "stale_fencing_token",
    )


@pytest.mark.parametrize(
    ("order", "field"),
    [
        ({"kind": "lost_hope"}, "kind"),
        ({"kind": "stale_read", "method": "POST"}, "method"),
        ({"kind": "lost_lease", "method": "GET"}, "method"),
        ({"kind": "503", "event": "booking.confirmed"}, "event"),
        ({"kind": "webhook_drop", "path_prefix": "/v1/"}, "path_prefix"),
        ({"kind": "webhook_drop", "event": "booking.lost"}, "event"),
    ],
)
def test_a_fault_that_could_never_happen_is_refused(
    control: SimulatorControl, order: dict[str, str], field: str
) -> None:
    with pytest.raises(SimulatorRefused, match=field):
        control.fault(**order)  # type: ignore[arg-type]
    assert control.faults() == []

"""Leases: one holder, a token that only rises, and old tokens that no longer count."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.simulator import Simulator
from tests.transport_sim.caller import Caller, read, refused
from tools.simulator_control import SimulatorControl


def _ask(client: httpx.Client, holder: str) -> httpx.Response:
    body = {"resource": "shipment:S-318", "holder": holder, "ttl_seconds": 60}
    return client.post("/v1/leases", json=body)


def test_a_held_resource_is_refused_to_another_and_says_by_whom_and_until_when(
    caller: Caller,
) -> None:
    lease = caller.lease(holder="worker-1")
    problem = refused(_ask(caller.client, "worker-2"), 409, "lease_held")
    assert (problem["holder"], problem["expires_at"]) == ("worker-1", lease["expires_at"])
    assert problem["retryable"] is True


def test_the_token_of_an_older_lease_is_refused_after_a_newer_one(
    caller: Caller, control: SimulatorControl
) -> None:
    old = caller.lease(holder="worker-1", ttl_seconds=30)
    control.advance_clock(seconds=31)
    new = caller.lease(holder="worker-2", ttl_seconds=30)
    assert new["fencing_token"] > old["fencing_token"]
    frozen = {
        "Idempotency-Key": "frozen",
        "If-Match": '"39"',
        "Fencing-Token": str(old["fencing_token"]),
    }
    refused(caller.book(frozen), 409, "stale_fencing_token")
    assert control.ledger() == []
    alive = {**frozen, "Idempotency-Key": "alive", "Fencing-Token": str(new["fencing_token"])}
    assert caller.book(alive).status_code == 202


def test_the_newest_token_counts_only_while_its_lease_is_in_force(
    caller: Caller, control: SimulatorControl
) -> None:
    expired = caller.headers()
    control.advance_clock(seconds=61)
    refused(caller.book(expired), 409, "stale_fencing_token")
    lease = caller.lease()
    caller.client.delete(f"/v1/leases/{lease['lease_id']}")
    given_back = {**expired, "Fencing-Token": str(lease["fencing_token"])}
    refused(caller.book(given_back), 409, "stale_fencing_token")
    assert control.ledger() == []


def test_the_same_holder_may_take_it_again_and_fences_its_own_older_self(caller: Caller) -> None:
    old = caller.lease(holder="worker-1")
    new = caller.lease(holder="worker-1")
    assert new["lease_id"] != old["lease_id"]
    assert new["fencing_token"] > old["fencing_token"]
    lost = caller.client.put(f"/v1/leases/{old['lease_id']}", json={"ttl_seconds": 60})
    refused(lost, 409, "lease_lost")
    headers = caller.headers(Fencing_Token=str(old["fencing_token"]))
    refused(caller.book(headers), 409, "stale_fencing_token")


def test_a_lease_is_renewed_while_it_lives_and_lost_once_it_has_ended(
    caller: Caller, control: SimulatorControl
) -> None:
    lease = caller.lease(ttl_seconds=60)
    path = f"/v1/leases/{lease['lease_id']}"
    control.advance_clock(seconds=40)
    renewed = read(caller.client.put(path, json={"ttl_seconds": 60}))
    assert renewed["expires_at"] > lease["expires_at"]
    assert renewed["fencing_token"] == lease["fencing_token"]
    control.advance_clock(seconds=40)
    refused(_ask(caller.client, "worker-2"), 409, "lease_held")
    control.advance_clock(seconds=21)
    refused(caller.client.put(path, json={"ttl_seconds": 60}), 409, "lease_lost")
    nobody = caller.client.put(f"/v1/leases/{uuid.uuid4()}", json={"ttl_seconds": 60})
    refused(nobody, 404, "lease_not_found")


def test_a_release_frees_the_resource_and_can_be_repeated(caller: Caller) -> None:
    lease = caller.lease(holder="worker-1")
    for _ in range(2):
        answer = caller.client.delete(f"/v1/leases/{lease['lease_id']}")
        assert (answer.status_code, answer.content) == (204, b"")
    assert caller.lease(holder="worker-2")["fencing_token"] == lease["fencing_token"] + 1


def test_d08_tokens_rise_even_across_a_reset(caller: Caller, control: SimulatorControl) -> None:
    before = caller.lease()["fencing_token"]
    control.reset()
    assert caller.lease()["fencing_token"] == before + 1


def test_of_twenty_holders_at_once_one_gets_it(
    simulator: Simulator, control: SimulatorControl
) -> None:
    def ask(number: int) -> int:
        with simulator.client() as client:
            return _ask(client, f"worker-{number}").status_code

    with ThreadPoolExecutor(max_workers=20) as pool:
        statuses = sorted(pool.map(ask, range(20)))
    assert statuses == [201] + [409] * 19


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"resource": "shipment:S-404"}, 404, "shipment_not_found"),
        ({"resource": "planet:S-318"}, 422, "invalid_field"),
        ({"ttl_seconds": 0}, 422, "invalid_field"),
        ({"ttl_seconds": True}, 422, "invalid_field"),
        ({"ttl_seconds": 3601}, 422, "invalid_field"),
        ({"holder": ""}, 422, "invalid_field"),
        ({"colour": "red"}, 422, "unknown_field"),
    ],
)
def test_a_malformed_lease_request_is_refused(
    caller: Caller, changes: dict[str, object], status: int, code: str
) -> None:
    body = {"resource": "shipment:S-318", "holder": "worker-1", "ttl_seconds": 60, **changes}
    refused(caller.client.post("/v1/leases", json=body), status, code)

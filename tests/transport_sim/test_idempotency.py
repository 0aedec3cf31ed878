"""One key, one effect, however often, however late, however many at once."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg

from tests.simulator import Simulator
from tests.transport_sim.caller import BOOKING, Caller, read, refused
from tools.simulator_control import SimulatorControl


def test_a_replay_gives_the_stored_answer_and_has_no_second_effect(
    caller: Caller, control: SimulatorControl
) -> None:
    headers = caller.headers()
    first = caller.book(headers)
    control.advance_clock(seconds=3600)  # confirmed by now; the stored answer is older
    again = caller.book(headers)
    assert (again.status_code, again.content) == (202, first.content)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers["Location"] == first.headers["Location"]
    assert "Idempotent-Replayed" not in first.headers
    assert len(control.ledger()) == 1


def test_a_replay_needs_neither_the_old_version_nor_the_old_lease(
    caller: Caller, control: SimulatorControl
) -> None:
    headers = caller.headers()
    read(caller.book(headers))
    later = caller.headers(Idempotency_Key=headers["Idempotency-Key"])
    assert later != headers
    assert caller.book(later).headers["Idempotent-Replayed"] == "true"
    assert len(control.ledger()) == 1


def test_d01_a_key_reused_with_another_payload_is_refused(
    caller: Caller, control: SimulatorControl
) -> None:
    headers = caller.headers()
    read(caller.book(headers))
    refused(caller.book(headers, client_reference="other"), 422, "idempotency_key_reused")
    refused(caller.tell(headers), 422, "idempotency_key_reused")
    assert len(control.ledger()) == 1


def test_a_refused_request_leaves_its_key_free(caller: Caller, control: SimulatorControl) -> None:
    wrong = caller.headers(If_Match='"38"')
    refused(caller.book(wrong), 412, "version_mismatch")
    right = {**wrong, "If-Match": '"39"'}
    assert caller.book(right).status_code == 202
    assert len(control.ledger()) == 1


def test_an_expired_key_is_a_new_request_with_a_second_effect(
    caller: Caller, control: SimulatorControl
) -> None:
    headers = caller.headers()
    first = read(caller.tell(headers))
    control.advance_clock(seconds=24 * 3600 - 60)
    assert read(caller.tell(headers))["id"] == first["id"]
    control.advance_clock(seconds=120)
    second = caller.tell({**headers, "Fencing-Token": str(caller.lease()["fencing_token"])})
    assert second.json()["id"] != first["id"]
    assert "Idempotent-Replayed" not in second.headers
    assert [entry.kind for entry in control.ledger()] == ["message", "message"]
    assert read(caller.tell(headers))["id"] == second.json()["id"]


def test_the_life_of_a_key_can_be_shortened(caller: Caller, control: SimulatorControl) -> None:
    control.settings(idempotency_key_seconds=60)
    headers = caller.headers()
    read(caller.tell(headers))
    control.advance_clock(seconds=61)
    read(caller.tell({**headers, "Fencing-Token": str(caller.lease()["fencing_token"])}))
    assert len(control.ledger()) == 2


def test_d02_twenty_equal_posts_at_once_leave_one_ledger_entry(
    simulator: Simulator, caller: Caller, control: SimulatorControl
) -> None:
    headers = caller.headers()

    def post(_: int) -> httpx.Response:
        with simulator.client() as client:
            return client.post("/v1/bookings", json=BOOKING, headers=headers)

    with ThreadPoolExecutor(max_workers=20) as pool:
        answers = list(pool.map(post, range(20)))
    assert len(control.ledger()) == 1
    fresh = [a for a in answers if a.status_code == 202 and "Idempotent-Replayed" not in a.headers]
    assert len(fresh) == 1
    for answer in answers:
        if answer.status_code == 202:
            assert answer.content == fresh[0].content
        else:
            assert refused(answer, 409, "idempotency_in_progress")["retryable"] is True


def test_twenty_different_posts_at_once_leave_one_booking(
    simulator: Simulator, caller: Caller, control: SimulatorControl
) -> None:
    headers = caller.headers()

    def post(number: int) -> int:
        own = {**headers, "Idempotency-Key": f"{headers['Idempotency-Key']}-{number}"}
        with simulator.client() as client:
            return client.post("/v1/bookings", json=BOOKING, headers=own).status_code

    with ThreadPoolExecutor(max_workers=20) as pool:
        statuses = Counter(pool.map(post, range(20)))
    assert statuses == {202: 1, 412: 19}
    assert len(control.ledger()) == 1


def test_a_second_request_is_told_to_wait_while_the_first_is_at_work(
    simulator: Simulator, caller: Caller, control: SimulatorControl
) -> None:
    headers = caller.headers()
    with (
        psycopg.connect(simulator.database_url) as somebody_else,
        ThreadPoolExecutor(max_workers=1) as pool,
    ):
        somebody_else.execute("SELECT 1 FROM transport_sim_shipment WHERE id = 'S-318' FOR UPDATE")
        first = pool.submit(caller.book, headers)
        _wait_until_blocked(simulator)
        with simulator.client() as client:
            second = client.post("/v1/bookings", json=BOOKING, headers=headers)
        refused(second, 409, "idempotency_in_progress")
        somebody_else.rollback()
        assert first.result(timeout=30).status_code == 202
    assert len(control.ledger()) == 1


def _wait_until_blocked(simulator: Simulator) -> None:
    """Return once the first request has claimed its key and waits for the shipment."""
    waiting = (
        "SELECT pg_sleep(0.02), count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    with psycopg.connect(simulator.database_url, autocommit=True) as observer:
        for _ in range(500):
            row = observer.execute(waiting).fetchone()
            if row is not None and row[1]:
                return
    raise AssertionError("the first request never reached the shipment")

"""The call log tells when a call arrived, to the millisecond, on both clocks."""

import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import httpx
import psycopg

from tests.simulator import Simulator
from tests.transport_sim.caller import MESSAGE, Caller
from tools.simulator_control import SimulatorControl

POOL_SIZE = 12  # of the simulator
WAITING = (
    "SELECT pg_sleep(0.05), count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


def test_a_call_arrives_between_its_sending_and_its_answer_on_both_clocks(
    caller: Caller, control: SimulatorControl
) -> None:
    control.set_clock(datetime(2026, 11, 24, 14, 0, tzinfo=UTC))
    for _ in range(5):
        before = datetime.now(UTC)
        caller.shipment()
        after = datetime.now(UTC)
        call = control.calls()[-1]
        assert before <= call.real_at <= after
        ahead = timedelta(seconds=control.clock().offset_seconds)
        assert abs(call.real_at + ahead - call.at) < timedelta(milliseconds=1)
    times = {call.at for call in control.calls()}
    assert len(times) == 5
    assert any(at.microsecond for at in times)


def test_a_call_that_had_to_wait_inside_is_logged_at_its_true_arrival(
    simulator: Simulator, caller: Caller, control: SimulatorControl
) -> None:
    headers = caller.headers()

    def tell(number: int) -> int:
        own = {**headers, "Idempotency-Key": f"call-{number}"}
        with simulator.client() as client:
            return client.post("/v1/messages", json=MESSAGE, headers=own).status_code

    with (
        psycopg.connect(simulator.database_url) as somebody_else,
        ThreadPoolExecutor(max_workers=POOL_SIZE + 1) as pool,
    ):
        somebody_else.execute("SELECT 1 FROM transport_sim_shipment WHERE id = 'S-318' FOR UPDATE")
        busy = [pool.submit(tell, number) for number in range(POOL_SIZE)]
        _wait_until_blocked(simulator, POOL_SIZE)
        sent = datetime.now(UTC)
        late = pool.submit(httpx.get, f"{simulator.url}/v1/quotes/QX-68", timeout=30)
        _pause(simulator, seconds=1.5)
        assert not late.done()
        somebody_else.rollback()
        assert late.result().status_code == 401
        assert [post.result() for post in busy] == [202] * POOL_SIZE
    (call,) = [call for call in control.calls() if call.path == "/v1/quotes/QX-68"]
    assert timedelta(0) <= call.real_at - sent < timedelta(seconds=1)


def test_a_call_arrives_with_its_head_however_slowly_its_body_follows(
    simulator: Simulator, caller: Caller, control: SimulatorControl
) -> None:
    head = (
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Authorization: Bearer {simulator.token}\r\nIdempotency-Key: slow\r\n"
        "Content-Length: 2\r\n\r\n"
    )
    place = urlsplit(simulator.url)
    with socket.create_connection((place.hostname, place.port), timeout=30) as connection:
        sent = datetime.now(UTC)
        connection.sendall(head.encode())
        _pause(simulator, seconds=1)
        connection.sendall(b"{}")
        assert connection.recv(100).startswith(b"HTTP/1.1 422")
    assert timedelta(0) <= control.calls()[-1].real_at - sent < timedelta(seconds=0.9)


def _wait_until_blocked(simulator: Simulator, number: int) -> None:
    with psycopg.connect(simulator.database_url, autocommit=True) as observer:
        for _ in range(200):
            row = observer.execute(WAITING).fetchone()
            if row is not None and row[1] >= number:
                return
    raise AssertionError("the writers never reached the shipment")


def _pause(simulator: Simulator, *, seconds: float) -> None:
    with psycopg.connect(simulator.database_url, autocommit=True) as observer:
        observer.execute("SELECT pg_sleep(%s)", [seconds])

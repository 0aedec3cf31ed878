"""The courier of a new process goes on where a killed one stopped."""

import sys
from pathlib import Path

import psycopg

from tests.simulator import Simulator
from tests.transport_sim.receiver import SECRET, receiving
from tools.ports import free_port
from tools.processes import ProcessGroup
from tools.simulator_control import SimulatorControl

LEFT_BEHIND = """
WITH subscriber AS (
    INSERT INTO transport_sim_webhooksubscription (url, secret, clock)
    VALUES (%s, %s, 'real') RETURNING id
), clock AS (
    SELECT clock_timestamp() + clock_offset AS now FROM transport_sim_world
)
INSERT INTO transport_sim_webhookdelivery
    (subscription_id, webhook_id, event, body, queued_at, due_at, held, status, attempts)
SELECT subscriber.id, 'msg_left', 'shipment.updated', '{}', now, now, false, 'pending', 1
FROM subscriber, clock
"""


def test_what_a_killed_process_left_pending_is_sent_by_the_next_one(
    simulator: Simulator, control: SimulatorControl, tmp_path: Path
) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    with (
        receiving() as receiver,
        SimulatorControl(url=address, token=simulator.control_token) as next_one,
        ProcessGroup(purpose="test", logs=tmp_path) as processes,
    ):
        with psycopg.connect(simulator.database_url) as database:
            # Behind the back of the running process, whose courier sleeps.
            database.execute(LEFT_BEHIND, [receiver.url, SECRET])
        processes.start(
            "next",
            argv=[
                sys.executable,
                "-m",
                "transport_sim",
                "serve",
                "--port",
                address.rpartition(":")[2],
            ],
            env=simulator.environment(),
            ready=next_one.is_healthy,
        )
        (told,) = receiver.wait_for(1)
        assert told.webhook_id == "msg_left"
        assert told.is_signed()
        control.unsubscribe_all()

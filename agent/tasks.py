"""What a worker can be asked. Messages carry ids only; each task is one call."""

from typing import Any

from celery.signals import worker_process_shutdown, worker_shutdown

from agent.celery import app
from agent.crew import crew, stand_down
from agent.retention import forget_what_is_over
from agent.sweep import sweep_due
from cases.vocabulary.lanes import Lane


@app.task(name="agent.advance")
def advance(case_id: int) -> str:
    """Visit one case; the answer says how the visit ended, for the log."""
    return crew().runner.advance(case_id=case_id).value


@app.task(name="agent.sweep")
def sweep() -> int:
    """Nudge workers for what is due, escalate what is overdue, and let no case lose its owner.

    The answer says how many cases were nudged for.
    """
    desk = crew().runner.desk
    nudged = sweep_due(desk=desk, waiting=waiting_in, send=send_to_lane)
    desk.escalate_overdue()
    desk.keep_owned()
    return nudged


@app.task(name="agent.refresh")
def refresh() -> int:
    """Open the handovers that are due and refresh for them; says how many cases were."""
    return crew().refresher.refresh()


@app.task(name="agent.retention")
def retention() -> int:
    """Forget where the graphs of closed cases were; the answer says of how many."""
    return forget_what_is_over(desk=crew().runner.desk, checkpoints=crew().checkpoints)


def waiting_in(lane: Lane) -> int:
    """How many messages wait in the lane's queue."""
    with app.connection_or_acquire() as connection:
        declared = connection.default_channel.queue_declare(queue=lane.value)
        return int(declared.message_count)


def send_to_lane(case_id: int, lane: Lane) -> None:
    """Put one nudge into the lane's queue."""
    advance.apply_async((case_id,), queue=lane.value)


@worker_process_shutdown.connect
@worker_shutdown.connect
def close_connections(**_: Any) -> None:
    """Give connections back when a worker process ends."""
    stand_down()

"""Keeping a claim alive while a step takes long, so that nobody takes a working worker for dead."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import structlog

from agent.desk import Desk
from cases.vocabulary.errors import LeaseLost
from cases.vocabulary.work import Grant

BEATS_PER_LEASE = 3
# With the lease after the last beat this stays within the time a task may take: a step that hangs
# for ever does not keep its case for ever.
LONGEST_VISIT = timedelta(seconds=45)

log = structlog.get_logger()


@contextmanager
def heartbeat(*, desk: Desk, grant: Grant, lease: timedelta) -> Iterator[None]:
    """Prolong the claim three times per lease until the block ends, or a visit lasted too long.

    It only keeps others away. Whether this worker may go on is asked from the record before each
    step and call, never concluded from a heartbeat.
    """
    is_over = threading.Event()
    beating = threading.Thread(
        target=_beat, args=(desk, grant, lease, is_over), name="heartbeat", daemon=True
    )
    beating.start()
    try:
        yield
    finally:
        is_over.set()
        beating.join()


def _beat(desk: Desk, grant: Grant, lease: timedelta, is_over: threading.Event) -> None:
    ends_at = time.monotonic() + LONGEST_VISIT.total_seconds()
    pause = lease.total_seconds() / BEATS_PER_LEASE
    try:
        while not is_over.wait(pause) and time.monotonic() < ends_at:
            desk.keep_alive(grant=grant, lease=lease)
    except LeaseLost as lost:
        log.info("heartbeat_ended", reason=str(lost))
    except Exception:  # the lease runs out, and the next step of the visit finds that
        log.exception("heartbeat_failed")
    finally:
        desk.hang_up()

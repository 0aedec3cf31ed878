"""A worker without a broker: it asks the record itself what is due, again and again.

It does what a beat and a worker do together, with nothing to wait for in between. Where messages
matter, Celery workers are used instead.
"""

import time
from collections.abc import Sequence

from django.db import close_old_connections

import agent.standalone  # noqa: F401 (before the door to the record is imported)

# isort: split
from agent.crew import crew
from agent.sweep import sweep_due
from cases.vocabulary.lanes import Lane

PAUSE_SECONDS = 0.01


def work(_: Sequence[str]) -> None:
    """Visit what is due until a signal ends this process."""
    runner = crew().runner

    def visit(case_id: int, _: Lane) -> None:
        runner.advance(case_id=case_id)

    def nobody_waits(_: Lane) -> int:
        return 0

    while True:
        sweep_due(desk=runner.desk, waiting=nobody_waits, send=visit)
        close_old_connections()
        time.sleep(PAUSE_SECONDS)

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

MOST_AT_ONCE = 10
PAUSE_SECONDS = 0.01


def work(_: Sequence[str]) -> None:
    """Visit what is due until a signal ends this process."""
    runner = crew().runner
    while True:
        for due in runner.desk.due(limit=MOST_AT_ONCE):
            runner.advance(case_id=due.case_id)
        close_old_connections()
        time.sleep(PAUSE_SECONDS)

"""Messages as beat and workers send them, put into the broker of this test process by hand."""

import random

import redis
from kombu import Connection

from agent.celery import app
from cases.vocabulary.lanes import Lane
from tests.crashes.fixtures import broker_of_this_worker
from tests.crashes.nursery import Nursery
from tools.stories.house import ALONE

ADVANCE = "agent.advance"


def deliver(case_ids: list[int], *, times: int) -> None:
    """Every nudge of these cases again, in any order and in any lane."""
    messages = [(case_id, lane) for case_id in case_ids for lane in Lane] * times
    random.shuffle(messages)
    with Connection(broker_of_this_worker()) as connection:
        for case_id, lane in messages:
            app.send_task(ADVANCE, args=(case_id,), queue=lane.value, connection=connection)


def empty() -> None:
    """Lose every message and everything else the broker knows."""
    with redis.Redis.from_url(broker_of_this_worker()) as client:
        client.flushdb()


def start_workers(nursery: Nursery, *names: str) -> None:
    """Celery workers of one process each."""
    for name in names:
        options = ["--pool=solo", *ALONE, f"-n{name}@%h", "--loglevel=WARNING"]
        nursery.start(name, options=options, env={})

"""Failures B2, B12, B16 and B17: what a message carries, and what the broker is asked to do."""

import base64
import json
import os
from typing import Any

import redis

from agent.celery import app
from agent.tasks import send_to_lane
from cases.vocabulary.lanes import Lane


def taken_from(queue: str) -> dict[str, Any]:
    """The one message of a queue, as it went over the wire."""
    with redis.Redis.from_url(os.environ["BROKER_URL"]) as broker:
        (raw,) = broker.lrange(queue, 0, -1)
        broker.delete(queue)
    message: dict[str, Any] = json.loads(raw)
    return message


def test_b17_a_message_carries_the_number_of_a_case_and_nothing_else() -> None:
    """Whether there is anything to do, and what, is asked of the record by whoever takes it."""
    send_to_lane(318, Lane.EXECUTION)
    message = taken_from("execution")
    arguments, named, _ = json.loads(base64.b64decode(message["body"]))
    assert (arguments, named) == ([318], {})
    assert message["content-type"] == "application/json"
    assert app.conf.accept_content == ["json"]


def test_b12_no_message_waits_in_a_worker_for_its_hour() -> None:
    """What is due later stands in the record; a worker takes no more than it can do."""
    send_to_lane(318, Lane.PLANNING)
    message = taken_from("planning")
    assert message["headers"]["eta"] is None
    assert app.conf.worker_prefetch_multiplier == 1


def test_b02_a_task_whose_process_died_does_not_go_round_in_the_broker() -> None:
    """The record counts the deaths and brings the case back; the broker does neither."""
    assert app.conf.task_acks_late
    assert not app.conf.task_reject_on_worker_lost

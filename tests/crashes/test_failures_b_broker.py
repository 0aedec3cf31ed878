"""Failures B1, B3 to B6, B10 and B12: what brokers do to messages; the record does not mind."""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kombu import Connection

from cases.actions import runs
from cases.models import Attempt, Run
from tests.cases.builders import AGENT
from tests.crashes.fixtures import broker_of_this_worker
from tests.crashes.night_desk import NightDesk
from tools.processes import ProcessGroup
from tools.valkey import ValkeyServer

pytestmark = pytest.mark.processes

BOOKINGS = "/v1/bookings"


@pytest.fixture
def broker(night: NightDesk, tmp_path: Path) -> Iterator[ValkeyServer]:
    """A broker of this test alone, for its workers and a beat of its own."""
    with ProcessGroup(purpose="test", logs=tmp_path / "log") as processes:
        server = ValkeyServer(folder=tmp_path / "valkey", processes=processes)
        server.start()
        night.env["CELERY_BROKER_URL"] = server.url
        night.nursery.start(
            "beat", options=["--loglevel=WARNING"], env={"PROGRAM": "beat", **night.env}
        )
        yield server
        night.nursery.kill_all()


def calls_to_book(night: NightDesk) -> int:
    """How many calls for a booking reached the transport system, answered or not."""
    return sum(call.method == "POST" and call.path == BOOKINGS for call in night.control.calls())


def wait_for_the_call(night: NightDesk) -> None:
    """The booking is being called for right now."""
    night.wait_for(lambda: calls_to_book(night) == 1, "the booking is called for")


def test_b03_b04_b05_b10_a_broker_that_is_down_at_the_release_and_restarts_in_the_call(
    night: NightDesk, broker: ValkeyServer
) -> None:
    """The release is stored, the worker of before finds its way back, and each effect is one."""
    night.start_worker("worker", pool="prefork")
    night.wait_for_proposal(1)
    night.control.fault("slow", path_prefix=BOOKINGS, times=1, seconds=1.5)
    broker.crash()
    night.release(1)
    # A sweep of just now: what it sent went down with the broker.
    assert [due.case_id for due in runs.nudge_due(agent=AGENT, limit=9)] == [night.case_id]
    broker.start()
    wait_for_the_call(night)
    broker.crash()
    broker.start()
    night.wait_for_stage("waiting_for_acceptance")
    assert night.our_effects() == ["booking", "message"]
    assert calls_to_book(night) == Attempt.objects.count() - 1 == 1
    assert night.nursery.status("worker") is None, "the same worker, without a restart"


def test_b06_a_worker_asked_to_end_in_the_call_leaves_one_effect_and_nothing_open(
    night: NightDesk,
) -> None:
    """A deploy in the wrong moment: the call is brought to its end, the next release goes on."""
    night.start_worker("old", pool="prefork")
    night.wait_for_proposal(1)
    night.control.fault("slow", path_prefix=BOOKINGS, times=1, seconds=1)
    night.release(1)
    wait_for_the_call(night)
    night.nursery.stop("old")
    assert night.our_effects() == ["booking"]
    assert Run.objects.get().lease_until is None, "what it held was given back"
    night.start_worker("new")
    night.wait_for_stage("waiting_for_acceptance")
    assert night.our_effects() == ["booking", "message"]
    assert not Attempt.objects.filter(outcome__in=("open", "unknown")).exists()


def deliver_again() -> None:
    """The visibility timeout is over: the broker hands out once more what nobody acknowledged."""
    options = {"visibility_timeout": 0}
    with Connection(broker_of_this_worker(), transport_options=options) as connection:
        channel: Any = connection.channel()
        channel.qos.restore_visible(num=100)


def deliveries(log: Path) -> list[str]:
    """Ids of the visits that this worker was sent."""
    return re.findall(r"agent\.advance\[([0-9a-f-]+)\] received", log.read_text())


def test_b01_a_message_delivered_again_in_the_call_starts_no_second_attempt(
    night: NightDesk,
) -> None:
    """Two workers have one message; the second finds the case claimed and leaves it."""
    for name in ("one", "two"):
        night.start_worker(name, options=["--loglevel=INFO"])
    night.wait_for_proposal(1)
    night.wait_until_let_go()
    night.control.fault("slow", path_prefix=BOOKINGS, times=1, seconds=1.5)
    night.release(1)
    wait_for_the_call(night)
    deliver_again()
    night.wait_for_stage("waiting_for_acceptance")
    seen = [set(deliveries(night.nursery.logs / f"{name}.log")) for name in ("one", "two")]
    assert seen[0] & seen[1], "both were sent the same message"
    assert night.our_effects() == ["booking", "message"]
    assert calls_to_book(night) == 1
    assert Attempt.objects.count() == 2


def held() -> int:
    """How many cases workers hold right now."""
    return Run.objects.exclude(worker="").count()


def test_b12_a_release_does_not_wait_behind_slow_planning(night: NightDesk) -> None:
    """Four slow cases keep every process for planning busy; one has releases of its own."""
    night.start_worker("all", pool="prefork", env={"READING": "SLOW", "DEED": "dawdle"})
    night.wait_for_proposal(1)
    for number in range(4):
        night.open_another(f"SLOW-{number}")
    night.wait_for(lambda: held() == 2, "both processes are busy")
    night.start_worker("releases", options=["--queues=execution,reconciliation,sweep"])
    time.sleep(1)  # it is at work before the release, as it would be
    night.release(1)
    began = time.monotonic()
    wait_for_the_call(night)
    assert time.monotonic() - began < 15, "a slow one takes 30 s"
    assert held() >= 2, "planning is as busy as before"

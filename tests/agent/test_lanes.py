"""The sweep nudges the right queue, and only ever nudges; lanes do not run into each other."""

from datetime import timedelta

import pytest

from agent.celery import SWEEP_QUEUE, app
from agent.crew import NotConfigured, assemble
from agent.heartbeat import LONGEST_VISIT
from agent.runner import LEASE
from agent.sweep import MOST_WAITING, sweep_due
from cases.vocabulary.lanes import Lane
from cases.vocabulary.work import Situation
from tests.agent.rig import Rig
from tests.agent.twin import DeskTwin


def nobody(_: Lane) -> int:
    """No message waits in any queue."""
    return 0


def test_b10_whatever_is_due_is_nudged_into_the_lane_of_its_stage() -> None:
    rig = Rig()
    sent: list[tuple[int, Lane]] = []

    def send(case_id: int, lane: Lane) -> None:
        sent.append((case_id, lane))

    sweep_due(desk=rig.desk, waiting=nobody, send=send)
    rig.work_until_idle()
    assert sweep_due(desk=rig.desk, waiting=nobody, send=send) == 0
    rig.desk.pass_time(hours=9)
    sweep_due(desk=rig.desk, waiting=nobody, send=send)
    rig.desk.release(1)
    sweep_due(desk=rig.desk, waiting=nobody, send=send)
    assert sent == [(7, Lane.PLANNING), (7, Lane.REFRESH), (7, Lane.EXECUTION)]


class SpeechlessDesk(DeskTwin):
    """A record with a case that the code cannot describe."""

    def situation(self, *, case_id: int) -> Situation:
        """See `Desk.situation`."""
        raise KeyError("retired_action")


def test_a_case_that_cannot_be_described_keeps_no_other_from_being_found() -> None:
    sent: list[int] = []

    def send(case_id: int, _: Lane) -> None:
        sent.append(case_id)

    assert sweep_due(desk=SpeechlessDesk(), waiting=nobody, send=send) == 1
    assert sent == [7]


def test_b12_a_lane_that_nobody_empties_gets_no_more_messages_and_the_others_do() -> None:
    rig = Rig()
    sent: list[Lane] = []

    def waiting(lane: Lane) -> int:
        return MOST_WAITING if lane is Lane.PLANNING else MOST_WAITING - 1

    def send(_: int, lane: Lane) -> None:
        sent.append(lane)

    assert sweep_due(desk=rig.desk, waiting=waiting, send=send) == 0
    rig.work_until_idle()
    rig.desk.release(1)
    sweep_due(desk=rig.desk, waiting=waiting, send=send)
    assert sent == [Lane.EXECUTION]


def test_p01_a_nudge_too_many_does_nothing() -> None:
    rig = Rig()
    rig.work_until_idle()
    before = list(rig.desk.events)
    for _ in range(3):
        rig.visit()
    assert rig.desk.events == before


def test_a_message_reaches_the_queue_of_its_lane_and_no_other() -> None:
    queues = {queue.name: queue for queue in app.conf.task_queues}
    assert set(queues) == {SWEEP_QUEUE, *(lane.value for lane in Lane)}
    ways = {(queue.exchange.name, queue.routing_key) for queue in queues.values()}
    assert len(ways) == len(queues)


def test_time_limits_end_what_hangs_before_its_lease_does() -> None:
    assert timedelta(seconds=app.conf.task_time_limit) < LONGEST_VISIT + LEASE
    assert app.conf.task_soft_time_limit < app.conf.task_time_limit
    visibility = app.conf.broker_transport_options["visibility_timeout"]
    assert visibility > app.conf.task_time_limit


@pytest.mark.parametrize("missing", ["TRANSPORT_URL", "TRANSPORT_TOKEN", "DATABASE_URL"])
def test_a_worker_without_an_address_says_which(missing: str) -> None:
    given = {
        "TRANSPORT_URL": "http://127.0.0.1:1",
        "TRANSPORT_TOKEN": "x",
        "DATABASE_URL": "host=127.0.0.1",
    }
    del given[missing]
    with pytest.raises(NotConfigured, match=f"Set {missing}"):
        assemble(given)


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "16", "nan", "inf"])
def test_a_timeout_that_could_outlast_a_lease_is_refused(seconds: str) -> None:
    with pytest.raises(NotConfigured, match="at most 15"):
        assemble(
            {
                "TRANSPORT_URL": "http://127.0.0.1:1",
                "TRANSPORT_TOKEN": "x",
                "TRANSPORT_TIMEOUT": seconds,
            }
        )

"""A10: a call that takes very long is not taken for a dead worker's."""

import time
from datetime import timedelta

import pytest

from agent import heartbeat
from agent.desk import RecordDesk
from agent.planner.rules import RulePlanner
from agent.runner import Runner, Visit
from cases.actions import decisions
from cases.clock import business_now
from cases.models import Attempt, Case, Run
from tests.agent.rig import MemoryCheckpoints
from tests.agent.world import World
from tests.cases.builders import EVENING, Cast, an_answer, an_open_case, at_business_time

CALL = timedelta(seconds=200)
A_WHILE = timedelta(seconds=10)
BEATS_PER_LEASE = 300


def a_worker(name: str, world: World) -> Runner:
    """A worker process with checkpoints of its own."""
    return Runner(
        desk=RecordDesk(agent_name="exception-bot", agent_version="1.0"),
        source=world,
        planner=RulePlanner(),
        checkpoints=MemoryCheckpoints(),
        worker=name,
    )


def wait_for_a_beat(case: Case) -> None:
    """Until the claim was prolonged after the clock had moved."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        lease_until = Run.objects.get(case=case).lease_until
        if lease_until is not None and lease_until > business_now() + A_WHILE:
            return
        time.sleep(0.01)


def test_a10_while_a_call_takes_200_seconds_no_second_attempt_is_started(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "BEATS_PER_LEASE", BEATS_PER_LEASE)
    at_business_time(EVENING)
    case, world = an_open_case(cast), World()
    assert a_worker("first", world).advance(case_id=case.pk) is Visit.PAUSED
    decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())
    second = a_worker("second", world)
    others: list[Visit] = []

    def takes_long() -> None:
        world.on_call = lambda: None
        for _ in range(CALL // A_WHILE):
            at_business_time(business_now() + A_WHILE)
            wait_for_a_beat(case)
            others.append(second.advance(case_id=case.pk))

    world.on_call = takes_long
    a_worker("first", world).advance(case_id=case.pk)
    assert others == [Visit.NOT_CLAIMED] * 20
    assert Attempt.objects.get(effect__reference__endswith="-1").worker == "first"
    assert len(world.ledger) == Attempt.objects.count()

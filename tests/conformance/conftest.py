"""Fixtures of conformance tests: one bench per test, with the parts of the crash tests."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pytest_django import Settings

from agent.checkpoints import PostgresCheckpoints
from tests.cases.builders import a_cast
from tests.conformance import lives, peer_bench
from tests.conformance.bench import Bench
from tests.conformance.peer_bench import PeerBench
from tests.conformance.peer_desk import peer_saver, set_up
from tests.crashes.fixtures import database_of_this_worker, worker_environment
from tests.crashes.nursery import Nursery
from tests.simulator import Simulator
from tools.processes import ProcessGroup
from tools.stories.house import House


@pytest.fixture
def bench(
    transactional_db: None,
    settings: Settings,
    simulator: Simulator,
    nursery: Nursery,
    tmp_path: Path,
) -> Iterator[Bench]:
    """The desk of many runs."""
    settings.MOVABLE_CLOCK = True
    checkpoints = PostgresCheckpoints(address=database_of_this_worker())
    checkpoints.open()
    with (
        closing(checkpoints),
        ProcessGroup(purpose="test", logs=tmp_path / "log") as processes,
    ):
        yield Bench(
            house=House(processes=processes, environment=worker_environment(simulator)),
            nursery=nursery,
            control=simulator.control,
            cast=a_cast(),
            planner_log=tmp_path / "plans",
            simulator=simulator,
            database=database_of_this_worker(),
            checkpoints=checkpoints,
            folder=tmp_path / "notes",
        )


@pytest.fixture
def peer(bench: Bench) -> Iterator[PeerBench]:
    """The peer, on the same bench."""
    set_up(bench.database)
    with peer_saver(bench.database) as saver:
        yield PeerBench(bench=bench, saver=saver)


@pytest.fixture(scope="session")
def traced() -> dict[str, list[str]]:
    """Boundaries that were recorded in this test process."""
    return {}


@pytest.fixture
def boundaries(bench: Bench, traced: dict[str, list[str]]) -> list[str]:
    """The names of all boundaries of an undisturbed life, in order."""
    if "ours" not in traced:
        traced["ours"] = lives.boundaries_of_a_life(bench)
    return traced["ours"]


@pytest.fixture
def boundaries_of_the_peer(peer: PeerBench, traced: dict[str, list[str]]) -> list[str]:
    """The same of the peer."""
    if "peer" not in traced:
        traced["peer"] = peer_bench.boundaries_of_a_life(peer)
    return traced["peer"]

"""Fixtures of crash and conformance tests: real workers on this test process's own database and
broker. A plugin rather than a conftest, because two folders use one nursery.
"""

import os
import sys
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
import redis
from django.conf import settings as django_settings
from django.db import connection
from psycopg.conninfo import make_conninfo
from pytest_django import Settings

from tests.cases.builders import a_cast
from tests.crashes.night_desk import NightDesk
from tests.crashes.nursery import Nursery, connect
from tests.simulator import Simulator
from tools.ports import free_port
from tools.processes import ProcessGroup
from tools.stories.house import House


def broker_of_this_worker() -> str:
    """The broker's database for this test process: gw0 has 1, gw1 has 2, and so on."""
    address = os.environ["BROKER_URL"].rsplit("/", 1)[0]
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    return f"{address}/{int(worker.removeprefix('gw')) + 1}"


def database_of_this_worker() -> str:
    """The address of the test database, for other processes."""
    name = str(connection.settings_dict["NAME"])
    return make_conninfo(os.environ["DATABASE_URL"], dbname=name)


def worker_environment(simulator: Simulator) -> dict[str, str]:
    """What agent processes of this test process need."""
    return {
        **simulator.environment(),
        "DATABASE_URL": database_of_this_worker(),
        "BROKER_URL": broker_of_this_worker(),
        "WATCHBILL_SECRET_KEY": django_settings.SECRET_KEY,
        "TRANSPORT_TIMEOUT": "2",
    }


@pytest.fixture(scope="session")
def beat(
    django_db_setup: None, simulator: Simulator, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """One beat for the whole session: it holds nothing, it only asks every second what is due."""
    logs = tmp_path_factory.mktemp("beat")
    with ProcessGroup(purpose="test", logs=logs) as processes:
        House(processes=processes, environment=worker_environment(simulator)).start_beat()
        yield


@pytest.fixture(scope="session")
def nursery_port(
    django_db_setup: None, simulator: Simulator, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[int]:
    """Where this test process's nursery listens: workers for its own database and broker."""
    port = free_port()
    with ProcessGroup(purpose="test", logs=tmp_path_factory.mktemp("nursery")) as processes:
        processes.start(
            "nursery",
            argv=[sys.executable, "-m", "tests.crashes.nursery_process", str(port)],
            env={**worker_environment(simulator), "DJANGO_SETTINGS_MODULE": "cases.settings"},
        )
        yield port


@pytest.fixture(scope="session")
def nursery_connection(nursery_port: int) -> Iterator[Connection]:
    """The one connection to it."""
    with connect(nursery_port) as connection:
        yield connection


@pytest.fixture
def nursery(nursery_connection: Connection, tmp_path: Path) -> Iterator[Nursery]:
    """The workers of one test; all of them are dead when it ends."""
    workers = Nursery(connection=nursery_connection, logs=tmp_path)
    yield workers
    workers.kill_all()


@pytest.fixture
def night(
    transactional_db: None,
    settings: Settings,
    simulator: Simulator,
    beat: None,
    nursery: Nursery,
    tmp_path: Path,
) -> Iterator[NightDesk]:
    """The desk at 17:00 with S-318 open and a beat; no worker yet. Workers end with the test."""
    settings.MOVABLE_CLOCK = True
    with redis.Redis.from_url(broker_of_this_worker()) as client:
        client.flushdb()
    with ProcessGroup(purpose="test", logs=tmp_path / "log") as processes:
        desk = NightDesk(
            house=House(processes=processes, environment=worker_environment(simulator)),
            nursery=nursery,
            control=simulator.control,
            cast=a_cast(),
            planner_log=tmp_path / "plans",
        )
        desk.open_case()
        yield desk

"""P1, P4, P30: a broker that loses everything, two beats, a database that ends sessions or dies."""

import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from django.db import connection

from tests.conformance import broker
from tests.conformance.bench import Bench, wait_for
from tests.conformance.table import Form, Tally
from tools.postgres import PostgresServer
from tools.processes import ProcessGroup
from tools.stories.house import House

pytestmark = pytest.mark.processes
DONE = "waiting_for_acceptance"
EMPTIED = "broker emptied again and again"
TWO_BEATS = "two beats"
SESSIONS = "all database sessions terminated"
RESTART = "PostgreSQL killed and started again"
CRASHES = 3
RESTART_PATIENCE_SECONDS = 120.0


def life_by_broker(bench: Bench, disturb: Callable[[], None]) -> None:
    """From opened to done by two worker processes, while `disturb` happens ever again."""
    broker.empty()
    bench.fresh()
    broker.start_workers(bench.nursery, "first", "second")

    def stands(stage: str) -> bool:
        disturb()
        return bench.case.stage == stage

    wait_for(partial(stands, "waiting_for_review"), "proposal 1 is ready", patience=60)
    bench.release(1)
    wait_for(partial(stands, DONE), "the release is carried out", patience=60)


def every(seconds: float, deed: Callable[[], None]) -> Callable[[], None]:
    """Does it when asked, but not more often than that."""
    last = [time.monotonic()]

    def now_and_then() -> None:
        if time.monotonic() - last[0] > seconds:
            last[0] = time.monotonic()
            deed()

    return now_and_then


def nothing() -> None:
    """Disturb nobody."""


def end_sessions(bench: Bench) -> None:
    """End every session on this database but ours; time passes until the lost leases are over."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    time.sleep(0.2)
    bench.let_lease_run_out()


def few(times: int, deed: Callable[[], None]) -> Callable[[], None]:
    """Does it that often, and then no more."""
    left = [times]

    def while_any_left() -> None:
        if left[0]:
            left[0] -= 1
            deed()

    return while_any_left


def test_p30_an_emptied_broker_loses_nothing(
    bench: Bench, beat: None, tally: Tally, form: Form
) -> None:
    """Whatever was in it is asked from the record again."""
    for _ in form.of(full=8):
        disturb = every(0.3, broker.empty)
        tally.watchbill(EMPTIED, bench.judged(partial(life_by_broker, bench, disturb)))


@pytest.mark.long_conformance
def test_p30_two_beats_nudge_and_nothing_happens_twice(
    bench: Bench, beat: None, tally: Tally, form: Form
) -> None:
    """Nudges are only nudges."""
    bench.house.start_beat("second-beat")
    for _ in form.of(full=8):
        tally.watchbill(TWO_BEATS, bench.judged(partial(life_by_broker, bench, nothing)))


@pytest.mark.long_conformance
def test_p01_when_the_database_ends_all_sessions_the_work_goes_on(
    bench: Bench, beat: None, tally: Tally, form: Form
) -> None:
    """Connections of the record and of the checkpointer are made anew."""
    for _ in form.of(full=8):
        disturb = few(4, every(random.uniform(0.1, 0.8), partial(end_sessions, bench)))
        tally.watchbill(SESSIONS, bench.judged(partial(life_by_broker, bench, disturb)))


@contextmanager
def own_cluster(bench: Bench, folder: Path) -> Iterator[tuple[PostgresServer, House, ProcessGroup]]:
    """A PostgreSQL that may be killed, with Watchbill's tables, a worker and a beat."""
    folder.mkdir()
    with ProcessGroup(purpose="test", logs=folder / "log") as processes:
        server = PostgresServer(folder=folder / "postgres", processes=processes)
        server.start()
        try:
            address = server.ensure_database("watchbill")
            environment = {
                **bench.house.environment,
                "DATABASE_URL": address,
                "WATCHBILL_MOVABLE_CLOCK": "1",
            }
            migrate = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
            processes.start("migrate", argv=migrate, env=environment)
            assert processes.wait("migrate", timeout=120) == 0
            house = House(processes=processes, environment=environment)
            house.start_worker()
            house.start_beat()
            yield server, house, processes
        finally:
            processes.stop_all()
            server.remove()


def life_on_a_dying_database(
    bench: Bench, server: PostgresServer, house: House, processes: ProcessGroup, prepared: Path
) -> None:
    """The database is killed three times at any moment and started again."""
    bench.open_world()
    story = [sys.executable, "-m", "tests.conformance.restart_story"]
    environment = {**house.environment, "PREPARED": str(prepared)}
    processes.start(prepared.name, argv=story, env=environment)
    wait_for(prepared.exists, "the story is prepared")
    for _ in range(CRASHES):
        time.sleep(random.uniform(0.2, 2.0))
        server.crash()
        time.sleep(random.uniform(0.1, 0.5))
        server.start()
    wait_for(
        lambda: not processes.is_running(prepared.name),
        "the case is closed",
        patience=RESTART_PATIENCE_SECONDS,
    )


@pytest.mark.long_conformance
def test_p01_a_database_that_is_killed_and_started_again(
    bench: Bench, tally: Tally, form: Form, tmp_path: Path
) -> None:
    """A cluster of its own; nobody moves a clock, so lost leases run out by themselves."""
    with own_cluster(bench, tmp_path / "own") as (server, house, processes):
        for trial in form.of(full=4):
            prepared = tmp_path / f"prepared-{trial}"
            run = partial(life_on_a_dying_database, bench, server, house, processes, prepared)
            tally.watchbill(RESTART, bench.judged(run))

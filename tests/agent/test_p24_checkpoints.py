"""P1, P2, P5, P24: checkpoints in PostgreSQL: strict, pruned, replaceable, and never the truth."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

import psycopg
import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from agent.checkpoints import SCHEMA, PostgresCheckpoints, strict_serializer
from agent.runner import Visit, thread_of
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import Grant
from tests.agent.rig import Rig
from tests.agent.twin import DeskTwin
from tests.agent.world import OAKLINE, TWO, ProcessDied

TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")


@dataclass
class Marker:
    """A harmless stand-in for code that a tampered checkpoint names."""

    made: ClassVar[int] = 0
    name: str = "x"

    def __post_init__(self) -> None:
        """Note that the code was run."""
        type(self).made += 1


def rows(address: str) -> int:
    """How many rows all checkpoint tables hold."""
    with psycopg.connect(address) as connection:
        counts = [
            connection.execute(f"SELECT count(*) FROM {SCHEMA}.{table}").fetchone()
            for table in TABLES
        ]
    return sum(count[0] for count in counts if count is not None)


def run_sql(address: str, statement: str, *values: object) -> None:
    """Change the tables behind the saver's back."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(statement, values)


@contextmanager
def another_process(address: str) -> Iterator[PostgresCheckpoints]:
    """Checkpoints opened anew, as by a worker started later."""
    opened = PostgresCheckpoints(address=address)
    opened.open()
    try:
        yield opened
    finally:
        opened.close()


def test_p01_a_case_goes_on_in_a_process_that_shares_nothing_but_the_database(
    empty_database: str,
) -> None:
    with another_process(empty_database) as evening:
        rig = Rig(checkpoints=evening)
        rig.work_until_idle()
    rig.desk.pass_time(hours=15)
    rig.world.change(delivery_window=TWO, carrier_assignment=OAKLINE)
    with another_process(empty_database) as morning:
        rig.checkpoints = morning
        rig.work_until_idle()
        assert [p.state for p in rig.desk.proposals] == ["stale", "ready"]
        rig.desk.release(2)
        rig.work_until_idle()
    assert [entry["reference"] for entry in rig.world.ledger] == ["WB-7-2-2"]


def test_p02_after_a_kill_the_pending_step_alone_runs_again(
    checkpoints: PostgresCheckpoints,
) -> None:
    rig = Rig(checkpoints=checkpoints)
    rig.work_until_idle()
    rig.desk.release(1)
    rig.world.calls.clear()

    def died() -> None:
        raise ProcessDied

    rig.world.on_lease = died
    with pytest.raises(ProcessDied):
        rig.visit()
    rig.world.on_lease = lambda: None
    rig.desk.pass_time(seconds=61)
    rig.visit()
    assert rig.world.calls[:3] == ["read", "lease", "lease"], "no second reading before acting"


def test_a16_a_waiting_case_keeps_one_checkpoint_however_often_it_is_woken(
    checkpoints: PostgresCheckpoints, empty_database: str
) -> None:
    rig = Rig(checkpoints=checkpoints)
    rig.work_until_idle()
    for _ in range(5):
        rig.desk.wake()
        assert rig.visit() is Visit.PAUSED
    thread = {"configurable": {"thread_id": thread_of(7)}}
    assert len(list(checkpoints.saver.list(thread))) == 1  # type: ignore[arg-type]
    assert rows(empty_database) <= 10
    rig.desk.release(1)
    rig.work_until_idle()
    assert len(rig.world.ledger) == 2


def test_p33_a_closed_case_leaves_no_row(
    checkpoints: PostgresCheckpoints, empty_database: str
) -> None:
    rig = Rig(checkpoints=checkpoints)
    rig.work_until_idle()
    rig.desk.close()
    assert rig.visit() is Visit.CLOSED
    assert rows(empty_database) == 0


class ClosedAtTheLastMoment(DeskTwin):
    """Its owner closes the case between the last step of a visit and the end of the visit."""

    def let_go(self, *, grant: Grant) -> None:
        """See `Desk.let_go`."""
        super().let_go(grant=grant)
        self.close()
        self.due_at = None


def test_p33_a_case_closed_while_a_visit_is_ending_leaves_no_row_either(
    checkpoints: PostgresCheckpoints, empty_database: str
) -> None:
    Rig(desk=ClosedAtTheLastMoment(), checkpoints=checkpoints).visit()
    assert rows(empty_database) == 0


def test_checkpoints_lost_in_the_night_cost_no_second_plan(
    checkpoints: PostgresCheckpoints, empty_database: str
) -> None:
    rig = Rig(checkpoints=checkpoints)
    rig.work_until_idle()
    for table in TABLES:
        run_sql(empty_database, f"DELETE FROM {SCHEMA}.{table}")
    rig.desk.release(1)
    rig.work_until_idle()
    assert rig.planner.asked == 1
    assert len(rig.world.ledger) == 2


def test_a18_connections_that_died_in_the_night_are_replaced_without_an_error(
    checkpoints: PostgresCheckpoints, empty_database: str
) -> None:
    rig = Rig(checkpoints=checkpoints)
    rig.work_until_idle()
    run_sql(
        empty_database,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )
    rig.desk.release(1)
    assert rig.visit() is Visit.PAUSED
    assert len(rig.world.ledger) == 2


@pytest.mark.parametrize("channel", ["__interrupt__", "__resume__", "case_id"])
def test_a15_code_named_in_a_tampered_checkpoint_is_never_run_and_the_case_goes_on(
    checkpoints: PostgresCheckpoints, empty_database: str, channel: str
) -> None:
    rig = Rig(checkpoints=checkpoints)
    rig.work_until_idle()
    _, poison = JsonPlusSerializer().dumps_typed(Marker())
    run_sql(
        empty_database,
        f"UPDATE {SCHEMA}.checkpoint_writes SET type = 'msgpack', blob = %s, channel = %s",
        poison,
        channel,
    )
    before = Marker.made
    rig.desk.release(1)
    rig.work_until_idle()
    assert Marker.made == before
    assert rig.desk.stage is Stage.WAITING_FOR_ACCEPTANCE
    assert len(rig.world.ledger) == 2


def test_a15_the_serializer_is_strict_whatever_the_environment_says() -> None:
    kind, poison = JsonPlusSerializer().dumps_typed(Marker())
    before = Marker.made
    assert not isinstance(strict_serializer().loads_typed((kind, poison)), Marker)
    assert Marker.made == before
    assert strict_serializer().pickle_fallback is False


def test_a19_six_processes_may_start_on_an_empty_database_at_once(empty_database: str) -> None:
    def start(_: int) -> None:
        with another_process(empty_database):
            pass

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(start, range(6)))
    assert rows(empty_database) == 0


def test_checkpoints_live_in_a_schema_of_their_own(
    checkpoints: PostgresCheckpoints, empty_database: str
) -> None:
    Rig(checkpoints=checkpoints).work_until_idle()
    with psycopg.connect(empty_database) as connection:
        found = connection.execute(
            "SELECT DISTINCT table_schema FROM information_schema.tables"
            " WHERE table_name LIKE 'checkpoint%'"
        ).fetchall()
    assert found == [(SCHEMA,)]


def test_nothing_is_connected_before_the_process_that_uses_it_says_so() -> None:
    unopened = PostgresCheckpoints(address="host=127.0.0.1 port=1 dbname=nowhere")
    assert unopened.saver is not None
    unopened.close()

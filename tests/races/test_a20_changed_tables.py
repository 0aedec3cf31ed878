"""A20: tables change, and poolers stand in between, while workers keep their connections."""

from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection
from psycopg_pool import ConnectionPool

from agent.checkpoints import PostgresCheckpoints
from agent.desk import RecordDesk
from agent.planner.rules import RulePlanner
from agent.runner import Runner, Visit
from cases.actions import decisions
from cases.clock import business_now
from tests.agent.world import World
from tests.cases.builders import EVENING, Cast, an_answer, an_open_case, at_business_time
from tests.crashes.fixtures import database_of_this_worker

PREPARED = "SELECT statement FROM pg_prepared_statements"
CHANGED = ("cases_case", "cases_run", "checkpoints.checkpoints")


@pytest.fixture
def checkpoints(cast: Cast) -> Iterator[PostgresCheckpoints]:
    """Checkpoints in the database of the record, as in production."""
    opened = PostgresCheckpoints(address=database_of_this_worker())
    opened.open()
    yield opened
    opened.close()


@pytest.fixture
def migration(checkpoints: PostgresCheckpoints) -> Iterator[psycopg.Connection]:
    """A connection of the next release, which adds columns; they are gone after the test."""
    with psycopg.connect(database_of_this_worker(), autocommit=True) as other:
        yield other
        for table in CHANGED:
            other.execute(f"ALTER TABLE {table} DROP COLUMN IF EXISTS from_the_future")


def test_a20_a_migration_under_a_running_worker_does_not_disturb_it(
    cast: Cast, checkpoints: PostgresCheckpoints, migration: psycopg.Connection
) -> None:
    at_business_time(EVENING)
    case, world = an_open_case(cast), World()
    worker = Runner(
        desk=RecordDesk(agent_name="exception-bot", agent_version="1.0"),
        source=world,
        planner=RulePlanner(),
        checkpoints=checkpoints,
        worker="test",
    )
    assert worker.advance(case_id=case.pk) is Visit.PAUSED
    decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())
    for table in CHANGED:
        migration.execute(f"ALTER TABLE {table} ADD COLUMN from_the_future text DEFAULT 'x'")
    assert worker.advance(case_id=case.pk) is Visit.PAUSED
    case.refresh_from_db()
    assert (case.stage, len(world.ledger)) == ("waiting_for_acceptance", 2)
    with connection.cursor() as cursor:
        cursor.execute(PREPARED)
        assert cursor.fetchall() == [], "what is prepared breaks behind a pooler"
    pool = checkpoints.saver.conn
    assert isinstance(pool, ConnectionPool)
    with pool.connection() as kept:
        assert kept.execute(PREPARED).fetchall() == []

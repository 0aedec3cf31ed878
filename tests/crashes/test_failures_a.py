"""Group A of docs/failures.md with real processes: connections that end, tables not there yet."""

import pytest
from django.db import connection

from cases.models import AuditEvent
from tests.crashes.night_desk import NightDesk

pytestmark = pytest.mark.processes

END_OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
TABLES = """
SELECT table_name FROM information_schema.tables
WHERE table_schema = 'checkpoints' ORDER BY table_name
"""


def ask(statement: str) -> list[object]:
    """The first column of what the database answers."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return [row[0] for row in cursor.fetchall()]


def test_a18_when_every_connection_was_ended_the_next_visit_succeeds_in_the_same_worker(
    night: NightDesk,
) -> None:
    night.start_worker("patient")
    night.wait_for_proposal(1)
    night.wait_until_let_go()
    assert ask(END_OTHERS) != [], "the worker keeps a connection while it waits"
    night.release(1)
    night.wait_for_stage("waiting_for_acceptance")
    assert night.our_effects() == ["booking", "message"]
    assert night.nursery.status("patient") is None
    assert not AuditEvent.objects.filter(event="case_blocked").exists()


def test_a19_four_workers_start_together_where_no_checkpoint_table_is(night: NightDesk) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA IF EXISTS checkpoints CASCADE")
    workers = [f"worker-{number}" for number in range(4)]
    for name in workers:
        night.nursery.start(name, options=[], env={"PROGRAM": "lone"})
    night.wait_for_proposal(1)
    night.release(1)
    night.wait_for_stage("waiting_for_acceptance")
    assert [night.nursery.status(name) for name in workers] == [None] * 4
    assert ask(TABLES) == [
        "checkpoint_blobs",
        "checkpoint_migrations",
        "checkpoint_writes",
        "checkpoints",
    ]
    assert night.our_effects() == ["booking", "message"]

"""Where the graph was: LangGraph's checkpoints, in a schema of their own in the record's database.

They are a memory, never the truth. A lost or unreadable one only means that the record is asked.
"""

import time
from typing import Protocol

import structlog
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from psycopg import Connection
from psycopg.errors import DeadlockDetected, SerializationFailure
from psycopg.rows import DictRow, dict_row
from psycopg_pool import ConnectionPool

SCHEMA = "checkpoints"
SET_UP_LOCK = 0x57_42_43_50  # one number for all processes of this database
SET_UP_PATIENCE_SECONDS = 60.0
# A late writer may leave rows in any one of the tables.
THREADS = """
SELECT thread_id FROM checkpoints UNION
SELECT thread_id FROM checkpoint_blobs UNION
SELECT thread_id FROM checkpoint_writes
"""

log = structlog.get_logger()


class Checkpoints(Protocol):
    """Keeps the position of each case's graph under a thread id."""

    @property
    def saver(self) -> BaseCheckpointSaver[str]:
        """What LangGraph writes to."""

    def keep_latest(self, thread_id: str) -> None:
        """Drop all but the newest checkpoint; the thread stays resumable."""

    def forget(self, *thread_ids: str) -> None:
        """Drop everything kept for the threads."""

    def threads(self) -> set[str]:
        """Every thread of which anything is kept, remnants included."""


def strict_serializer() -> JsonPlusSerializer:
    """A serializer that revives plain values only, whatever the environment says.

    Bytes in a checkpoint can name a class or function to call; here none is called.
    """
    return JsonPlusSerializer(
        pickle_fallback=False, allowed_json_modules=None, allowed_msgpack_modules=None
    )


class PostgresCheckpoints:
    """Checkpoints in PostgreSQL. Open it in the process that uses it, never before a fork.

    Connections are checked before use, since a case may wait longer than any connection lives;
    nothing is prepared on the server, so a pooler in between does no harm.
    """

    def __init__(self, *, address: str) -> None:
        self._pool: ConnectionPool[Connection[DictRow]] = ConnectionPool(
            address,
            connection_class=Connection[DictRow],
            kwargs={
                "autocommit": True,
                "row_factory": dict_row,
                "prepare_threshold": None,
                "options": f"-c search_path={SCHEMA}",
            },
            min_size=1,
            max_size=2,
            open=False,
            check=ConnectionPool.check_connection,
            name="checkpoints",
        )
        self._saver = PostgresSaver(self._pool, serde=strict_serializer())

    @property
    def saver(self) -> PostgresSaver:
        """See `Checkpoints.saver`."""
        return self._saver

    def open(self) -> None:
        """Connect, and make schema and tables once, however many processes start together."""
        self._pool.open(wait=True)
        with self._pool.connection() as connection:
            _lock_set_up(connection)
            try:
                connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
                PostgresSaver(connection).setup()
            finally:
                connection.execute("SELECT pg_advisory_unlock(%s)", (SET_UP_LOCK,))

    def close(self) -> None:
        """Give all connections back to the server."""
        self._pool.close()

    def keep_latest(self, thread_id: str) -> None:
        """See `Checkpoints.keep_latest`; when a late writer interferes, the next visit prunes."""
        try:
            self._saver.prune([thread_id])
        except (SerializationFailure, DeadlockDetected) as error:
            log.info("checkpoints_not_pruned", thread_id=thread_id, reason=str(error))

    def forget(self, *thread_ids: str) -> None:
        """See `Checkpoints.forget`."""
        self._saver.prune(thread_ids, strategy="delete")

    def threads(self) -> set[str]:
        """See `Checkpoints.threads`."""
        with self._pool.connection() as connection:
            return {row["thread_id"] for row in connection.execute(THREADS)}


def _lock_set_up(connection: Connection[DictRow]) -> None:
    """Take the set-up lock by asking again and again.

    Waiting inside a statement would hold a snapshot, and the set-up builds indexes concurrently,
    which waits for older snapshots: two processes would wait for each other.
    """
    deadline = time.monotonic() + SET_UP_PATIENCE_SECONDS
    while time.monotonic() < deadline:
        row = connection.execute(
            "SELECT pg_try_advisory_lock(%s) AS got", (SET_UP_LOCK,)
        ).fetchone()
        if row is not None and row["got"]:
            return
        time.sleep(0.1)
    raise TimeoutError(
        "Another process has been setting up the checkpoint tables for a minute. "
        "Look for a session that holds an advisory lock, end it, and start again."
    )

"""A database of its own for checkpoints, and the transport system in its S-318 world."""

import os
import secrets
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from agent.checkpoints import PostgresCheckpoints


@pytest.fixture
def empty_database() -> Iterator[str]:
    """The address of a database made for one test and dropped after it."""
    server = os.environ["DATABASE_URL"]
    name = f"checkpoints_test_{os.getpid()}_{secrets.token_hex(4)}"
    with psycopg.connect(server, autocommit=True, connect_timeout=5) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield make_conninfo(server, dbname=name)
        finally:
            connection.execute(
                sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
            )


@pytest.fixture
def checkpoints(empty_database: str) -> Iterator[PostgresCheckpoints]:
    """Real checkpoints in an empty database."""
    opened = PostgresCheckpoints(address=empty_database)
    opened.open()
    yield opened
    opened.close()

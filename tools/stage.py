"""A stage for a story: services, empty databases with all tables, and the environment."""

import os
import sys
from collections.abc import Mapping

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tools.environment import local_environment
from tools.oneline import OneLine
from tools.processes import ProcessGroup
from tools.run import wait_in_foreground
from tools.services import Addresses, configured, running_services

SWITCHES = {"WATCHBILL_DEMO": "1", "WATCHBILL_MOVABLE_CLOCK": "1"}
MIGRATIONS = (
    ("record", "cases.settings", ("manage.py", "migrate", "--verbosity=0")),
    ("simulator", "transport_sim.settings", ("-m", "transport_sim", "migrate")),
)


def empty_databases(addresses: Addresses, *, are_ours: bool) -> None:
    """Begin with empty databases: embedded ones are made anew, configured ones must be empty.

    Raises OneLine when a configured database has tables: a story never deletes anybody's work.
    """
    for address in (addresses.database_url, addresses.simulator_database_url):
        name = conninfo_to_dict(address).get("dbname")
        if not name:
            raise OneLine("A configured address names no database: end it with /NAME.")
        if are_ours:
            _make_anew(address, str(name))
        elif _has_tables(address):
            raise OneLine(
                f"The configured database {name} is not empty, and a story deletes nothing:"
                " drop and create it, or configure another."
            )


def _make_anew(address: str, name: str) -> None:
    identifier = sql.Identifier(name)
    with psycopg.connect(make_conninfo(address, dbname="postgres"), autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(identifier))
        server.execute(sql.SQL("CREATE DATABASE {}").format(identifier))


def _has_tables(address: str) -> bool:
    with psycopg.connect(address) as database:
        row = database.execute(
            "SELECT count(*) FROM pg_tables WHERE schemaname IN ('public', 'checkpoints')"
        ).fetchone()
    return row is not None and row[0] > 0


def migrate(processes: ProcessGroup, environment: Mapping[str, str]) -> None:
    """Make all tables of the record and of the simulator."""
    for name, settings, command in MIGRATIONS:
        processes.start(
            f"migrate-{name}",
            argv=[sys.executable, *command],
            env={**environment, "DJANGO_SETTINGS_MODULE": settings},
        )
        if processes.wait(f"migrate-{name}") != 0:
            raise OneLine(
                f"The tables of the {name} could not be made: see the log migrate-{name}."
            )


def play_on_stage(*, purpose: str, story: str) -> int:
    """Run the module `story` in the foreground on a stage of its own; return its exit status."""
    are_ours = configured(os.environ) is None
    with (
        running_services(purpose=purpose) as addresses,
        ProcessGroup(purpose=purpose) as processes,
    ):
        empty_databases(addresses, are_ours=are_ours)
        environment = {**local_environment(purpose=purpose, addresses=addresses), **SWITCHES}
        migrate(processes, environment)
        argv = [sys.executable, "-m", story]
        processes.start(story, argv=argv, env=environment, foreground=True)
        return wait_in_foreground(processes, story)

"""The transport simulator as a pytest fixture: a real process on a database of its own.

Everything goes over HTTP. Tests never import transport_sim, which has other Django settings.
"""

import os
import secrets
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tools.ports import free_port
from tools.processes import ProcessGroup
from tools.simulator_control import SimulatorControl


@dataclass(frozen=True, kw_only=True)
class Simulator:
    """A running transport system and the two credentials it knows."""

    url: str
    token: str
    control_token: str
    database_url: str
    control: SimulatorControl = field(repr=False)

    def environment(self) -> dict[str, str]:
        """What a process needs to know to work against this simulator."""
        return {
            "TRANSPORT_URL": self.url,
            "TRANSPORT_TOKEN": self.token,
            "SIMULATOR_CONTROL_TOKEN": self.control_token,
            "SIMULATOR_DATABASE_URL": self.database_url,
        }

    def client(self, *, timeout_seconds: float = 30.0) -> httpx.Client:
        """A client of /v1 with the agent's credential; close it after use."""
        return httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=timeout_seconds,
            trust_env=False,
        )


@pytest.fixture(scope="session")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulator]:
    """A simulator for this test process, on a database made for it and dropped at the end.

    It starts empty: call ``simulator.control.reset()`` at the start of a test.
    """
    server = os.environ.get("SIMULATOR_DATABASE_URL")
    if not server:
        pytest.fail("Set SIMULATOR_DATABASE_URL to a PostgreSQL server, or use `make test`.")
    name = f"transport_sim_test_{os.getpid()}_{secrets.token_hex(4)}"
    _administer(server, sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    try:
        address = make_conninfo(server, dbname=name)
        yield from _serve(database=address, logs=tmp_path_factory.mktemp("simulator"))
    finally:
        _administer(server, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _serve(*, database: str, logs: Path) -> Iterator[Simulator]:
    url = f"http://127.0.0.1:{free_port()}"
    control_token = secrets.token_hex(16)
    with (
        SimulatorControl(url=url, token=control_token) as control,
        ProcessGroup(purpose="test", logs=logs) as processes,
    ):
        simulator = Simulator(
            url=url,
            token=secrets.token_hex(16),
            control_token=control_token,
            database_url=database,
            control=control,
        )
        program = [sys.executable, "-W", "error", "-m", "transport_sim"]
        processes.start("migrate", argv=[*program, "migrate"], env=simulator.environment())
        if processes.wait("migrate", timeout=60) != 0:
            pytest.fail((logs / "migrate.log").read_text())
        processes.start(
            "transport_sim",
            argv=[*program, "serve", "--port", url.rpartition(":")[2]],
            env=simulator.environment(),
            ready=control.is_healthy,
        )
        yield simulator


def _administer(server: str, statement: sql.Composed) -> None:
    address = make_conninfo(server, dbname="postgres")
    with psycopg.connect(address, autocommit=True, connect_timeout=5) as connection:
        connection.execute(statement)

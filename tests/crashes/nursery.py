"""The tests' end of the nursery: start, stop and kill workers that are ready in a moment."""

import os
import signal
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Client, Connection
from pathlib import Path

AUTHKEY = b"watchbill nursery"
HOST = "127.0.0.1"
POLL_SECONDS = 0.02
GRACE_SECONDS = 30.0


@dataclass(kw_only=True)
class Nursery:
    """Named workers of one test; `logs` is where each writes."""

    connection: Connection
    logs: Path
    pids: dict[str, int] = field(default_factory=dict)

    def start(self, name: str, *, options: list[str], env: dict[str, str]) -> int:
        """Start a worker; return its process id."""
        request = {"do": "spawn", "options": options, "env": env}
        self.connection.send({**request, "log": str(self.logs / f"{name}.log")})
        pid: int = self.connection.recv()
        self.pids[name] = pid
        return pid

    def status(self, name: str) -> int | None:
        """The exit status of a worker (128 + signal), or None while it lives."""
        self.connection.send({"do": "status", "pid": self.pids[name]})
        status: int | None = self.connection.recv()
        return status

    def wait(self, name: str, *, timeout: float) -> int:
        """Wait for a worker to end; raises `TimeoutError`."""
        deadline = time.monotonic() + timeout
        while (status := self.status(name)) is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{name} has not ended after {timeout:.0f} s")
            time.sleep(POLL_SECONDS)
        return status

    def send(self, name: str, sig: signal.Signals) -> None:
        """Send a signal to a worker and all below it."""
        if self.status(name) is None:
            os.killpg(self.pids[name], sig)

    def stop(self, name: str) -> None:
        """Ask a worker to end and wait until it has."""
        if self.status(name) is None:
            os.kill(self.pids[name], signal.SIGTERM)
            self.wait(name, timeout=GRACE_SECONDS)

    def kill(self, name: str) -> None:
        """End a worker with SIGKILL, at once."""
        self.send(name, signal.SIGKILL)
        self.wait(name, timeout=GRACE_SECONDS)

    def kill_all(self) -> None:
        """End every worker that still lives."""
        for name in list(self.pids):
            self.send(name, signal.SIGCONT)
            self.kill(name)
        self.pids.clear()


def connect(port: int) -> Connection:
    """Reach a nursery that was just started; it needs a moment to import everything."""
    deadline = time.monotonic() + GRACE_SECONDS
    while True:
        try:
            return Client((HOST, port), authkey=AUTHKEY)
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(POLL_SECONDS)

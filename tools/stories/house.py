"""The parts of a running Watchbill, as processes to start, stop and kill."""

import sys
from collections.abc import Mapping, Sequence

from tools.ports import HOST, free_port
from tools.processes import ProcessGroup
from tools.simulator_control import SimulatorControl

# Workers do not greet each other: the record, not the broker, knows what is going on.
ALONE = ("--without-mingle", "--without-gossip")


class House:
    """The simulator, the pages and any number of workers, all with one environment.

    `environment` needs the addresses and secrets of `tools.environment`; without a TRANSPORT_URL in
    it, an address for the simulator is chosen here.
    """

    def __init__(self, *, processes: ProcessGroup, environment: Mapping[str, str]) -> None:
        self._processes = processes
        self._simulator_port = free_port()
        self._pages = ""
        self.environment = {
            "TRANSPORT_URL": f"http://{HOST}:{self._simulator_port}",
            **environment,
            "DJANGO_SETTINGS_MODULE": "cases.settings",
        }

    def control(self) -> SimulatorControl:
        """The director's client of the simulator; close it after use."""
        return SimulatorControl(
            url=self.environment["TRANSPORT_URL"],
            token=self.environment["SIMULATOR_CONTROL_TOKEN"],
        )

    def start_simulator(self) -> None:
        """Start the transport system on its own database; its tables must exist."""
        port = str(self._simulator_port)
        self._processes.start(
            "simulator",
            argv=[sys.executable, "-m", "transport_sim", "serve", "--port", port],
            env={**self.environment, "DJANGO_SETTINGS_MODULE": "transport_sim.settings"},
            ready=f"{self.environment['TRANSPORT_URL']}/sim/health",
        )

    def start_worker(
        self,
        name: str = "worker",
        *,
        app: str = "agent.celery",
        options: Sequence[str] = ("--concurrency=2",),
        env: Mapping[str, str] | None = None,
    ) -> int:
        """Start a worker process for all queues; return its process id."""
        return self._processes.start(
            name,
            argv=self._celery(app, "worker", *ALONE, f"-n{name}@%h", *options),
            env={**self.environment, **(env or {})},
        )

    def start_beat(self, name: str = "beat") -> None:
        """Start the process that asks every second what is due."""
        self._processes.start(name, argv=self._celery("agent.celery", "beat"), env=self.environment)

    def start_pages(self, *, port: int) -> str:
        """Start the web server; return its address."""
        address = f"http://{HOST}:{port}"
        self._processes.start(
            "pages",
            argv=[
                sys.executable,
                *("-m", "uvicorn", "cases.asgi:application"),
                *("--host", HOST, "--port", str(port), "--no-access-log"),
            ],
            env=self.environment,
            ready=f"{address}/",
        )
        self._pages = address
        return address

    def send_events(self, control: SimulatorControl) -> None:
        """Let the simulator tell the pages, if they run, of everything until its next reset."""
        if self._pages:
            secret = self.environment["TRANSPORT_WEBHOOK_SECRETS"].split()[0]
            control.subscribe(url=f"{self._pages}/hooks/transport/", secret=secret)

    def stop(self, *names: str) -> None:
        """Ask processes to end, and wait until they have."""
        for name in names:
            self._processes.stop(name)

    def kill(self, name: str) -> None:
        """End a process and all below it with SIGKILL."""
        self._processes.kill(name)

    def is_running(self, name: str) -> bool:
        """Whether the process of that name lives."""
        return self._processes.is_running(name)

    def wait(self, name: str, *, timeout: float) -> int:
        """Wait until a process ended by itself; return its exit status (128 + signal)."""
        return self._processes.wait(name, timeout=timeout)

    def _celery(self, app: str, command: str, *options: str) -> list[str]:
        base = [sys.executable, "-m", "celery", "-A", app, command]
        return [*base, *options, "--loglevel=WARNING"]

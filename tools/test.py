"""Run the tests: start the services, set the environment, hand all arguments to pytest."""

import os
import signal
import sys

from tools.environment import local_environment
from tools.processes import Ending, ProcessGroup
from tools.run import wait_in_foreground
from tools.services import running_services

MOST_WORKERS = 4
# pytest answers Ctrl-C by finishing its fixtures, which stop what the tests started.
INTERRUPT = Ending(sig=signal.SIGINT, grace_seconds=30.0)


def pytest_arguments(arguments: list[str]) -> list[str]:
    """All cores up to four, unless `-n` is given; tests of one group stay on one worker."""
    workers = str(min(os.cpu_count() or 1, MOST_WORKERS))
    spread = [] if any(part.startswith("-n") for part in arguments) else ["-n", workers]
    return [sys.executable, "-m", "pytest", *spread, "--dist", "loadgroup", *arguments]


def run(arguments: list[str]) -> int:
    """Run pytest with services of its own; return its exit status."""
    with (
        running_services(purpose="test") as addresses,
        ProcessGroup(purpose="test") as processes,
    ):
        environment = {
            **local_environment(purpose="test", addresses=addresses),
            "WATCHBILL_MOVABLE_CLOCK": "1",
        }
        processes.start(
            "pytest",
            argv=pytest_arguments(arguments),
            env=environment,
            foreground=True,
            ending=INTERRUPT,
        )
        return wait_in_foreground(processes, "pytest")


if __name__ == "__main__":
    try:
        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)

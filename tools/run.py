"""Run any command with the local services: `python -m tools.run demo -- python manage.py shell`.

Joins the services of a running demo; otherwise starts them and stops them at the end.
"""

import argparse
import signal
import sys
from contextlib import suppress

from tools.environment import local_environment
from tools.processes import ProcessGroup
from tools.services import joined_services


def wait_in_foreground(processes: ProcessGroup, name: str) -> int:
    """Wait for a foreground program, which gets Ctrl-C from the terminal by itself."""
    if sys.stdin is not None and sys.stdin.isatty():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return processes.wait(name)
    try:
        return processes.wait(name)
    except KeyboardInterrupt:
        with suppress(KeyboardInterrupt):
            processes.stop(name, sig=signal.SIGINT)
        raise


def run_command(*, purpose: str, command: list[str]) -> int:
    """Run a command in the foreground with addresses and secrets; return its exit status."""
    with (
        joined_services(purpose=purpose) as addresses,
        ProcessGroup(purpose=purpose) as processes,
    ):
        environment = local_environment(purpose=purpose, addresses=addresses)
        processes.start("command", argv=command, env=environment, foreground=True)
        return wait_in_foreground(processes, "command")


def main() -> int:
    """Read `PURPOSE -- command …` and run it."""
    parser = argparse.ArgumentParser(prog="python -m tools.run", description=__doc__)
    parser.add_argument("purpose", help="whose services: demo, test or a name of your own")
    parser.add_argument("command", nargs="+", help="after --: the command and its arguments")
    options = parser.parse_args()
    return run_command(purpose=options.purpose, command=options.command)


if __name__ == "__main__":
    sys.exit(main())

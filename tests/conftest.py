"""What every test shares: no way out of this machine."""

import ipaddress
import os
import socket
from typing import Any

import pytest

pytest_plugins = ("tests.simulator", "tests.crashes.fixtures", "tests.conformance.table")


class NetworkBlockedError(OSError):
    """A test tried to leave this machine."""


def is_local(address: Any) -> bool:
    """Whether a socket address stays here: a Unix socket, or a loopback number or name."""
    if not isinstance(address, tuple):
        return True
    host = str(address[0])
    if host in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def refuse(address: Any) -> None:
    """Raise for an address elsewhere."""
    if not is_local(address):
        raise NetworkBlockedError(f"tests reach loopback only, not {address[0]}:{address[1]}")


def block_network() -> None:
    """Guard connecting and looking names up, in this process and for its whole life.

    At import rather than in a fixture: nothing that runs earlier or later gets around it.
    """
    connect, connect_ex, look_up = (
        socket.socket.connect,
        socket.socket.connect_ex,
        socket.getaddrinfo,
    )

    def guarded_connect(self: socket.socket, address: Any, /) -> None:
        refuse(address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any, /) -> int:
        refuse(address)
        return connect_ex(self, address)

    def guarded_look_up(host: Any, port: Any, *rest: Any, **named: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        refuse((name or "", port))
        return look_up(host, port, *rest, **named)

    # Assigned by name: the guard stands in for methods whose signatures the types fix.
    setattr(socket.socket, "connect", guarded_connect)  # noqa: B010
    setattr(socket.socket, "connect_ex", guarded_connect_ex)  # noqa: B010
    setattr(socket, "getaddrinfo", guarded_look_up)  # noqa: B010


def pytest_configure() -> None:
    """Tell how to start, when started without a database."""
    if not os.environ.get("DATABASE_URL"):
        raise pytest.UsageError(
            'the tests need services: run `make test ARGS="tests/…"`,'
            " or `python -m tools.run NAME -- pytest tests/…`"
        )


block_network()

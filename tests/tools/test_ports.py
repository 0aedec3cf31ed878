"""Ports: the usual one, the next one, or the one that was asked for."""

import socket

import pytest

from tools.oneline import OneLine
from tools.ports import choose_port, free_port, is_free


def test_the_usual_port_is_used_without_a_word() -> None:
    port = free_port()
    assert choose_port(preferred=port, environment={}) == (port, None)


def test_a_busy_usual_port_gives_the_next_free_one_and_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        busy = server.getsockname()[1]
        port, notice = choose_port(preferred=busy, environment={})
    assert port > busy
    assert notice == f"Port {busy} is busy, using {port}."


def test_a_busy_port_that_was_asked_for_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        busy = server.getsockname()[1]
        assert not is_free(busy)
        with pytest.raises(OneLine, match=f"Port {busy} is busy: .* set PORT"):
            choose_port(environment={"PORT": str(busy)})


@pytest.mark.parametrize("wanted", ["http", "0", "65536", "-1"])
def test_a_port_that_is_none_is_one_line(wanted: str) -> None:
    with pytest.raises(OneLine, match=f"PORT={wanted} is not a port"):
        choose_port(environment={"PORT": wanted})

"""Tests stay on this machine."""

import socket
import urllib.request

import pytest

# An address set aside for documentation: nobody is there, even if the guard failed.
ELSEWHERE = "192.0.2.1"


def test_a_connection_to_another_machine_is_refused_before_it_is_tried() -> None:
    with (
        socket.socket() as client,
        pytest.raises(OSError, match=r"loopback only, not 192\.0\.2\.1"),
    ):
        client.connect((ELSEWHERE, 80))


def test_asking_whether_another_machine_answers_is_refused_too() -> None:
    with socket.socket() as client, pytest.raises(OSError, match="loopback only"):
        client.connect_ex((ELSEWHERE, 80))


def test_names_of_other_machines_are_not_looked_up() -> None:
    with pytest.raises(OSError, match="loopback only"):
        urllib.request.urlopen("http://watchbill.invalid/", timeout=1)


def test_loopback_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(("localhost", server.getsockname()[1]), timeout=2).close()

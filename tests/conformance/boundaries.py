"""Every place where a worker can stop, numbered as the worker comes to it.

Called in a worker's own process, before it makes its graph. A boundary lies before and after each
node, each call of the door to the record, each COMMIT, each HTTP exchange and each write of the
checkpointer. What happens at which number is given from outside, such as `17:kill` or `17:stop`.
"""

import os
import signal
import threading
from collections.abc import Callable, Mapping
from functools import wraps
from itertools import count
from pathlib import Path
from typing import Any

import httpx
from django.db.backends.base.base import BaseDatabaseWrapper
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph import StateGraph

from agent.desk import RecordDesk
from agent.refresh_desk import RecordRefresh

SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}
PASSED = "passed"
# These come by time, not by the worker's steps: numbered, they would make each count a matter of
# luck. Asking what is due has no boundary of its own: it ends where the claim begins.
HEARTBEAT = "heartbeat"
WHAT_IS_DUE = "due"
WRITES_OF_THE_CHECKPOINTER = ("put", "put_writes")


def number_all(folder: Path, *, deeds: str) -> None:
    """Number every boundary from now on; their names go to `folder/passed`, one a line.

    `deeds` are numbers from 1 with what happens there, separated by spaces.
    """
    _Numbering(folder / PASSED, _deeds_from(deeds)).begin()


def passed_in(folder: Path) -> list[str]:
    """The names of the boundaries that a worker passed, in order."""
    path = folder / PASSED
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def _deeds_from(text: str) -> Mapping[int, signal.Signals]:
    parts = (part.split(":") for part in text.split())
    return {int(number): SIGNALS[deed] for number, deed in parts}


class _Numbering:
    def __init__(self, log: Path, deeds: Mapping[int, signal.Signals]) -> None:
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._deeds = deeds
        self._numbers = count(1)

    def begin(self) -> None:
        """Wrap everything at which a worker can be stopped."""
        for door in (RecordDesk, RecordRefresh):
            for name in vars(door):
                if not name.startswith("_") and name != WHAT_IS_DUE:
                    self._wrap(door, name, f"record {name}")
        for name in WRITES_OF_THE_CHECKPOINTER:
            self._wrap(PostgresSaver, name, f"checkpoint {name}")
        self._wrap(BaseDatabaseWrapper, "commit", "commit")
        self._wrap(httpx.HTTPTransport, "handle_request", "exchange")
        self._wrap_nodes()

    def _wrap(self, owner: type, name: str, label: str) -> None:
        setattr(owner, name, self._between(getattr(owner, name), label))

    def _wrap_nodes(self) -> None:
        add_node = StateGraph.add_node

        def add_numbered(graph: Any, name: str, step: Callable[..., Any], **options: Any) -> Any:
            return add_node(graph, name, self._between(step, f"node {name}"), **options)

        setattr(StateGraph, "add_node", add_numbered)  # noqa: B010 (replaced on purpose)

    def _between(self, original: Callable[..., Any], label: str) -> Callable[..., Any]:
        @wraps(original)
        def numbered(*args: Any, **kwargs: Any) -> Any:
            self._pass(f"before {label}")
            result = original(*args, **kwargs)
            self._pass(f"after {label}")
            return result

        return numbered

    def _pass(self, name: str) -> None:
        if threading.current_thread().name == HEARTBEAT:
            return
        number = next(self._numbers)
        os.write(self._log, f"{name}\n".encode())
        if deed := self._deeds.get(number):
            os.kill(os.getpid(), deed)

"""Workers that start in a moment: this process imports everything, each worker is a fork of it.

What a worker is, is said in its environment: `PROGRAM` names one of PROGRAMS. Workers are processes
of their own, with a process group of their own; they die of real signals.
Run as `python -m tests.crashes.nursery_process PORT`; `tests.crashes.nursery` is the other end.
"""

import os
import sys
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, Listener
from typing import Any

from tests.conformance import lone_refresher, lone_worker, peer_worker
from tests.crashes.dying_worker import app, arrange
from tests.crashes.nursery import AUTHKEY, HOST


def serve(port: int) -> None:
    """Answer requests until the other end goes away."""
    statuses: dict[int, int] = {}
    with Listener((HOST, port), authkey=AUTHKEY) as listener, listener.accept() as connection:
        while True:
            try:
                request = connection.recv()
            except EOFError:
                return
            if request["do"] == "spawn":
                pid = spawn(request, listener, connection)
                statuses.pop(pid, None)  # numbers come again: that of a dead worker says nothing
                connection.send(pid)
            else:
                connection.send(status_of(request["pid"], statuses))


def status_of(pid: int, statuses: dict[int, int]) -> int | None:
    """The exit status of a child (128 + signal), or None while it lives."""
    if pid not in statuses:
        found, status = os.waitpid(pid, os.WNOHANG)
        if not found:
            return None
        code = os.waitstatus_to_exitcode(status)
        statuses[pid] = code if code >= 0 else 128 - code
    return statuses[pid]


def spawn(request: dict[str, Any], listener: Listener, connection: Connection) -> int:
    """Fork a worker with its own environment, log and process group; returns its process id."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        os.setsid()
        listener.close()
        connection.close()
        log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for stream in (1, 2):
            os.dup2(log, stream)
        os.environ.update(request["env"])
        arrange(os.environ)
        PROGRAMS[os.environ.get("PROGRAM", "celery")](request["options"])
        status = 0
    except SystemExit as ending:
        status = ending.code if isinstance(ending.code, int) else 1
    finally:
        os._exit(status)


def celery(options: Sequence[str]) -> None:
    """Be a Celery worker."""
    app.worker_main(["worker", *options])


def beat(options: Sequence[str]) -> None:
    """Be a beat."""
    app.start(["beat", *options])


PROGRAMS: dict[str, Callable[[Sequence[str]], None]] = {
    "celery": celery,
    "beat": beat,
    "lone": lone_worker.work,
    "refresher": lone_refresher.work,
    "peer": peer_worker.work,
}


if __name__ == "__main__":
    app.loader.import_default_modules()
    serve(int(sys.argv[1]))

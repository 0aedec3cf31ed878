"""Start and stop programs so that none is ever left running.

A ProcessGroup starts each program under a keeper (tools.keeper) that ends the program's whole tree
when this process is gone, for whatever reason: normal end, Ctrl-C, SIGTERM, or kill -9.
Use it from the main thread.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from types import FrameType, TracebackType
from typing import Self

from tools import keeper
from tools.oneline import OneLine
from tools.paths import ROOT, purpose_folder

type Ready = str | Callable[[], bool]

POLL_SECONDS = 0.03
TAIL_LINES = 5
# Asked over loopback; a proxy set in the environment must not get in between.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a program is asked to end, and the seconds it gets before it is made to."""

    sig: signal.Signals = signal.SIGTERM
    grace_seconds: float = 10.0


GENTLY = Ending()


@dataclass(kw_only=True)
class Kept:
    """A program and its keeper."""

    pid: int
    keeper: subprocess.Popen[bytes]
    lifeline: int
    log: Path | None
    ending: Ending


def die_with_parent() -> None:
    """Get SIGTERM when the parent dies: Ctrl-C reaches everyone, `kill -9` of make does not."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(keeper.SET_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)
    else:
        Thread(target=watch_parent, args=[os.getppid()], daemon=True).start()


def watch_parent(parent: int) -> None:
    """Where the kernel does not tell: look once a second whether the parent is still the same."""
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)


def exit_on_signal(number: int, _frame: FrameType | None) -> None:
    """Turn a signal into an orderly end, so that context managers clean up."""
    raise SystemExit(128 + number)


def answers(ready: Ready) -> bool:
    """Whether a program is ready: its URL answers (below 500), or the callable says so."""
    if not isinstance(ready, str):
        return ready()
    try:
        with OPENER.open(ready, timeout=2):
            return True
    except urllib.error.HTTPError as answer:
        answer.close()
        return answer.code < 500
    except (OSError, ValueError):
        return False


def tail(log: Path | None) -> str:
    """The last lines of a log, as part of one line."""
    if log is None or not log.exists():
        return "no log"
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    place = log.relative_to(ROOT) if log.is_relative_to(ROOT) else log
    return f"{' | '.join(lines[-TAIL_LINES:]) or 'no output'} (log: {place})"


class ProcessGroup:
    """Named programs that end together with this process.

    Logs go to var/<purpose>/log/<name>.log, or to `logs` when given.
    """

    def __init__(self, *, purpose: str, logs: Path | None = None, held: Sequence[int] = ()) -> None:
        """`held`: descriptors (of a lock, say) that keepers keep open until their program ended."""
        self.logs = logs or purpose_folder(purpose) / "log"
        self.held = held
        self._kept: dict[str, Kept] = {}
        self._cleanup = ExitStack()

    def __enter__(self) -> Self:
        die_with_parent()
        for number in (signal.SIGTERM, signal.SIGHUP):
            self._cleanup.callback(signal.signal, number, signal.signal(number, exit_on_signal))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop_all()
        self._cleanup.close()

    def start(
        self,
        name: str,
        *,
        argv: Sequence[str | Path],
        env: Mapping[str, str] | None = None,
        ready: Ready | None = None,
        timeout: float = 30.0,
        folder: Path = ROOT,
        ending: Ending = GENTLY,
        user: tuple[int, int] | None = None,
        foreground: bool = False,
    ) -> int:
        """Start a program and wait until it is ready; return its process id.

        `env` is added to this process's environment. `ready` is a URL that must answer, or a
        callable that must become true, within `timeout` seconds. `user` is a uid and gid to run
        as. A `foreground` program keeps this terminal; others write to their log.
        Raises OneLine, with the last lines of the log, when it ends or is not ready in time.
        """
        if self.is_running(name):
            raise ValueError(f"{name} is running already; stop it first")
        log = None if foreground else self.logs / f"{name}.log"
        program = {
            "argv": [str(part) for part in argv],
            "folder": str(folder),
            "stop_signal": int(ending.sig),
            "grace_seconds": ending.grace_seconds,
            "user": user,
            "own_session": not foreground,
        }
        self._kept[name] = self._keep(program, env=env or {}, log=log, ending=ending)
        if ready is not None:
            self._await(name, ready=ready, timeout=timeout)
        return self.pid(name)

    def _keep(
        self,
        program: dict[str, object],
        *,
        env: Mapping[str, str],
        log: Path | None,
        ending: Ending,
    ) -> Kept:
        """Start the keeper with its ends of two pipes; the program's id comes back on one."""
        inner, lifeline = os.pipe()
        report, told = os.pipe()
        descriptors = {"lifeline": inner, "report": told, "held": list(self.held)}
        with ExitStack() as stack:
            for end in (inner, told):
                stack.callback(os.close, end)
            if log is not None:
                log.parent.mkdir(parents=True, exist_ok=True)
            output = stack.enter_context(log.open("ab")) if log else None
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", keeper.__file__, json.dumps(program | descriptors)],
                env={**os.environ, **env},
                stdin=subprocess.DEVNULL if log else None,
                stdout=output,
                stderr=output,
                pass_fds=[inner, told, *self.held],
                start_new_session=log is not None,
            )
        pid = int(os.read(report, 32) or b"0")
        os.close(report)
        if not pid:
            os.close(lifeline)
            raise OneLine(f"{program['argv']} could not be started: {tail(log)}")
        return Kept(pid=pid, keeper=process, lifeline=lifeline, log=log, ending=ending)

    def _await(self, name: str, *, ready: Ready, timeout: float) -> None:
        kept = self._kept[name]
        deadline = time.monotonic() + timeout
        while not answers(ready):
            status = kept.keeper.poll()
            if status is not None:
                raise OneLine(f"{name} ended at once (status {status}): {tail(kept.log)}")
            if time.monotonic() > deadline:
                self.kill(name)
                raise OneLine(f"{name} was not ready after {timeout:.0f} s: {tail(kept.log)}")
            time.sleep(POLL_SECONDS)

    def pid(self, name: str) -> int:
        """The process id of the program itself (not of its keeper)."""
        return self._kept[name].pid

    def is_running(self, name: str) -> bool:
        """Whether the program was started here and has not ended."""
        kept = self._kept.get(name)
        return kept is not None and kept.keeper.poll() is None

    def wait(self, name: str, *, timeout: float | None = None) -> int:
        """Wait for the program and all below it to end; return its exit status (128 + signal).

        Raises subprocess.TimeoutExpired after `timeout` seconds.
        """
        return self._kept[name].keeper.wait(timeout)

    def send(self, name: str, *, sig: signal.Signals) -> None:
        """Send a signal to the program and do not wait; SIGKILL goes to all below it too."""
        with suppress(BrokenPipeError):
            os.write(self._kept[name].lifeline, bytes([sig]))

    def stop(self, name: str, *, sig: signal.Signals | None = None) -> int:
        """Ask the program to end, insist after its grace period; return its exit status."""
        kept = self._kept[name]
        self.send(name, sig=sig or kept.ending.sig)
        return self._finish(kept)

    def kill(self, name: str) -> int:
        """End the program and everything below it with SIGKILL, at once; return its exit status."""
        self.send(name, sig=signal.SIGKILL)
        return self._finish(self._kept[name])

    def _finish(self, kept: Kept) -> int:
        """Wait for the end; past the grace period the closed lifeline makes the keeper insist."""
        try:
            return kept.keeper.wait(kept.ending.grace_seconds)
        except subprocess.TimeoutExpired:
            return self._insist(kept)
        finally:
            self._let_go(kept)

    def _insist(self, kept: Kept) -> int:
        with suppress(BrokenPipeError):
            os.write(kept.lifeline, bytes([signal.SIGKILL]))
        return kept.keeper.wait()

    def _let_go(self, kept: Kept) -> None:
        if kept.lifeline >= 0:
            os.close(kept.lifeline)
            kept.lifeline = -1

    def stop_all(self) -> None:
        """Stop every program, all at the same time."""
        running = [name for name in self._kept if self.is_running(name)]
        for name in running:
            self.send(name, sig=self._kept[name].ending.sig)
        for name in running:
            self._finish(self._kept[name])
        for kept in self._kept.values():
            self._let_go(kept)
        self._kept.clear()

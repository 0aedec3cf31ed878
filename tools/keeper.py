"""Keep one program: start it, pass signals on, and end its whole tree when it or we must go.

Run as a script by tools.processes, one keeper per program. A keeper cannot miss the death of the
process that asked for the program: that process holds the other end of a pipe (the lifeline), and
the kernel closes it however the process died. One byte on the lifeline is a signal to pass on; its
end means: stop the program, then go.

Standard library only and no site-packages, so that a keeper starts in milliseconds.
"""

import ctypes
import json
import os
import select
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SET_PARENT_DEATH_SIGNAL = 1
SET_CHILD_SUBREAPER = 36
POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Program:
    """What to run and how to end it; comes as JSON in the first argument."""

    argv: list[str]
    folder: str
    stop_signal: int
    grace_seconds: float
    user: tuple[int, int] | None
    own_session: bool
    lifeline: int
    report: int
    held: list[int]


def kernel_option(option: int, value: int) -> None:
    """Set a process option of Linux; elsewhere the lifeline alone has to do."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def start(program: Program) -> int:
    """Fork and run the program; return its process id."""
    keeper = os.getpid()
    child = os.fork()
    if child:
        return child
    try:
        if program.own_session:
            os.setsid()
        if program.user is not None:
            os.setgroups([])
            os.setgid(program.user[1])
            os.setuid(program.user[0])
        # After the change of user, which would clear it: nothing outlives a killed keeper.
        kernel_option(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != keeper:
            os._exit(1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.chdir(program.folder)
        os.execvp(program.argv[0], program.argv)
    except OSError as problem:
        print(f"{program.argv[0]} could not be started: {problem}", file=sys.stderr, flush=True)
    os._exit(127)


def children() -> list[int]:
    """Process ids whose parent is this keeper. As the subreaper it inherits every orphan below."""
    if sys.platform != "linux":
        return []
    mine, found = os.getpid(), []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name in parentheses may contain anything; the parent is the second field after it.
            parent = stat.read_text().rpartition(")")[2].split()[1]
        except (OSError, IndexError):
            continue
        if int(parent) == mine:
            found.append(int(stat.parent.name))
    return found


def send(target: int, number: int) -> None:
    """Send a signal to a process, or to its group when the target is negative; gone is fine."""
    try:
        os.kill(target, number)
    except (ProcessLookupError, PermissionError):
        return


class Keeper:
    """One program while it lives."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.status: int | None = None
        self.child = start(program)

    def reap(self) -> None:
        """Collect whatever ended, orphans included; remember the program's own status."""
        while True:
            try:
                child, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if child == 0:
                return
            if child == self.child:
                self.status = status

    def kill_tree(self) -> None:
        """End the program and everything below it, however often it forks meanwhile."""
        if self.program.own_session:
            send(-self.child, signal.SIGKILL)
        elif self.status is None:
            send(self.child, signal.SIGKILL)
        while True:
            self.reap()
            remaining = children()
            if not remaining and (self.status is not None or sys.platform == "linux"):
                return
            for child in remaining:
                send(child, signal.SIGKILL)
            time.sleep(POLL_SECONDS)

    def pass_on(self, number: int) -> None:
        """Pass a signal on; SIGKILL means the whole tree."""
        if number == signal.SIGKILL:
            self.kill_tree()
        elif self.status is None:
            send(self.child, number)

    def stop(self) -> None:
        """Ask the program to stop, and insist after the grace period."""
        self.pass_on(self.program.stop_signal)
        deadline = time.monotonic() + self.program.grace_seconds
        while self.status is None and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
            self.reap()

    def watch(self, ended: int) -> int:
        """Wait for the program's end or the lifeline's; return the exit status to report."""
        while self.status is None:
            readable, _, _ = select.select([self.program.lifeline, ended], [], [])
            if ended in readable:
                os.read(ended, 512)
            if self.program.lifeline in readable:
                command = os.read(self.program.lifeline, 1)
                if not command:
                    self.stop()
                    break
                self.pass_on(command[0])
            self.reap()
        self.kill_tree()
        code = os.waitstatus_to_exitcode(self.status or 0)
        return code if code >= 0 else 128 - code


def main() -> int:
    """Read the program from the command line, keep it, and exit as it did."""
    values: dict[str, Any] = json.loads(sys.argv[1])
    program = Program(**values)
    for descriptor in (program.lifeline, program.report, *program.held):
        os.set_inheritable(descriptor, False)
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    kernel_option(SET_CHILD_SUBREAPER, 1)
    keeper = Keeper(program)
    # A keeper that is told to go behaves as if its lifeline had ended.
    signal.signal(signal.SIGTERM, lambda *_: keeper.stop())
    os.write(program.report, f"{keeper.child}\n".encode())
    os.close(program.report)
    return keeper.watch(ended)


if __name__ == "__main__":
    sys.exit(main())

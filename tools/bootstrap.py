"""Make `.venv` from requirements.lock, with whatever `python3` this machine happens to have.

Runs before anything is installed, on any Python from 3.6 on: standard library, no newer syntax.
Run again, it does nothing unless the lock or the interpreter changed. Interrupted, it starts over.
Every failure is one line that says what to do, and a non-zero exit status.
"""

import argparse
import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
from typing import Callable, Iterator, List, Optional, Tuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if (
    ROOT not in sys.path
):  # started as a script, the folder of this file comes first, not the project
    sys.path.insert(0, ROOT)

from tools import browser, interpreters  # noqa: E402
from tools.oneline import OneLine, complain, last_line, say  # noqa: E402

VENV = os.path.join(ROOT, ".venv")
VENV_PYTHON = os.path.join(VENV, "bin", "python")
LOCK = os.path.join(ROOT, "requirements.lock")
LOG = os.path.join(ROOT, "var", "set-up.log")
NEEDED_MEGABYTES = 1500
NETWORK_WORDS = (
    "Temporary failure in name resolution",
    "Name or service not known",
    "Network is unreachable",
    "Connection refused",
    "Could not find a version",
    "No matching distribution",
    "Failed to fetch",
    "error sending request",
    "timed out",
)


def stamp_for(version: str) -> str:
    """What a finished environment is known by: the lock, the interpreter and where it lies."""
    with open(LOCK, "rb") as lock:
        digest = hashlib.sha256(lock.read()).hexdigest()
    return "{} python {} at {}\n".format(digest, version, ROOT)


def stamp_path() -> str:
    """Written last, so its absence tells of an environment that was never finished."""
    return os.path.join(VENV, "watchbill-stamp")


def is_ready() -> bool:
    """Say whether the environment is finished, current and still runs."""
    try:
        with open(stamp_path()) as stamp:
            recorded = stamp.read()
    except OSError:
        return False
    found = interpreters.probe(VENV_PYTHON)
    return found is not None and recorded == stamp_for(found.version)


def package_count() -> int:
    """How many packages requirements.lock pins."""
    with open(LOCK) as lock:
        return sum(1 for line in lock if line[:1].isalnum() and "==" in line)


def run_logged(
    command: List[str], on_line: Optional[Callable[[str], None]] = None
) -> Tuple[int, str]:
    """Run a command with its output in the log; return (exit status, output)."""
    lines = []  # type: List[str]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    try:
        with open(LOG, "a") as log:
            for line in process.stdout or ():
                log.write(line)
                lines.append(line)
                if on_line is not None:
                    on_line(line)
        return process.wait(), "".join(lines)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()


def explain(doing: str, output: str) -> OneLine:
    """Turn the output of a failed installer into the one line that helps."""
    if "No space left on device" in output:
        return disk_is_full()
    if "DO NOT MATCH THE HASHES" in output or "Hash mismatch" in output:
        return OneLine(
            "A downloaded package differs from requirements.lock: "
            "empty the package cache, check the package index you use, and try again."
        )
    if any(word in output for word in NETWORK_WORDS):
        return OneLine(
            "Packages could not be fetched: check the network (or the package index set in pip's "
            "configuration) and run the same command again. Details: var/set-up.log"
        )
    return OneLine("{} failed ({}). Details: var/set-up.log".format(doing, last_line(output)))


def disk_is_full() -> OneLine:
    """The one line for a disk without room."""
    return OneLine(
        "The disk that holds {} is full: free {} MB and run the same command again.".format(
            ROOT, NEEDED_MEGABYTES
        )
    )


def make_environment(python: interpreters.Interpreter, uv: Optional[str]) -> None:
    """Make an empty `.venv`; a half-made one is removed first."""
    shutil.rmtree(VENV, ignore_errors=True)
    if python.has_venv:
        command = [python.path, "-m", "venv", VENV]
    elif uv:
        command = [uv, "venv", "--seed", "--python", python.path, VENV]
    else:
        raise OneLine(interpreters.venv_missing(python))
    status, output = run_logged(command)
    if status:
        raise explain("Making .venv", output)


class Progress:
    """Counts what pip fetches, and says so now and then: a silent minute looks like a hang."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.seen = 0

    def __call__(self, line: str) -> None:
        if line.startswith("Collecting "):
            self.seen += 1
            if self.seen % 25 == 0:
                say("Setting up: 3/4 fetched {} of {} packages …".format(self.seen, self.total))
        elif line.startswith("Installing collected"):
            say("Setting up: 3/4 unpacking {} packages …".format(self.total))


def install_packages(uv: Optional[str]) -> None:
    """Install exactly what the lock pins, by uv where it is at hand, else by pip."""
    if uv:
        command = [uv, "pip", "sync", "--require-hashes", "--python", VENV_PYTHON, LOCK]
        status, output = run_logged(command)
        if status == 0:
            return
        if "No space left on device" in output:
            raise disk_is_full()
        # uv does not read pip's configuration, so a machine with its own index needs pip.
        say("Setting up: 3/4 uv could not install the packages, trying pip …")
    command = [VENV_PYTHON, "-m", "pip", "install", "--require-hashes", "--no-deps"]
    # What is never imported need not be compiled; the rest is, at its first import.
    command += ["--no-compile"]
    command += ["--disable-pip-version-check", "--no-input", "--progress-bar", "off", "-r", LOCK]
    status, output = run_logged(command, on_line=Progress(package_count()))
    if status:
        raise explain("Installing the packages", output)


def check_disk() -> None:
    """Refuse early when the environment would not fit."""
    if shutil.disk_usage(ROOT).free < NEEDED_MEGABYTES * 1000 * 1000:
        raise disk_is_full()


def set_up() -> None:
    """Bring `.venv` to what requirements.lock says."""
    check_disk()
    uv = shutil.which("uv")
    say("Setting up: 1/4 looking for Python 3.12 or newer …")
    python = interpreters.find(uv) or interpreters.fetch(ROOT, uv, run_logged)
    say("Setting up: 2/4 making .venv with Python {} …".format(python.version))
    make_environment(python, uv)
    say("Setting up: 3/4 installing {} packages …".format(package_count()))
    install_packages(uv)
    with open(stamp_path(), "w") as stamp:
        stamp.write(stamp_for(python.version))
    say("Setting up: 4/4 done.")


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Let one set-up work at a time: `make demo` and `make test` may start together."""
    os.makedirs(os.path.dirname(LOG), exist_ok=True)
    with open(os.path.join(ROOT, "var", "set-up.lock"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("Another set-up is running in this folder; waiting for it …")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def ensure(with_browser: bool) -> None:
    """Make sure of the environment, and of a browser where tests need one."""
    with only_one():
        if not is_ready():
            set_up()
        if with_browser:
            browser.ensure(run_logged)


def main(arguments: Optional[List[str]] = None) -> int:
    """Run the set-up from the command line; return the exit status."""
    parser = argparse.ArgumentParser(description="Make .venv from requirements.lock.")
    parser.add_argument("--browser", action="store_true", help="also make sure of Chromium")
    options = parser.parse_args(arguments)
    # An installer must not outlive us: a signal ends us in order, and with us what we started.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        ensure(options.browser)
    except KeyboardInterrupt:
        return complain(
            "Set-up interrupted. Run the same command again; it starts over cleanly.", 130
        )
    except PermissionError as problem:
        return complain(
            "{} belongs to another user: give it to this one or use a clone of your own.".format(
                problem.filename or ROOT
            ),
            1,
        )
    except OSError as problem:
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            return complain(str(disk_is_full()), 1)
        return complain("Set-up stopped: {}".format(problem), 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())

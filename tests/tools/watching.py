"""Start scripts as processes of their own, and see who is still running."""

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil

from tools.paths import ROOT


def wait_for(condition: Callable[[], object], *, seconds: float = 20.0) -> bool:
    """Wait until a condition holds; whether it did within the given seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.03)
    return True


def running_with(word: str) -> list[psutil.Process]:
    """Processes whose arguments hold a word that only one test uses."""
    return [
        process
        for process in psutil.process_iter(["cmdline", "status"])
        if process.info["status"] != psutil.STATUS_ZOMBIE
        and any(word in part for part in process.info["cmdline"] or [])
    ]


def start_script(
    text: str, *, folder: Path, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """Run a script as a process of its own, on the project's code, with its output in a pipe."""
    script = folder / "script.py"
    script.write_text(f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{text}")
    return subprocess.Popen(
        [sys.executable, str(script)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def first_line(process: subprocess.Popen[str]) -> str:
    """The next line a script prints; empty when it ends without one."""
    assert process.stdout is not None
    return process.stdout.readline().strip()

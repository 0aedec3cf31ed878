"""Find a Python that really runs, by trying. Runs on any Python from 3.6 on.

A name on PATH proves nothing: pyenv's shims answer to python3.13 and then fail, and Debian's
python3 may lack the venv module. So every candidate is asked for its version before it is believed.
"""

import glob
import os
import shutil
import subprocess
import sys
from typing import Callable, List, NamedTuple, Optional, Tuple

from tools.oneline import OneLine, last_line, say

OLDEST = (3, 12)
# The lock is tried on 3.13 and 3.12; newer ones come after, in case a wheel is missing there.
PREFERRED = ("3.13", "3.12", "3.14")
QUESTION = """
import sys
try:
    import ensurepip, venv
    word = "venv"
except ImportError:
    word = "bare"
import ssl
print("%d.%d.%d" % sys.version_info[:3], word, getattr(sys, "_base_executable", sys.executable))
"""
FOLDERS = ("/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", "/opt/python/bin")
PATTERNS = (
    "~/.local/share/uv/python/*/bin/python3",
    "~/Library/Application Support/uv/python/*/bin/python3",
    "/opt/homebrew/opt/python@3.*/bin/python3.*",
    "/usr/local/opt/python@3.*/bin/python3.*",
    "/Library/Frameworks/Python.framework/Versions/3.*/bin/python3",
)


class Interpreter(NamedTuple):
    """A Python that ran: where it is, its version, and whether it can make environments."""

    path: str
    version: str
    has_venv: bool


def probe(path: str) -> Optional[Interpreter]:
    """Ask one candidate; None when it does not run, hangs, or is too old."""
    try:
        answer = subprocess.run(
            [path, "-I", "-c", QUESTION],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            universal_newlines=True,
            timeout=20,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    words = answer.stdout.split(None, 2)
    if answer.returncode or len(words) != 3:
        return None
    if tuple(int(part) for part in words[0].split(".")[:2]) < OLDEST:
        return None
    return Interpreter(words[2].strip(), words[0], words[1] == "venv")


def candidates() -> List[str]:
    """Every path worth asking, in order of preference, each once."""
    found = []  # type: List[str]
    pyenv = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    for version in PREFERRED:
        name = "python" + version
        found += [os.path.join(folder, name) for folder in os.get_exec_path()]
        found += glob.glob(os.path.join(pyenv, "versions", version + "*", "bin", "python"))
        found += [os.path.join(folder, name) for folder in FOLDERS]
    for pattern in PATTERNS:
        found += glob.glob(os.path.expanduser(pattern))
    found += glob.glob(os.path.join(pyenv, "versions", "3.*", "bin", "python"))
    found += [os.path.join(folder, "python3") for folder in os.get_exec_path()]
    found.append(sys.executable)
    seen = []  # type: List[str]
    for path in found:
        if path not in seen and os.path.isfile(path):
            seen.append(path)
    return seen


def find(uv: Optional[str]) -> Optional[Interpreter]:
    """The best interpreter there is, or None. One without venv counts only if nothing else does."""
    fallback = None
    for path in candidates():
        answer = probe(path)
        if answer is None:
            continue
        if answer.has_venv or uv:
            return answer
        fallback = fallback or answer
    if fallback is not None:
        raise OneLine(venv_missing(fallback))
    return None


def venv_missing(python: Interpreter) -> str:
    """The one line for Debian's Python without its venv package."""
    short = ".".join(python.version.split(".")[:2])
    return (
        "{} has no venv module: install it (Debian: apt-get install python{}-venv) "
        "and run the same command again.".format(python.path, short)
    )


def nothing_found(reason: str) -> OneLine:
    """The one line for a machine without a Python that will do."""
    return OneLine(
        "No Python 3.12 or newer was found, and none could be fetched ({}): install one (Debian 13 "
        "or Ubuntu 24.04: apt-get install python3 python3-venv; macOS: brew install python@3.13; "
        "elsewhere: pyenv install 3.13) and run the same command again.".format(reason)
    )


def fetch(root: str, uv: Optional[str], run: Callable[[List[str]], Tuple[int, str]]) -> Interpreter:
    """Let uv bring a Python, bringing uv itself by pip where it is not at hand."""
    if uv is None:
        folder = os.path.join(root, "var", "uv")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade"]
        status, output = run([*command, "--target", folder, "uv"])
        uv = shutil.which("uv", path=os.path.join(folder, "bin"))
        if status or uv is None:
            raise nothing_found("uv is missing too: " + last_line(output))
    say("Setting up: 1/4 no Python 3.12 or newer here, fetching 3.13 with uv …")
    status, output = run([uv, "python", "install", "3.13"])
    if status == 0:
        status, output = run([uv, "python", "find", "--managed-python", "3.13"])
    answer = probe(last_line(output)) if status == 0 else None
    if answer is None:
        raise nothing_found(last_line(output))
    return answer

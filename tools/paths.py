"""Where things lie: the project, and everything it makes while running (`var/`, never tracked)."""

import re
from pathlib import Path

from tools.oneline import OneLine

ROOT = Path(__file__).resolve().parent.parent
VAR = ROOT / "var"
PURPOSE = re.compile(r"[a-z0-9][a-z0-9-]*")


def purpose_folder(purpose: str) -> Path:
    """The folder of one use (`demo`, `test`, `overnight`), made when missing.

    Raises OneLine when the name will not do for a folder, or var/ belongs to another user.
    """
    if not PURPOSE.fullmatch(purpose):
        raise OneLine(f"“{purpose}” will not do as a purpose: use lower-case letters, digits and -")
    folder = VAR / purpose
    try:
        (folder / "log").mkdir(parents=True, exist_ok=True)
    except PermissionError as problem:
        raise OneLine(
            f"{problem.filename} belongs to another user: give it to this one or use a new clone."
        ) from problem
    return folder

"""What the benchmark tells: at once on the screen, and afterwards as a table in var/bench.txt."""

import os
import platform
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from django.db import connection

from tools.paths import VAR

LABEL, COLUMN = 46, 9
GIGABYTE = 10**9


@dataclass(kw_only=True)
class Report:
    """Lines said so far."""

    lines: list[str] = field(default_factory=list)

    def say(self, sentence: str) -> None:
        """Tell the reader at once."""
        print(sentence, flush=True)
        self.lines.append(sentence)

    def table(self, rounds: int, rows: Iterable[tuple[str, Sequence[float]]]) -> None:
        """One column per round, and the median."""
        head = [*(f"round {number}" for number in range(1, rounds + 1)), "median"]
        self.say(f"{'':{LABEL}}" + "".join(f"{word:>{COLUMN}}" for word in head))
        for label, values in rows:
            shown = "".join(f"{_short(value):>{COLUMN}}" for value in (*values, median(values)))
            self.say(f"{label:{LABEL}}{shown}")

    def keep(self) -> Path:
        """Write all of it down; where to."""
        path = VAR / "bench.txt"
        path.write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        return path


def _short(value: float) -> str:
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 100 else f"{value:.0f}"


def machine() -> str:
    """What it was measured on."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / GIGABYTE
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        (server,) = cursor.fetchone()
    return (
        f"{os.cpu_count()} cores ({_processor()}), {memory:.0f} GB, "
        f"PostgreSQL {server.split()[0]}, Python {platform.python_version()}, "
        f"load before {os.getloadavg()[0]:.1f}"
    )


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    named = re.search(r"^model name\s*: (.+)$", facts.read_text() if facts.exists() else "", re.M)
    return named[1] if named else platform.machine()

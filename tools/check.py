"""Every check that needs no running service: one line each, the failures in full, a count."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tools import ceilings, tracked
from tools.oneline import say
from tools.paths import ROOT

AT_ONCE = 2
LIMIT_SECONDS = 300
TYPED = ("cases", "agent", "tools", "tests", "benchmarks", "manage.py")
# Checks import the settings but reach nothing: these addresses lead nowhere.
ENVIRONMENT = {
    "WATCHBILL_SECRET_KEY": "only-for-checks",
    "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/watchbill",
    "SIMULATOR_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/transport_sim",
    "BROKER_URL": "redis://127.0.0.1:1/0",
}


@dataclass(frozen=True, kw_only=True)
class Check:
    """A named check; `look` returns what is wrong, and nothing when all is well."""

    name: str
    look: Callable[[], str]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a check found, and how long it took in seconds."""

    name: str
    problem: str
    seconds: float


def command(
    name: str, *arguments: str, settings: str = "cases.settings", module: bool = False
) -> Check:
    """A check that runs a program of the environment, or a module, and reads its exit status."""
    program = [sys.executable] if module else [str(Path(sys.executable).parent / arguments[0])]
    argv = program + list(arguments if module else arguments[1:])

    def look() -> str:
        try:
            done = subprocess.run(
                argv,
                check=False,
                cwd=ROOT,
                env={**os.environ, **ENVIRONMENT, "DJANGO_SETTINGS_MODULE": settings},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=LIMIT_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return f"not finished after {LIMIT_SECONDS} s"
        return "" if done.returncode == 0 else done.stdout or f"exit status {done.returncode}"

    return Check(name=name, look=look)


def lines(name: str, find: Callable[[], Iterable[object]]) -> Check:
    """A check of our own, whose findings are lines."""
    return Check(name=name, look=lambda: "\n".join(str(found) for found in find()))


def reasons() -> Iterable[str]:
    """Dependencies without a reason."""
    return tracked.dependencies_without_reason((ROOT / "pyproject.toml").read_text())


# The slow ones first, so that two at a time end together.
CHECKS = (
    command("types", "mypy", *TYPED),
    command(
        "types of the simulator",
        *("mypy", "--config-file", "tools/mypy-transport-sim.toml"),
        *("--cache-dir", ".mypy_cache/transport_sim", "transport_sim"),
        settings="transport_sim.settings",
    ),
    command("templates", "djlint", "--lint", "--quiet", "templates"),
    command("imports", "lint-imports", "--no-logo"),
    command("migrations", "-m", "tools.pending_migrations", "cases", module=True),
    command(
        "migrations of the simulator",
        *("-m", "tools.pending_migrations", "transport_sim"),
        module=True,
        settings="transport_sim.settings",
    ),
    command("stage diagram", "manage.py", "stage_diagram", "--check", module=True),
    command("format", "ruff", "format", "--check", "--output-format", "concise", "."),
    command("lint", "ruff", "check", "--quiet", "."),
    lines("ceilings", ceilings.findings),
    lines("places and secrets", lambda: tracked.places_and_secrets(tracked.tracked_files())),
    lines("reasons", reasons),
)


def run(check: Check) -> Outcome:
    """Run one check and say how it went."""
    start = time.monotonic()
    problem = check.look().strip()
    seconds = time.monotonic() - start
    say(f"{'FAILED' if problem else 'ok':<7}{check.name:<30}{seconds:6.1f} s")
    return Outcome(name=check.name, problem=problem, seconds=seconds)


def main() -> int:
    """Run all checks, or those named in the arguments; 1 when any failed."""
    chosen = [check for check in CHECKS if not sys.argv[1:] or check.name in sys.argv[1:]]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = list(pool.map(run, chosen))
    failed = [outcome for outcome in outcomes if outcome.problem]
    for outcome in failed:
        say(f"\n{outcome.name}\n{'-' * len(outcome.name)}\n{outcome.problem}")
    say(f"\n{len(outcomes) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

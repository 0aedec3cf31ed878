"""The table of `make conformance`: what each test counted, collected from all test processes.

A pytest plugin. `--conformance full` raises the counts; the short form is part of every test run.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pytest

from tools.paths import VAR

PROPERTY = "conformance"
LONG = "long_conformance"
FEWEST_RUNS = 1000
PARTS = 4
WATCHBILL, PEER = "Watchbill", "peer"
COUNTS = ("runs", "wrong effects", "wrong decisions", "stuck")
NOTHING_COUNTED: Counter[str] = Counter()
# Large scenarios are split, so that test processes share them; only the first is in every run.
IN_PARTS = pytest.mark.parametrize(
    "part", [0, *(pytest.param(n, marks=getattr(pytest.mark, LONG)) for n in range(1, PARTS))]
)


class Form(StrEnum):
    """How often each scenario is run."""

    SHORT = "short"
    FULL = "full"

    def of(self, *, full: int, short: int = 1) -> range:
        """The trials of a scenario in this form."""
        return range(full if self is Form.FULL else short)

    def share[T](self, of: Sequence[T], *, part: int, short: int) -> Sequence[T]:
        """The share of one of PARTS tests; in the short form the one test has `short` of all."""
        return of[part::PARTS] if self is Form.FULL else self.some(of, short=short)

    def some[T](self, of: Sequence[T], *, short: int) -> Sequence[T]:
        """All of them, or `short` of them spread evenly."""
        if self is Form.FULL or len(of) <= short:
            return of
        return [of[(2 * index + 1) * len(of) // (2 * short)] for index in range(short)]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What one run came to, by the target's ledger and the record. `said` tells what was seen."""

    wrong_effects: int = 0
    wrong_decisions: int = 0
    stuck: int = 0
    said: str = ""

    @property
    def is_clean(self) -> bool:
        """Nothing wrong, nothing stuck."""
        return not (self.wrong_effects or self.wrong_decisions or self.stuck)


@dataclass(kw_only=True)
class Tally:
    """What one test counts."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def watchbill(self, scenario: str, verdict: Verdict) -> None:
        """Count a run of ours; the test fails at its end if anything was wrong."""
        self._count(WATCHBILL, scenario, verdict)
        if not verdict.is_clean:
            self.faults.append(f"{scenario}: {verdict}")

    def peer(self, scenario: str, verdict: Verdict) -> None:
        """Count a run of the peer, whatever came of it."""
        self._count(PEER, scenario, verdict)

    def _count(self, who: str, scenario: str, verdict: Verdict) -> None:
        found = (1, verdict.wrong_effects, verdict.wrong_decisions, verdict.stuck)
        counted = self.counts.setdefault(f"{who}|{scenario}", Counter())
        counted.update(dict(zip(COUNTS, found, strict=True)))

    def runs_of_peer(self, scenario: str) -> Counter[str]:
        """What was counted of the peer so far in this test."""
        return self.counts.get(f"{PEER}|{scenario}", NOTHING_COUNTED)


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Iterator[Tally]:
    """Counts the runs of one test; hands them to the table, and fails for any fault of ours."""
    counting = Tally()
    yield counting
    request.node.user_properties.append((PROPERTY, json.dumps(counting.counts)))
    assert not counting.faults, "\n".join(counting.faults)


@pytest.fixture
def form(request: pytest.FixtureRequest) -> Form:
    """How often to run."""
    return Form(request.config.getoption("--conformance"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the form be chosen."""
    parser.addoption("--conformance", choices=list(Form), default=Form.SHORT)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Scenarios that take long by nature belong to the full form only."""
    if Form(config.getoption("--conformance")) is Form.FULL:
        return
    long = [item for item in items if item.get_closest_marker(LONG)]
    items[:] = [item for item in items if item not in long]
    config.hook.pytest_deselected(items=long)


def pytest_configure(config: pytest.Config) -> None:
    """Make one table, in the process that gathers the reports."""
    config.addinivalue_line("markers", f"{LONG}: only in the full form of conformance")
    if not hasattr(config, "workerinput"):
        form = Form(config.getoption("--conformance"))
        config.pluginmanager.register(Table(form=form), "conformance-table")


@dataclass(kw_only=True, eq=False)  # pytest keeps its plugins in sets
class Table:
    """Everything that was counted in this test run."""

    form: Form
    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what a finished test counted."""
        if report.when != "teardown":
            return
        for name, value in report.user_properties:
            if name == PROPERTY:
                self._add(json.loads(str(value)))

    def _add(self, counts: dict[str, Any]) -> None:
        for key, counted in counts.items():
            self.counts.setdefault(key, Counter()).update(counted)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """In the full form, fewer runs than promised are a failure too."""
        if self.form is Form.FULL and self._total(WATCHBILL)["runs"] < FEWEST_RUNS:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table, and keep it under var/ when it is the full one."""
        if not self.counts:
            return
        lines = self._lines()
        terminalreporter.section(f"conformance, {self.form} form")
        for line in lines:
            terminalreporter.write_line(line)
        if self.form is Form.FULL:
            (VAR / "conformance.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _lines(self) -> list[str]:
        scenarios = sorted({key.partition("|")[2] for key in self.counts})
        width = max(len("all together"), *map(len, scenarios))
        head = "".join(f"{name:>16}" for name in COUNTS)
        rows = [(name, self._row(WATCHBILL, name), self._row(PEER, name)) for name in scenarios]
        rows.append(("all together", _cells(self._total(WATCHBILL)), _cells(self._total(PEER))))
        return [
            f"{'':{width}}{WATCHBILL:>{len(head)}}  |{PEER:>{len(head)}}",
            f"{'':{width}}{head}  |{head}",
            *(f"{name:{width}}{ours}  |{theirs}" for name, ours, theirs in rows),
        ]

    def _row(self, who: str, scenario: str) -> str:
        return _cells(self.counts.get(f"{who}|{scenario}", NOTHING_COUNTED))

    def _total(self, who: str) -> Counter[str]:
        total: Counter[str] = Counter()
        for key, counted in self.counts.items():
            if key.startswith(f"{who}|"):
                total.update(counted)
        return total


def _cells(counted: Counter[str]) -> str:
    """The four numbers; dashes when nothing was run."""
    return "".join(f"{counted[name] if counted['runs'] else '-':>16}" for name in COUNTS)

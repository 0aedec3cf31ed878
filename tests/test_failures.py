"""docs/failures.md lists every failure of groups A, B, D, E with what keeps it out, and is true."""

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tools.paths import ROOT

GROUPS = {"A": 23, "B": 17, "D": 11, "E": 12}
NUMBERS = [f"{group}{number}" for group, last in GROUPS.items() for number in range(1, last + 1)]
ROW = re.compile(r"^\| ([A-Z]\d+) \| (.+?) \| (.+) \|$", re.MULTILINE)
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
CARRIED = re.compile(r"(?<=_)([abde])(\d\d)_")
A_SENTENCE = 20
OF_A_HANDOVER = (
    "unowned gap",
    "double owner",
    "stale fact accepted",
    "unlogged promise",
    "forgotten override",
    "attempt taken for effect",
    "long unranked list",
    "sheet edited after signature",
    "acceptance without reading",
    "receiver absent",
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """What the document says of one failure."""

    fault: str
    kept_out_by: str

    @property
    def tests(self) -> set[tuple[str, str]]:
        """The tests it names: file and function."""
        return set(NAMED.findall(self.kept_out_by))


@cache
def rows() -> list[tuple[str, Row]]:
    """Every row of the document, in its order."""
    text = (ROOT / "docs/failures.md").read_text(encoding="utf-8")
    return [
        (number, Row(fault=fault, kept_out_by=kept_out_by))
        for number, fault, kept_out_by in ROW.findall(text)
    ]


def functions_of(path: Path) -> set[str]:
    """The names of a file's test functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def carried_by(name: str) -> set[str]:
    """The numbers in front of a test's name: `test_p05_a05_…` carries A5."""
    prefix = re.match(r"test_(?:[a-z]\d\d_)+", name)
    found = CARRIED.findall(prefix.group()) if prefix else []
    return {f"{group.upper()}{int(number)}" for group, number in found}


@cache
def carriers() -> dict[str, set[tuple[str, str]]]:
    """For each failure the tests that carry its number."""
    found: dict[str, set[tuple[str, str]]] = {number: set() for number in NUMBERS}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name in functions_of(path):
            for number in carried_by(name):
                found.setdefault(number, set()).add((str(path.relative_to(ROOT)), name))
    return found


def test_every_failure_has_one_row_in_order() -> None:
    assert [number for number, _ in rows()] == NUMBERS


@pytest.mark.parametrize("number", NUMBERS)
def test_a_failure_is_kept_out_by_a_test_with_its_number_or_by_a_reason(number: str) -> None:
    row = dict(rows())[number]
    assert len(row.fault) >= A_SENTENCE
    if row.tests:
        assert row.tests & carriers()[number], "none of them carries the number"
    else:
        assert len(row.kept_out_by) >= A_SENTENCE, "neither a test nor a reason"


def test_every_test_that_is_named_exists() -> None:
    named = set().union(*(row.tests for _, row in rows()))
    missing = {
        test
        for test in named
        if not (ROOT / test[0]).is_file() or test[1] not in functions_of(ROOT / test[0])
    }
    assert missing == set()


def test_every_test_that_carries_a_number_is_listed_with_it() -> None:
    listed = {number: row.tests for number, row in rows()}
    missing = {
        number: left
        for number, carrying in carriers().items()
        if (left := carrying - listed.get(number, set()))
    }
    assert missing == {}


def test_every_way_a_handover_fails_has_a_row_and_a_test_of_that_name() -> None:
    text = (ROOT / "docs/failures.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| ([a-z ]+) \| (`.+`) \|$", text, re.MULTILINE)
    assert [name for name, _ in table] == list(OF_A_HANDOVER)
    for name, kept_out_by in table:
        tests = NAMED.findall(kept_out_by)
        assert any(f"test_handover_{name.replace(' ', '_')}_" in test for _, test in tests), name
        assert all(test in functions_of(ROOT / path) for path, test in tests), name


def test_a_number_is_read_from_the_front_of_a_name_only() -> None:
    assert carried_by("test_p05_a05_b10_resumed") == {"A5", "B10"}
    assert carried_by("test_c03_values_of_d09_") == set()
    assert carried_by("test_a_case_b12_x") == set()

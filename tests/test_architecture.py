"""The arrows and the ceilings hold; and each rule would notice if one did not."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools import ceilings, tracked
from tools.paths import ROOT

LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")
SKELETON = (
    "cases/vocabulary",
    "cases/models",
    "cases/actions",
    "cases/queries",
    "cases/web",
    "agent/sources",
    "agent/planner",
    "transport_sim",
    "tools",
)


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the project's contracts on the packages in a folder."""
    return subprocess.run(
        [LINT_IMPORTS, "--no-logo", "--no-cache", "--config", ROOT / "pyproject.toml"],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """The packages of the house, empty."""
    for name in SKELETON:
        for folder in (tmp_path / name, *(tmp_path / name).parents):
            if folder.is_relative_to(tmp_path) and folder != tmp_path:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / "__init__.py").touch()
    return tmp_path


def test_the_arrows_between_packages_hold() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout


def test_an_empty_house_keeps_all_contracts(house: Path) -> None:
    done = lint_imports(house)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("agent/nodes.py", "from cases.vocabulary import stages"),
        ("agent/desk.py", "from cases.actions import decisions"),
        ("agent/desk.py", "from cases.queries import situation"),
        ("agent/sources/transport.py", "import httpx"),
        ("cases/actions/decisions.py", "from cases.models import case"),
    ],
)
def test_what_is_allowed_stays_allowed(house: Path, place: str, line: str) -> None:
    for target in ("vocabulary/stages", "actions/decisions", "queries/situation", "models/case"):
        (house / "cases" / f"{target}.py").touch()
    (house / place).write_text(f"{line}\n")
    done = lint_imports(house)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("place", "line", "contract"),
    [
        ("cases/models/case.py", "import agent", "The record imports neither"),
        ("cases/models/case.py", "import transport_sim", "The record imports neither"),
        ("cases/web/views.py", "import tools", "The record imports neither"),
        ("cases/web/views.py", "import celery", "The record imports neither"),
        ("transport_sim/api.py", "import cases", "The transport simulator imports nothing"),
        ("transport_sim/api.py", "import agent", "The transport simulator imports nothing"),
        ("agent/nodes.py", "import transport_sim", "The agent imports neither"),
        ("agent/nodes.py", "from cases import models", "Of the record the agent knows the words"),
        ("agent/nodes.py", "from cases import actions", "Of the record the agent knows the words"),
        ("agent/nodes.py", "from cases import queries", "Of the record the agent knows the words"),
        ("agent/desk.py", "from cases import models", "Of the record the agent knows the words"),
        ("agent/desk.py", "from cases import web", "Of the record the agent knows the words"),
        ("agent/nodes.py", "import httpx", "Only the sources speak HTTP"),
        ("cases/web/views.py", "import httpx", "Only the sources speak HTTP"),
        ("cases/vocabulary/stages.py", "import django", "The vocabulary is plain Python"),
        ("cases/models/case.py", "from cases import actions", "Layers of the record"),
        ("cases/models/case.py", "from cases import web", "Layers of the record"),
        ("cases/actions/decisions.py", "from cases import web", "Layers of the record"),
        ("cases/vocabulary/stages.py", "from cases import models", "Layers of the record"),
        ("agent/sources/base.py", "from agent import nodes", "Layers of the agent"),
        ("agent/nodes.py", "from agent import graph", "Layers of the agent"),
        ("agent/desk.py", "from agent import sources", "Layers of the agent"),
    ],
)
def test_a_forbidden_import_is_noticed(house: Path, place: str, line: str, contract: str) -> None:
    for module in ("nodes", "graph", "desk"):
        (house / "agent" / f"{module}.py").touch()
    (house / place).write_text(f"{line}\n")
    done = lint_imports(house)
    assert done.returncode == 1
    broken = [row for row in done.stdout.splitlines() if row.endswith("BROKEN")]
    assert any(row.startswith(contract) for row in broken), done.stdout


def test_the_ceilings_hold() -> None:
    assert [str(found) for found in ceilings.findings()] == []


def whole(text: str) -> str:
    """A forbidden text; it is written with a dot in it, so that this file does not hold it."""
    return text.replace("·", "")


def body(lines: int) -> str:
    """A function body of so many lines."""
    return "    pass\n" * lines


@pytest.mark.parametrize(
    ("place", "text", "message"),
    [
        ("cases/long.py", "x = 1\n" * 301, "301 lines, at most 300"),
        ("tests/test_long.py", "x = 1\n" * 401, "401 lines, at most 400"),
        ("agent/a.py", f"def act():\n{body(40)}", "function act has 41 lines, at most 40"),
        ("tests/test_a.py", f"def test_a():\n{body(40)}", "function test_a has 41 lines"),
        ("cases/web/a.py", f"def show(request):\n{body(25)}", "view show has 26 lines, at most 25"),
        ("cases/web/a.py", f"async def show(request):\n{body(25)}", "view show has 26 lines"),
        ("cases/utils.py", "", "utils.py says nothing"),
        ("cases/signals.py", "", "no signals"),
        ("cases/a.py", "from django.dispatch import receiver\n", "no Django signals"),
        ("cases/a.py", "from django.db.models.signals import post_save\n", "no Django signals"),
        ("cases/a.py", "from django.db.models import signals\n", "no Django signals"),
        ("cases/a.py", "class Case:\n    def save(self): ...\n", "Case overrides save()"),
        ("cases/a.py", "def act():\n    import os\n", "import inside act"),
        (
            "cases/a.py",
            "class A:\n    def act(self):\n        from os import path\n",
            "import inside act",
        ),
        ("cases/a.py", "x = 1  # TO·DO: more\n", "in a comment"),
        ("cases/a.py", "# FIX·ME\n", "in a comment"),
        (
            "tests/test_a.py",
            "import pytest\n@pytest.mark.skip\ndef test_a(): ...\n",
            "skip: a test runs",
        ),
        (
            "tests/test_a.py",
            "import pytest\n@pytest.mark.xfail(reason='')\ndef t(): ...\n",
            "xfail",
        ),
        ("tests/test_a.py", "import pytest\npytest.skip('')\n", "skip: a test runs"),
        ("tests/test_a.py", "from pytest import importorskip\n", "importorskip: a test runs"),
        ("tests/test_a.py", "import unittest\n@unittest.skipIf(1, '')\ndef t(): ...\n", "skipIf"),
    ],
)
def test_a_broken_ceiling_is_noticed(tmp_path: Path, place: str, text: str, message: str) -> None:
    file = tmp_path / place
    file.parent.mkdir(parents=True)
    file.write_text(whole(text))
    found = [str(found) for found in ceilings.findings(tmp_path)]
    assert any(message in line and line.startswith(f"{place}:") for line in found), found


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("cases/full.py", "x = 1\n" * 300),
        ("cases/migrations/0001_initial.py", "x = 1\n" * 900),
        ("agent/a.py", f"def act():\n{body(39)}"),
        ("cases/web/a.py", f"def show(request):\n{body(24)}"),
        ("tests/test_a.py", f"def test_a(request):\n{body(39)}"),
        ("agent/a.py", "from celery.signals import worker_process_init\n"),
        ("cases/a.py", "note = 'TODO is a word'\n"),
    ],
)
def test_what_fits_under_the_ceilings_is_left_alone(tmp_path: Path, place: str, text: str) -> None:
    file = tmp_path / place
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert ceilings.findings(tmp_path) == []


def test_no_tracked_file_names_a_registry_a_place_or_a_secret() -> None:
    assert list(tracked.places_and_secrets(tracked.tracked_files())) == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("see https://py·pi.org/project/x", "package registry"),
        ("--index-·url https://example.test", "package index"),
        ("cd /ro·ot/project", "machine"),
        ("open('/ho·me/ann/notes')", "machine"),
        ("-----BEGIN RSA PRIV·ATE KEY-----", "private key"),
        ("postgresql:·//watchbill:abcdefghijklmnop@127.0.0.1/x", "password"),
    ],
)
def test_a_registry_a_place_or_a_secret_is_noticed(tmp_path: Path, text: str, what: str) -> None:
    file = tmp_path / "notes.md"
    file.write_text(f"first line\n{whole(text)}\n")
    found = list(tracked.places_and_secrets([file], root=tmp_path))
    assert found
    assert found[0].startswith("notes.md:2: ")
    assert what in found[0]


def test_every_dependency_has_a_reason() -> None:
    assert list(tracked.dependencies_without_reason((ROOT / "pyproject.toml").read_text())) == []


@pytest.mark.parametrize("group", ["dependencies", "dev"])
def test_a_dependency_without_a_reason_is_noticed(group: str) -> None:
    text = f'{group} = [\n    "django>=6.1",  # the record\n    "left-pad>=1",\n]\n'
    (found,) = tracked.dependencies_without_reason(text)
    assert "pyproject.toml:3" in found
    assert "left-pad" in found

"""The set-up works with what a machine has, and says in one line what it lacks."""

import ast
import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from tools import bootstrap, browser, interpreters
from tools.oneline import OneLine
from tools.paths import ROOT

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
EARLY = ("bootstrap", "browser", "clean", "interpreters", "oneline")


def program(path: Path, text: str) -> Path:
    """A shell script that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any Python but an old one; returns the folder on its PATH."""
    path = tmp_path / "bin"
    path.mkdir()
    old = program(tmp_path / "old" / "python3", f"echo 3.11.2 venv {tmp_path}/old/python3")
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setattr(interpreters, "FOLDERS", ())
    monkeypatch.setattr(interpreters, "PATTERNS", ())
    monkeypatch.setattr(sys, "executable", str(old))
    return path


def test_a_shim_that_fails_is_passed_over_for_a_python_that_runs(
    bare_machine: Path, tmp_path: Path
) -> None:
    program(
        bare_machine / "python3.13", "echo 'pyenv: python3.13: command not found' >&2; exit 127"
    )
    real = program(
        tmp_path / "pyenv" / "versions" / "3.12.9" / "bin" / "python", "echo 3.12.9 venv $0"
    )
    found = interpreters.find(None)
    assert found == (str(real), "3.12.9", True)


def test_the_preferred_version_wins_over_the_first_on_the_path(bare_machine: Path) -> None:
    program(bare_machine / "python3", "echo 3.14.1 venv $0")
    preferred = program(bare_machine / "python3.13", "echo 3.13.5 venv $0")
    found = interpreters.find(None)
    assert found is not None
    assert found.path == str(preferred)


def test_the_python_that_runs_this_test_is_found() -> None:
    assert interpreters.find(None) is not None
    probed = interpreters.probe(sys.executable)
    assert probed is not None
    assert probed.version.startswith(HERE)


def test_without_a_python_the_one_line_says_what_to_install(bare_machine: Path) -> None:
    asked: list[list[str]] = []

    def failing(command: list[str]) -> tuple[int, str]:
        asked.append(command)
        return 1, "…\nNo module named pip\n"

    assert interpreters.find(None) is None
    with pytest.raises(
        OneLine, match=r"No Python 3\.12 or newer.*No module named pip.*apt-get"
    ) as line:
        interpreters.fetch(str(bare_machine), None, failing)
    assert "\n" not in str(line.value)
    assert asked[0][1:4] == ["-m", "pip", "install"]  # it did try to get uv first


def test_uv_fetches_a_python_where_there_is_none(bare_machine: Path) -> None:
    fetched = program(bare_machine / "fetched", "echo 3.13.5 venv $0")

    def uv(command: list[str]) -> tuple[int, str]:
        return 0, f"{fetched}\n" if "find" in command else "Installed\n"

    assert interpreters.fetch(str(bare_machine), "uv", uv).path == str(fetched)


def test_a_python_without_venv_is_one_line_that_names_the_package(bare_machine: Path) -> None:
    program(bare_machine / "python3.12", "echo 3.12.3 bare $0")
    with pytest.raises(OneLine, match="apt-get install python3.12-venv"):
        interpreters.find(None)
    assert interpreters.find("uv") is not None  # uv makes environments without it


@pytest.mark.parametrize(
    ("output", "advice"),
    [
        ("OSError: [Errno 28] No space left on device", "is full: free 1500 MB"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", "differs from requirements.lock"),
        ("Temporary failure in name resolution", "check the network"),
        ("ERROR: No matching distribution found for django", "check the network"),
        ("something else\nwent wrong\n\n", r"\(went wrong\)\. Details: var/set-up\.log"),
    ],
)
def test_what_an_installer_says_becomes_one_line(output: str, advice: str) -> None:
    with pytest.raises(OneLine, match=advice) as line:
        raise bootstrap.explain("Installing the packages", output)
    assert "\n" not in str(line.value)


def test_a_full_disk_is_noticed_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 10**9, 10**6))
    with pytest.raises(OneLine, match="is full"):
        bootstrap.check_disk()


def test_a_missing_browser_is_one_line_with_the_command(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser, "APPLICATIONS", ())
    with pytest.raises(OneLine, match="apt-get install chromium"):
        browser.ensure(bootstrap.run_logged)  # no apt-get on this PATH
    with pytest.raises(OneLine, match="need Chromium"):
        browser.required()
    there = program(bare_machine / "chromium", "exit 0")
    assert browser.required() == str(there)


def test_root_gets_a_missing_browser_from_apt_get(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    program(bare_machine / "apt-get", "exit 0")

    def apt_get(command: list[str]) -> tuple[int, str]:
        if "install" in command:
            program(bare_machine / "chromium", "exit 0")
        return 0, ""

    browser.ensure(apt_get)
    assert browser.find() == str(bare_machine / "chromium")


@pytest.mark.parametrize("name", EARLY)
def test_what_runs_first_is_readable_for_an_old_python(name: str) -> None:
    text = (ROOT / "tools" / f"{name}.py").read_text()
    ast.parse(text, feature_version=(3, 7))
    assert "annotations" not in text


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose lock pins nothing, so that its set-up is quick."""
    (tmp_path / "tools").mkdir()
    for name in ("__init__", *EARLY):
        shutil.copy(ROOT / "tools" / f"{name}.py", tmp_path / "tools")
    (tmp_path / "requirements.lock").write_text("# nothing\n")
    return tmp_path


def set_up(project: Path) -> str:
    """Run the set-up as make does, with an almost empty environment; return what it printed."""
    done = subprocess.run(
        [sys.executable, "tools/bootstrap.py"],
        cwd=project,
        env={"HOME": str(project), "PATH": "/usr/bin:/bin"},
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout


def test_set_up_is_made_once_and_again_when_half_made_or_outdated(project: Path) -> None:
    assert "4/4 done" in set_up(project)
    assert set_up(project) == ""
    (project / ".venv" / "watchbill-stamp").unlink()  # as after Ctrl-C
    assert "2/4 making .venv" in set_up(project)
    (project / "requirements.lock").write_text("# nothing else\n")
    assert "2/4 making .venv" in set_up(project)
    assert set_up(project) == ""


def test_clean_removes_what_was_made(project: Path) -> None:
    for made in (".venv", "var", ".ruff_cache"):
        (project / made).mkdir()
    subprocess.run([sys.executable, "tools/clean.py"], cwd=project, check=True, timeout=30)
    assert sorted(path.name for path in project.iterdir()) == ["requirements.lock", "tools"]

"""Rules about files that are, or would be, tracked: no secrets, no places, reasons given."""

import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from tools.paths import ROOT

# Written as expressions, so that this file does not hold what it forbids.
FORBIDDEN = {
    r"\b(?:files\.pythonhosted|test\.pypi|pypi)\.org\b": "the host of a package registry",
    r"\bregistry\.(?:npmjs\.org|yarnpkg\.com)\b": "the host of a package registry",
    r"\bdeb\.debian\.org|\bsecurity\.debian\.org|\bcrates\.io\b": "the host of a package registry",
    r"\bproxy\.golang\.org\b": "the host of a package registry",
    r"(?m)^(?:--(?:extra-)?index-url|--find-links|-i |-f )": "a package index",
    r"(?<![\w.~$}])/(?:root|home/\w+|Users/\w+)/": "a path of one person's machine",
    r"(?<![\w.~$}])/work/(?:main|shared|\.)": "a path of one machine",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----": "a private key",
    r"\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_\w{36}\b": "a credential",
    r"postgres(?:ql)?://\w+:[\w-]{12,}@|redis://:[\w-]{12,}@": "a password in an address",
}
DEPENDENCY = re.compile(r'^\s+"[A-Za-z0-9_.-]+(\[[\w,]+\])?[<>=!~]')
REASON = re.compile(r'",\s+#\s*\S+')


def tracked_files(root: Path = ROOT) -> list[Path]:
    """Files under version control and new ones that git would not ignore."""
    answer = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
    )
    files = [root / name for name in answer.stdout.split("\0") if name]
    return [file for file in files if file.is_file()]


def places_and_secrets(files: Iterable[Path], *, root: Path = ROOT) -> Iterator[str]:
    """Lines that name a registry, a place on one machine or a secret."""
    for file in files:
        try:
            text = file.read_text()
        except UnicodeDecodeError:
            continue  # a picture or a font
        for pattern, what in FORBIDDEN.items():
            for match in re.finditer(pattern, text):
                line = text.count("\n", 0, match.start()) + 1
                yield f"{file.relative_to(root)}:{line}: {what} ({match[0].strip()})"


def dependencies_without_reason(text: str) -> Iterator[str]:
    """Lines of pyproject.toml that add a dependency and do not say why."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"(dependencies|dev) = \[", line):
            inside = True
        elif line.startswith("]"):
            inside = False
        elif inside and DEPENDENCY.match(line) and not REASON.search(line):
            yield f"pyproject.toml:{number}: {line.strip()} has no reason: add a # comment"

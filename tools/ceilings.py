"""What keeps the house livable: sizes, and things that are not done here.

Read from the syntax tree, so that a rule cannot be talked around in a comment.
"""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.paths import ROOT

PRODUCT = ("cases", "agent", "transport_sim", "tools")
MODULE_LINES, TEST_MODULE_LINES, FUNCTION_LINES, VIEW_LINES = 300, 400, 40, 25
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
NOT_RUN = {"skip", "skipif", "xfail", "importorskip", "skipUnless", "skipIf", "expectedFailure"}
TEST_TOOLS = {"pytest", "unittest"}
SIGNAL_MODULES = ("django.dispatch", "django.db.models.signals", "django.core.signals")

type Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One broken rule: where, and what to do."""

    place: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.place}:{self.line}: {self.message}"


@dataclass(frozen=True, kw_only=True)
class Module:
    """One source file, parsed."""

    place: str
    text: str
    tree: ast.Module

    @property
    def is_test(self) -> bool:
        """Whether it belongs to the tests or the benchmarks, not to the product."""
        return self.place.split("/")[0] not in PRODUCT

    @property
    def is_migration(self) -> bool:
        """Whether Django wrote it."""
        return "/migrations/" in self.place

    def finding(self, line: int, message: str) -> Finding:
        """A finding in this module."""
        return Finding(place=self.place, line=line, message=message)

    def functions(self) -> Iterator[Function]:
        """Every function, methods and inner ones included."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node


def module_size(module: Module) -> Iterator[Finding]:
    """Modules fit into a head."""
    lines = module.text.count("\n")
    most = TEST_MODULE_LINES if module.is_test else MODULE_LINES
    if lines > most and not module.is_migration:
        yield module.finding(1, f"{lines} lines, at most {most}: split it by subject")


def is_view(function: Function) -> bool:
    """A view is a function whose first argument, after self, is the request."""
    names = [argument.arg for argument in function.args.posonlyargs + function.args.args]
    return next((name for name in names if name not in {"self", "cls"}), "") == "request"


def function_size(module: Module) -> Iterator[Finding]:
    """Functions fit on a screen, views into half of one."""
    for function in module.functions():
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        view = is_view(function) and not module.is_test
        most = VIEW_LINES if view else FUNCTION_LINES
        if lines > most:
            word = "view" if view else "function"
            message = f"{word} {function.name} has {lines} lines, at most {most}: name its steps"
            yield module.finding(function.lineno, message)


def file_names(module: Module) -> Iterator[Finding]:
    """A module is named after what it holds."""
    name = module.place.rsplit("/", 1)[-1]
    if name in {"utils.py", "helpers.py", "common.py", "misc.py"}:
        yield module.finding(1, f"{name} says nothing: name the module after what it holds")
    if name == "signals.py":
        yield module.finding(1, "no signals: call the action that should happen")


def imported_names(node: ast.AST) -> list[str]:
    """The dotted names an import statement brings in; empty for anything else."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module or ''}.{alias.name}" for alias in node.names]
    return []


def no_signals(module: Module) -> Iterator[Finding]:
    """What happens is written where it happens."""
    for node in ast.walk(module.tree):
        names = imported_names(node)
        if not module.is_test and any(name.startswith(SIGNAL_MODULES) for name in names):
            line = getattr(node, "lineno", 1)
            yield module.finding(line, "no Django signals: call the action that should happen")


def no_own_save(module: Module) -> Iterator[Finding]:
    """Saving stores; deciding is the business of actions."""
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.ClassDef):
            continue
        for method in node.body:
            if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and method.name == "save":
                yield module.finding(
                    method.lineno, f"{node.name} overrides save(): write an action instead"
                )


def imports_on_top(module: Module) -> Iterator[Finding]:
    """An import inside a function hides an arrow between modules."""
    seen = set()
    for function in module.functions():
        for node in ast.walk(function):
            if isinstance(node, ast.Import | ast.ImportFrom) and node.lineno not in seen:
                seen.add(node.lineno)
                message = f"import inside {function.name}: move it to the top of the module"
                yield module.finding(node.lineno, message)


def nothing_unfinished(module: Module) -> Iterator[Finding]:
    """What is left to do is an issue, not a comment."""
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type == tokenize.COMMENT and (word := UNFINISHED.search(token.string)):
            yield module.finding(token.start[0], f"{word[0]} in a comment: do it or file it")


def every_test_runs(module: Module) -> Iterator[Finding]:
    """A test that is skipped proves nothing and looks green."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and node.attr in NOT_RUN:
            names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
            if names & TEST_TOOLS:
                message = f"{node.attr}: a test runs and passes, or is removed"
                yield module.finding(node.lineno, message)
        for name in imported_names(node):
            first, _, last = name.partition(".")
            if first in TEST_TOOLS and last in NOT_RUN:
                line = getattr(node, "lineno", 1)
                yield module.finding(line, f"{last}: a test runs and passes, or is removed")


RULES: tuple[Callable[[Module], Iterator[Finding]], ...] = (
    module_size,
    function_size,
    file_names,
    no_signals,
    no_own_save,
    imports_on_top,
    nothing_unfinished,
    every_test_runs,
)


def modules(root: Path) -> Iterator[Module]:
    """Every Python file of the packages and tests, and those beside them."""
    folders = [root / name for name in (*PRODUCT, "tests", "benchmarks")]
    files = [file for folder in folders for file in folder.rglob("*.py")]
    for file in sorted([*files, *root.glob("*.py")]):
        text = file.read_text()
        tree = ast.parse(text, filename=str(file))
        yield Module(place=file.relative_to(root).as_posix(), text=text, tree=tree)


def findings(root: Path = ROOT) -> list[Finding]:
    """Every broken rule below a folder laid out like the project."""
    return [found for module in modules(root) for rule in RULES for found in rule(module)]

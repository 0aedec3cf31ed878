"""P17: the example of docs/connecting.md is a real adapter to a real system."""

import re
import sys
from pathlib import Path
from types import ModuleType

PAGE = Path(__file__).parents[2] / "docs" / "connecting.md"
BLOCK = re.compile(r"^```python\n# (?P<name>\w+)\.py\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)


def modules_of(page: Path) -> dict[str, ModuleType]:
    """The page's named blocks as modules that can import each other, in the order of the page."""
    text = page.read_text(encoding="utf-8")
    modules = {}
    for block in BLOCK.finditer(text):
        name = block["name"]
        above = text.count("\n", 0, block.start("code"))  # so that errors name the page's own line
        module = sys.modules[name] = modules[name] = ModuleType(name)
        exec(compile("\n" * above + block["code"], str(page), "exec"), module.__dict__)
    return modules


MODULES = modules_of(PAGE)


class TestTheExample(MODULES["test_notice_board"].TestNoticeBoard):  # type: ignore[misc]
    """Every clause, run against the page."""


def test_the_page_shows_a_system_its_adapter_and_its_test() -> None:
    assert list(MODULES) == ["notice_board", "notice_board_adapter", "test_notice_board"]

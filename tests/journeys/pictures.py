"""Pictures for the docs, taken on a journey when `WATCHBILL_PICTURES` names the folder for them."""

import os
from pathlib import Path

from playwright.sync_api import Page

FOLDER = os.environ.get("WATCHBILL_PICTURES", "")
PAPER_WIDTH = 703
"""What is left of A4 between its margins, in CSS pixels."""


def are_wanted() -> bool:
    """Whether this run takes pictures."""
    return bool(FOLDER)


def take(page: Page, name: str, *, height: int = 1200, start_at: str = "") -> None:
    """The page as it is, `height` CSS pixels of it, from the element `start_at` or the top on."""
    if not FOLDER:
        return
    before = page.viewport_size or {"width": 1280, "height": 900}
    page.set_viewport_size({"width": before["width"], "height": height})
    page.evaluate("document.fonts.ready")
    if start_at:
        page.locator(start_at).evaluate("element => element.scrollIntoView({block: 'start'})")
    page.screenshot(path=Path(FOLDER, f"handover-{name}.png"))
    page.set_viewport_size(before)


def take_paper(page: Page, name: str, *, height: int = 1000) -> None:
    """The first page as it is printed."""
    if not FOLDER:
        return
    page.emulate_media(media="print")
    page.set_viewport_size({"width": PAPER_WIDTH, "height": height})
    page.screenshot(path=Path(FOLDER, f"handover-{name}.png"))
    page.emulate_media(media="screen")

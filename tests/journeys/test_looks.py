"""Pages are usable by everyone: axe in both themes, a phone, keys alone."""

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from cases.actions.pauses import set_pause
from cases.clock import business_now
from tests.cases.builders import (
    MORNING,
    MORNING_WORLD,
    Cast,
    a_case_waiting_for_review,
    a_shipment,
    agent_reads,
    at_business_time,
    unreadable,
)
from tests.journeys.conftest import OpenTab, Theme

pytestmark = pytest.mark.browser
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}

type ContextOf = Callable[..., BrowserContext]


def violations_of(page: Page) -> list[str]:
    """What axe finds wrong, each with the first element it is wrong on."""
    found: list[dict[str, Any]] = Axe().run(page, options=RULES).response["violations"]
    return [f"{item['id']}: {item['nodes'][0]['html'][:160]}" for item in found]


@pytest.fixture
def addresses(cast: Cast) -> list[str]:
    """Every kind of page, with a revised case, a blocked one and a pause behind it."""
    revised = a_case_waiting_for_review(cast)
    blocked = a_case_waiting_for_review(cast, subject="S-290")
    at_business_time(MORNING)
    agent_reads(revised, MORNING_WORLD)
    agent_reads(blocked, (unreadable(a_shipment(subject="S-290")),))
    set_pause(lane="execution", kind="", agent="", reason="Storm", by=cast.lead, at=business_now())
    return [
        "/?view=all",
        "/?view=unknown",
        f"/cases/{revised.pk}/",
        f"/cases/{revised.pk}/?proposal=1",
        f"/cases/{blocked.pk}/",
        f"/cases/{revised.pk}/timeline/",
        f"/cases/{revised.pk}/compare/?from=1&to=2",
        "/pauses/",
        "/cases/999999/",
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(
    cast: Cast, addresses: list[str], context_of: ContextOf, open_tab: OpenTab, theme: Theme
) -> None:
    context = context_of(cast.owner, theme=theme)
    found = {}
    page = open_tab(context, "/")
    for address in addresses:
        page.goto(address)
        for fold in page.locator("details").all():
            fold.evaluate("fold => { fold.open = !fold.matches('.menu'); }")
        found[address] = violations_of(page)
    assert {address: wrong for address, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_the_login_page(
    cast: Cast, context_of: ContextOf, open_tab: OpenTab, theme: Theme
) -> None:
    assert violations_of(open_tab(context_of(None, theme=theme), "/login/")) == []


def test_nothing_is_cut_off_on_a_phone(
    cast: Cast, addresses: list[str], context_of: ContextOf, open_tab: OpenTab
) -> None:
    page = open_tab(context_of(cast.owner, width=375), "/")
    for address in addresses:
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375, address
    page.goto(addresses[2])
    for fact in ("Delivery window", "Rate expiry", "Carrier"):
        expect(page.get_by_role("rowheader", name=fact, exact=True).first).to_be_visible()


def test_the_first_key_leads_past_the_navigation(
    cast: Cast, addresses: list[str], context_of: ContextOf, open_tab: OpenTab
) -> None:
    page = open_tab(context_of(cast.owner), addresses[0])
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("searchbox")).to_be_focused()
    for _ in range(2):  # past the field and its button
        page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="S-318")).to_be_focused()


def test_the_console_stays_silent(
    cast: Cast,
    addresses: list[str],
    context_of: ContextOf,
    open_tab: OpenTab,
    complaints: list[str],
) -> None:
    page = open_tab(context_of(cast.owner), "/")
    for address in addresses[:-1]:
        page.goto(address)
    assert complaints == []

"""The numbers in a real browser: usable by everyone, on a phone, and on paper."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from cases.actions import decisions
from cases.clock import business_now
from tests.cases.builders import (
    MORNING,
    TWO_O_CLOCK,
    Cast,
    a_person_closes,
    a_shipment,
    agent_reads,
    an_answer,
    at_business_time,
    unreadable,
)
from tests.cases.mornings import (
    Kind,
    a_night_case,
    a_roster,
    answer,
    looked_at,
    opened,
    read_again,
)
from tests.journeys.conftest import OpenTab, Theme
from tests.journeys.paper import pages_of
from tests.journeys.test_looks import violations_of

pytestmark = pytest.mark.browser

type ContextOf = Callable[..., BrowserContext]


@pytest.fixture
def morning(cast: Cast) -> Cast:
    """09:00 after a handover: one case accepted, one stale, one unread, one closed."""
    a_roster(cast)
    held, stale, unread, closed = (a_night_case(cast, f"S-31{number}") for number in range(4))
    opened(cast)
    read_again(held)
    read_again(stale, 44, delivery_window=TWO_O_CLOCK)
    agent_reads(unread, (unreadable(a_shipment(subject="S-312")),))
    at_business_time(MORNING.replace(minute=12))
    answer(looked_at(held), Kind.ACCEPT, cast.colleague)
    held.refresh_from_db()
    decisions.send_back(answer=an_answer(held, reason="No."), by=cast.owner, at=business_now())
    a_person_closes(closed, by=cast.owner)
    at_business_time(MORNING.replace(hour=15))
    return cast


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_the_numbers(
    morning: Cast, context_of: ContextOf, open_tab: OpenTab, theme: Theme, complaints: list[str]
) -> None:
    page = open_tab(context_of(morning.lead, theme=theme), "/numbers/")
    for fold in page.locator("main details").all():
        fold.evaluate("fold => { fold.open = true; }")
    assert violations_of(page) == []
    expect(page.get_by_role("img", name="Time to decision")).to_be_visible()
    assert complaints == []


def test_nothing_of_the_numbers_is_cut_off_on_a_phone(
    morning: Cast, context_of: ContextOf, open_tab: OpenTab
) -> None:
    page = open_tab(context_of(morning.lead, width=375), "/numbers/?days=30&by=shift")
    for fold in page.locator("main details").all():
        fold.evaluate("fold => { fold.open = true; }")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_the_numbers_print_with_their_tables(
    morning: Cast, context_of: ContextOf, open_tab: OpenTab
) -> None:
    page = open_tab(context_of(morning.lead), "/numbers/")
    whole = "".join(pages_of(page.pdf(format="A4")))
    assert "Timetodecision" in whole and "Nineoftenwithin" in whole
    assert "Tue24Nov" in whole

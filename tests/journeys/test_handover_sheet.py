"""The handover sheet in a real browser: two people, a phone, and paper."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from cases.actions.clock import move_business_clock
from cases.models import Case, Handover, HandoverRow, Person
from tests.cases.builders import (
    TWO_O_CLOCK,
    Cast,
    a_shipment,
    agent_reads,
    at_business_time,
    unreadable,
)
from tests.cases.mornings import (
    AFTER,
    READING_TIME,
    a_night_case,
    a_roster,
    hand_over,
    opened,
    read_again,
)
from tests.journeys.conftest import OpenTab, Theme
from tests.journeys.paper import pages_of
from tests.journeys.test_looks import violations_of

pytestmark = pytest.mark.browser

type ContextOf = Callable[..., BrowserContext]


@pytest.fixture
def handover(cast: Cast) -> Handover:
    """08:01: one case to accept, one urgent, one that moved since, one unread, one unowned."""
    a_roster(cast)
    cases = {subject: a_night_case(cast, subject) for subject in ("S-318", "S-319", "S-320")}
    cases |= {subject: a_night_case(cast, subject) for subject in ("S-321", "S-322")}
    found = opened(cast)
    for case in cases.values():
        read_again(case)
    hand_over(found, cast.owner)
    Case.objects.filter(subject="S-319").update(decide_by=AFTER)
    read_again(cases["S-320"], 44, delivery_window=TWO_O_CLOCK)
    agent_reads(cases["S-321"], (unreadable(a_shipment(subject="S-321")),))
    Case.objects.filter(subject="S-322").update(owner=None)
    at_business_time(AFTER)
    return found


def row_in(page: Page, subject: str) -> str:
    """The selector of a subject's row."""
    return f"#row-{HandoverRow.objects.get(case__subject=subject).pk}"


def owner_of(subject: str) -> Person | None:
    """Who answers for it now."""
    return Case.objects.get(subject=subject).owner


def test_p27_one_person_accepts_and_the_other_is_told_on_their_own_page(
    cast: Cast, handover: Handover, context_of: ContextOf, open_tab: OpenTab, complaints: list[str]
) -> None:
    address = f"/handover/{handover.pk}/"
    dana, priya = (open_tab(context_of(p), address) for p in (cast.colleague, cast.lead))
    move_business_clock(by=READING_TIME)
    row = row_in(dana, "S-318")
    dana.locator(row).get_by_role("button", name="Accept S-318").click()
    expect(dana.locator(row)).to_contain_text("Accepted by Dana Wu")
    assert owner_of("S-318") == cast.colleague
    priya.locator(row).get_by_role("button", name="Accept S-318").click()
    expect(priya.locator(row)).to_contain_text("S-318 changed since you looked")
    expect(priya.locator(row)).to_contain_text("Accepted by Dana Wu")
    assert owner_of("S-318") == cast.colleague
    assert [text for text in complaints if "409" not in text] == []


def test_p27_text_typed_on_the_sheet_survives_leaving_it(
    cast: Cast, handover: Handover, context_of: ContextOf, open_tab: OpenTab
) -> None:
    page = open_tab(context_of(cast.colleague), f"/handover/{handover.pk}/")
    row = page.locator(row_in(page, "S-318"))
    row.get_by_text("Assign, escalate, ask or refuse").click()
    row.get_by_label("Why").fill("Who told the customer 10:00?")
    page.goto("/")
    page.goto(f"/handover/{handover.pk}/")
    expect(row.get_by_label("Why")).to_have_value("Who told the customer 10:00?")
    expect(row.get_by_label("Why")).to_be_visible()
    row.get_by_role("button", name="Ask").click()
    expect(row).to_contain_text("Question by Dana Wu")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_the_sheet_and_the_list(
    cast: Cast, handover: Handover, context_of: ContextOf, open_tab: OpenTab, theme: Theme
) -> None:
    page = open_tab(context_of(cast.lead, theme=theme), "/handovers/")
    assert violations_of(page) == []
    page.goto(f"/handover/{handover.pk}/")
    for fold in page.locator("main details").all():
        fold.evaluate("fold => { fold.open = true; }")
    assert violations_of(page) == []


def test_nothing_of_the_sheet_is_cut_off_on_a_phone(
    cast: Cast, handover: Handover, context_of: ContextOf, open_tab: OpenTab
) -> None:
    page = open_tab(context_of(cast.colleague, width=375), f"/handover/{handover.pk}/")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    expect(page.get_by_role("button", name="Accept S-321 as blocked")).to_be_visible()


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_p26_every_printed_page_says_what_it_is_and_that_it_releases_nothing(
    cast: Cast, handover: Handover, context_of: ContextOf, open_tab: OpenTab, paper: str
) -> None:
    page = open_tab(context_of(cast.lead), f"/handover/{handover.pk}/")
    code = page.locator(".sheet-signature .code").inner_text()
    pages = pages_of(page.pdf(format=paper))
    assert len(pages) > 1
    for number, text in enumerate(pages, start=1):
        assert f"Page{number}of{len(pages)}" in text
        assert "Evening→Day·Tue24Nov08:00CST·notsigned" in text
        assert f"code{code}" in text
        assert "Paperisnotauthoritytorelease" in text
    whole = "".join(pages)
    assert all(f"S-{number}" in whole for number in range(318, 323))
    assert "‼urgent" in whole and "changedsincepublished" in whole
    assert "AcceptS-318" not in whole

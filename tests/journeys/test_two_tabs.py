"""The morning in a real browser: an old tab cannot release what it shows, and says why."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from cases.models import Attempt, Case, Decision, Effect
from tests.cases.builders import (
    MORNING,
    MORNING_WORLD,
    Cast,
    a_case_waiting_for_review,
    agent_reads,
    at_business_time,
    audit_of,
)
from tests.journeys.conftest import OpenTab

pytestmark = pytest.mark.browser
REASON = "Checked with the shipper at five; truck is fine."

type ContextOf = Callable[..., BrowserContext]


@pytest.fixture
def case(cast: Cast) -> Case:
    """Version 1 is ready at 17:00."""
    return a_case_waiting_for_review(cast)


def overnight(case: Case) -> None:
    """The shipment moves on, and the agent prepares version 2."""
    at_business_time(MORNING)
    agent_reads(case, MORNING_WORLD)


def expect_the_difference(page: Page) -> None:
    """The refusal lists each fact that changed, then and now."""
    for label, then, now in (
        ("Delivery window", "Wed 25 Nov 10:00–12:00 EST", "Wed 25 Nov 14:00–16:00 EST"),
        ("Rate expiry", "open until Tue 24 Nov 00:00 CST", "expired Tue 24 Nov 00:00 CST"),
        ("Carrier", "none", "Oakline Freight (OAKX), set by J. Ortiz"),
    ):
        row = page.locator("#decision").get_by_role("row").filter(has_text=label)
        expect(row).to_contain_text(then)
        expect(row).to_contain_text(now)


def test_release_in_an_old_tab_does_nothing_and_shows_the_way_to_the_new_version(
    case: Case, cast: Cast, context_of: ContextOf, open_tab: OpenTab, complaints: list[str]
) -> None:
    context = context_of(cast.owner)
    old = open_tab(context, f"/cases/{case.pk}/")
    old.get_by_label("Reason").fill(REASON)
    overnight(case)
    new = open_tab(context, f"/cases/{case.pk}/")
    expect(new.get_by_role("heading", name="Decide on v2")).to_be_visible()

    old.locator("#release-button").click()

    expect(old.get_by_role("heading", name="Not released")).to_be_focused()
    expect_the_difference(old)
    expect(old.get_by_label("Your reason, kept")).to_have_value(REASON)
    # Only the panel was replaced: the proposal that was read is still the one on the page.
    expect(old.get_by_role("heading", name="Proposal v1")).to_be_visible()
    assert not Decision.objects.exists()
    assert not Effect.objects.exists()
    assert not Attempt.objects.exists()
    assert audit_of(case)[-1].event == "decision_refused"

    old.get_by_role("button", name="Review v2").click()

    expect(old.get_by_role("heading", name="Decide on v2")).to_be_visible()
    expect(old.get_by_label("Reason")).to_have_value(REASON)
    old.get_by_role("button", name="Release v2 – send 1 update").click()
    expect(old.get_by_role("heading", name="Recorded")).to_be_focused()
    expect(old.get_by_role("heading", name="Released v2")).to_be_visible()
    decision = Decision.objects.get()
    assert (decision.proposal.number, decision.reason) == (2, REASON)
    assert Effect.objects.count() == 1
    assert [text for text in complaints if "409" not in text] == []


def test_a_hint_disables_an_outdated_release_and_keeps_text_and_focus(
    case: Case, cast: Cast, context_of: ContextOf, open_tab: OpenTab
) -> None:
    page = open_tab(context_of(cast.owner), f"/cases/{case.pk}/")
    reason = page.get_by_label("Reason")
    reason.fill(REASON)
    overnight(case)
    page.evaluate("htmx.trigger('#case-hint', 'every')")

    expect(page.get_by_text("v2 exists, so v1 cannot be released.")).to_be_visible()
    expect(page.get_by_role("button", name="Release v1")).to_be_disabled()
    expect(page.get_by_role("status").first).to_contain_text("Version 2 of the proposal exists")
    expect(page.get_by_role("heading", name="Proposal v1")).to_be_visible()
    expect(reason).to_be_focused()
    expect(reason).to_have_value(REASON)

    page.get_by_role("button", name="Review v2").click()
    expect(page.get_by_role("heading", name="Decide on v2")).to_be_visible()
    expect(page.get_by_label("Reason")).to_have_value(REASON)


def test_a_double_click_releases_once(
    case: Case, cast: Cast, context_of: ContextOf, open_tab: OpenTab
) -> None:
    page = open_tab(context_of(cast.owner), f"/cases/{case.pk}/")
    page.locator("#release-button").dblclick()
    expect(page.get_by_role("heading", name="Released v1")).to_be_visible()
    assert Decision.objects.count() == 1


def test_without_scripts_the_same_refusal_is_a_page(
    case: Case, cast: Cast, context_of: ContextOf
) -> None:
    page = context_of(cast.owner, scripts=False).new_page()
    page.goto(f"/cases/{case.pk}/")
    page.get_by_label("Reason").fill(REASON)
    overnight(case)
    page.locator("#release-button").click()
    expect(page.get_by_role("heading", name="Not released")).to_be_visible()
    expect(page.get_by_label("Your reason, kept")).to_have_value(REASON)
    page.get_by_role("button", name="Review v2").click()
    expect(page.get_by_label("Reason")).to_have_value(REASON)


def test_a_session_that_ended_leads_to_the_login_page_and_back(
    case: Case, cast: Cast, context_of: ContextOf, open_tab: OpenTab
) -> None:
    context = context_of(cast.owner)
    page = open_tab(context, f"/cases/{case.pk}/")
    context.clear_cookies(name="sessionid")
    page.locator("#release-button").click()
    expect(page.get_by_role("heading", name="Sign in to your desk")).to_be_visible()
    assert not Decision.objects.exists()
    page.get_by_label("Name").fill(cast.owner.username)
    page.get_by_label("Password").fill("night-watch")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Decide on v1")).to_be_visible()


def test_no_single_key_releases(
    case: Case, cast: Cast, context_of: ContextOf, open_tab: OpenTab
) -> None:
    page = open_tab(context_of(cast.owner), f"/cases/{case.pk}/")
    for key in ("r", "R", "Enter", "y", "Space"):
        page.keyboard.press(key)
    page.get_by_label("Reason").focus()
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    expect(page.get_by_role("heading", name="Decide on v1")).to_be_visible()
    assert not Decision.objects.exists()


def test_a_lost_connection_looks_lost_and_turns_release_off(
    case: Case, cast: Cast, context_of: ContextOf, open_tab: OpenTab
) -> None:
    context = context_of(cast.owner)
    page = open_tab(context, f"/cases/{case.pk}/")
    context.set_offline(True)
    page.evaluate("htmx.trigger('#case-hint', 'every')")
    expect(page.get_by_text("No connection: what you see is old")).to_be_visible()
    expect(page.locator("#release-button")).to_be_disabled()
    context.set_offline(False)
    page.evaluate("htmx.trigger('#case-hint', 'every')")
    expect(page.locator("#release-button")).to_be_enabled()

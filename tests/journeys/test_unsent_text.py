"""Text that was typed survives an ended session, a left page and a script-free form, in its tab."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from cases.models import Case, Decision
from tests.cases.builders import Cast, a_case_waiting_for_review, stage_of
from tests.journeys.conftest import OpenTab

pytestmark = pytest.mark.browser
REASON = "Checked with the shipper at five;\ntruck is fine."
DROPPED = "The shipper took it back"

type ContextOf = Callable[..., BrowserContext]


@pytest.fixture
def case(cast: Cast) -> Case:
    """Version 1 is ready at 17:00."""
    return a_case_waiting_for_review(cast)


@pytest.fixture
def page(case: Case, cast: Cast, context_of: ContextOf, open_tab: OpenTab) -> Page:
    """The owner's tab on the case."""
    return open_tab(context_of(cast.owner), f"/cases/{case.pk}/")


def session_ends(page: Page) -> None:
    """The server no longer knows this browser."""
    page.context.clear_cookies(name="sessionid")


def sign_in_again(page: Page, username: str) -> None:
    """On the login page the browser was led to."""
    expect(page.get_by_role("heading", name="Sign in to your desk")).to_be_visible()
    page.get_by_label("Name").fill(username)
    page.get_by_label("Password").fill("night-watch")
    page.get_by_role("button", name="Sign in", exact=True).click()


def test_a_decision_sent_after_the_session_ended_gets_its_reason_back(
    page: Page, cast: Cast
) -> None:
    page.get_by_label("Reason").fill(REASON)
    session_ends(page)
    page.get_by_role("button", name="Send back v1").click()
    sign_in_again(page, cast.owner.username)
    expect(page.get_by_label("Reason")).to_have_value(REASON)
    assert not Decision.objects.exists()

    page.get_by_role("button", name="Send back v1").click()
    expect(page.get_by_role("heading", name="Recorded")).to_be_visible()
    assert Decision.objects.get().reason == REASON
    assert page.evaluate("Object.keys(sessionStorage)") == []


def test_a_case_closed_after_the_session_ended_gets_its_reason_back(
    page: Page, cast: Cast, case: Case
) -> None:
    page.get_by_text("Close without action", exact=True).click()
    page.get_by_label("Why nothing has to be done").fill(REASON)
    drops = page.get_by_label(re.compile("^Drop “"))
    for drop in drops.all():
        drop.fill(DROPPED)
    session_ends(page)
    page.get_by_role("button", name="Close S-318 without action").click()
    sign_in_again(page, cast.owner.username)
    expect(page.get_by_label("Why nothing has to be done")).to_have_value(REASON)
    assert [drop.input_value() for drop in drops.all()] == [DROPPED, DROPPED]
    assert stage_of(case) == "waiting_for_review"

    page.get_by_role("button", name="Close S-318 without action").click()
    expect(page.get_by_role("heading", name="Recorded")).to_be_visible()
    assert stage_of(case) == "closed"
    assert page.evaluate("Object.keys(sessionStorage)") == []


def test_another_act_on_the_page_takes_no_typed_reason_away(
    page: Page, cast: Cast, case: Case
) -> None:
    page.get_by_label("Reason").fill(REASON)
    page.get_by_role("button", name="Read the sources again").click()
    expect(page.get_by_role("heading", name="Recorded")).to_be_visible()
    expect(page.get_by_label("Reason")).to_have_value(REASON)


def test_nobody_else_gets_the_text_and_signing_out_ends_it(page: Page, cast: Cast) -> None:
    cast.colleague.set_password("night-watch")
    cast.colleague.save()
    page.get_by_label("Reason").fill(REASON)
    session_ends(page)
    page.get_by_role("button", name="Send back v1").click()
    sign_in_again(page, cast.colleague.username)
    expect(page.get_by_role("heading", name="Decide on v1")).to_be_visible()
    expect(page.get_by_label("Reason")).to_have_value("")

    page.get_by_label("Reason").fill("Mine.")
    page.locator(".person-menu summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in to your desk")).to_be_visible()
    assert page.evaluate("Object.keys(sessionStorage)") == []

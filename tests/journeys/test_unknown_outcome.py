"""An unknown outcome with keys alone; a pause whose calls in flight run out; lists on a phone."""

import pytest
from playwright.sync_api import expect

from cases.actions import runs
from cases.actions.pauses import set_pause
from cases.clock import business_now
from tests.cases.builders import (
    AGENT,
    EVENING_WORLD,
    Cast,
    a_case_waiting_for_review,
    a_person_closes,
    a_quote,
    a_released_case,
    a_shipment,
    agent_reads,
    agent_starts_attempt,
    an_open_case,
    stage_of,
)
from tests.cases.doubts import a_case_given_up, a_case_in_doubt
from tests.journeys.conftest import OpenTab, Theme
from tests.journeys.test_looks import ContextOf, violations_of

pytestmark = pytest.mark.browser


def addresses_of(cast: Cast) -> list[str]:
    """A case in doubt, one given up, one whose source went back, and the lists."""
    restored = a_case_waiting_for_review(cast, subject="S-290")
    agent_reads(restored, (a_shipment(43, subject="S-290"), a_quote()))
    agent_reads(restored, (a_shipment(41, subject="S-290"), a_quote()))
    closed = an_open_case(cast, subject="S-555")
    a_person_closes(closed, by=cast.lead)
    given_up, _ = a_case_given_up(cast)
    return [
        f"/cases/{given_up.pk}/",
        f"/cases/{restored.pk}/",
        "/?view=unknown",
        "/closed/",
        "/search?q=S-",
        "/search?q=nothing",
        "/search",
        "/pauses/",
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_is_cut_off(
    cast: Cast, context_of: ContextOf, open_tab: OpenTab, theme: Theme
) -> None:
    addresses = addresses_of(cast)
    page = open_tab(context_of(cast.lead, theme=theme), "/")
    phone = open_tab(context_of(cast.lead, theme=theme, width=375), "/")
    wrong = {}
    for address in addresses:
        page.goto(address)
        for fold in page.locator("details").all():
            fold.evaluate("fold => { fold.open = !fold.matches('.menu'); }")
        if found := violations_of(page):
            wrong[address] = found
        phone.goto(address)
        assert phone.evaluate("document.documentElement.scrollWidth") <= 375, address
    assert wrong == {}


def test_p16_a_finding_is_recorded_with_keys_alone(
    cast: Cast, context_of: ContextOf, open_tab: OpenTab
) -> None:
    case, _ = a_case_given_up(cast)
    page = open_tab(context_of(cast.lead), f"/cases/{case.pk}/")
    page.get_by_role("radio", name="It happened").focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio", name="It did not happen")).to_be_checked()
    page.keyboard.press("Tab")
    page.keyboard.type("Bo looked: no booking.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Recorded")).to_be_focused()
    page.get_by_role("link", name="Ask for another plan").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("Try another carrier.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The agent was asked for a new plan.")).to_be_visible()
    assert stage_of(case) == "investigating"


def test_p16_what_was_typed_about_a_finding_survives_leaving_the_page(
    cast: Cast, context_of: ContextOf, open_tab: OpenTab
) -> None:
    case, _ = a_case_given_up(cast)
    page = open_tab(context_of(cast.lead), f"/cases/{case.pk}/")
    page.get_by_label("How you know").fill("Asked Bo, who calls back.")
    page.goto("/")
    page.goto(f"/cases/{case.pk}/")
    expect(page.get_by_label("How you know")).to_have_value("Asked Bo, who calls back.")


def test_p21_calls_in_flight_run_out_before_the_eyes_of_who_paused(
    cast: Cast, context_of: ContextOf, open_tab: OpenTab
) -> None:
    grant, _ = agent_starts_attempt(a_released_case(cast), EVENING_WORLD)
    page = open_tab(context_of(cast.lead), "/pauses/")
    page.get_by_label("Why").fill("TMS answers nonsense")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("1 visit still in flight")).to_be_visible()
    runs.let_go(grant=grant)
    expect(page.get_by_text("0 in flight.")).to_be_visible()
    expect(page.locator("#announcer")).to_have_text("Nothing is in flight any more.")


def test_p16_a_case_in_doubt_is_watched_without_a_click(
    cast: Cast, context_of: ContextOf, open_tab: OpenTab
) -> None:
    """The page asks by itself and says that the case changed."""
    case, grant, order = a_case_in_doubt(cast)
    page = open_tab(context_of(cast.owner), f"/cases/{case.pk}/")
    expect(page.get_by_role("heading", name="Outcome unknown")).to_be_visible()
    set_pause(lane="", kind="", agent="", reason="Storm", by=cast.lead, at=business_now())
    runs.block(grant=grant, by=AGENT, reason=f"{order.effect.reference} cannot be looked up.")
    expect(page.get_by_text("The case changed", exact=True)).to_be_visible()

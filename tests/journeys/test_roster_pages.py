"""Roster, ownership and people in a real browser: seen first, then saved; usable by everyone."""

from collections.abc import Callable
from datetime import date, timedelta

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from cases.actions import roster
from cases.clock import business_now
from cases.models import Case, Escalation, Person
from cases.vocabulary.rosters import Position
from tests.cases.builders import MORNING, Cast
from tests.cases.duties import NIGHT, owned_by, stands, with_a_roster
from tests.journeys.conftest import OpenTab, Theme
from tests.journeys.test_looks import violations_of

pytestmark = pytest.mark.browser
WEDNESDAY = date(2026, 11, 25)

type ContextOf = Callable[..., BrowserContext]


@pytest.fixture
def rostered(cast: Cast) -> Cast:
    """Monday 18:00: Dana is on shift with two cases; nobody is primary on Wednesday evening."""
    with_a_roster(cast)
    stands(cast, "Evening", Position.PRIMARY, None, first=WEDNESDAY, last=WEDNESDAY)
    lee = Person.objects.create_user(username="lee", first_name="Lee", last_name="Okafor")
    stands(cast, "Evening", Position.BACKUP, lee)
    roster.set_leave(
        person=cast.owner,
        starts_at=MORNING + timedelta(days=7),
        ends_at=MORNING + timedelta(days=8),
        reason="Dentist",
        by=cast.lead,
        at=NIGHT,
    )
    for subject in ("S-318", "S-402"):
        case = owned_by(cast, cast.colleague, subject)
        Case.objects.filter(pk=case.pk).update(decide_by=business_now() + timedelta(hours=2))
    return cast


@pytest.fixture
def addresses(rostered: Cast) -> list[str]:
    """The pages, one of them with an answer."""
    return [
        "/roster/",
        "/ownership/",
        "/ownership/?scope=freight_exception:E02&time=2026-11-25T22:00",
        "/people/",
    ]


def sets_leave(page: Page, *, until: str) -> None:
    """A lead types Dana's leave from Monday 18:00 on and asks what moves."""
    page.get_by_text("Set leave", exact=True).click()
    page.get_by_label("Who is away").select_option(label="Dana Wu (Operator)")
    page.get_by_label("From in America/Chicago").fill("2026-11-23T18:00")
    page.get_by_label("Until back from then on").fill(until)
    page.get_by_role("button", name="Show what moves").and_(page.locator(":visible")).click()


def test_p28_a_lead_sees_which_cases_move_and_then_saves_with_a_reason(
    rostered: Cast, context_of: ContextOf, open_tab: OpenTab, complaints: list[str]
) -> None:
    page = open_tab(context_of(rostered.lead), "/roster/")
    expect(
        page.get_by_text("Wed 25 Nov 17:00–Thu 08:00 CST: nobody is primary; Lee Okafor")
    ).to_be_visible()
    sets_leave(page, until="2026-11-24T08:00")
    expect(page.get_by_text("2 open cases of DFW desk at once")).to_be_visible()
    expect(page.get_by_text("2 due today")).to_be_visible()
    assert not Case.objects.exclude(owner=rostered.colleague).exists()
    page.get_by_label("Why kept with the change").fill("Ill")
    page.get_by_role("button", name="Save it").click()
    expect(page.get_by_text("2 cases moved now")).to_be_visible()
    assert not Case.objects.filter(owner=rostered.colleague).exists()
    assert complaints == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_the_pages_of_the_roster(
    rostered: Cast,
    addresses: list[str],
    context_of: ContextOf,
    open_tab: OpenTab,
    theme: Theme,
) -> None:
    page = open_tab(context_of(rostered.admin, theme=theme), "/")
    found = {}
    for address in addresses:
        page.goto(address)
        for fold in page.locator("details:not(.menu)").all():
            fold.evaluate("fold => { fold.open = true; }")
        found[address] = violations_of(page)
    page.goto("/roster/")
    sets_leave(page, until="2026-11-24T08:00")
    found["what moves"] = violations_of(page)
    assert {address: wrong for address, wrong in found.items() if wrong} == {}


def test_nothing_of_the_roster_is_cut_off_on_a_phone(
    rostered: Cast, addresses: list[str], context_of: ContextOf, open_tab: OpenTab
) -> None:
    page = open_tab(context_of(rostered.admin, width=375), "/")
    for address in addresses:
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375, address


def test_p28_the_owners_state_stands_on_queue_and_case(
    rostered: Cast, context_of: ContextOf, open_tab: OpenTab
) -> None:
    away = owned_by(rostered, rostered.owner, "S-290")
    Escalation.objects.create(
        case=away,
        cause=Escalation.Cause.OFF_SHIFT,
        reason="Marta Ortega is off shift; Dana Wu is primary of the shift.",
        to=rostered.colleague,
        started_at=business_now(),
        next_at=business_now() + timedelta(minutes=15),
        next_to=rostered.lead,
    )
    page, words = open_tab(context_of(rostered.lead), "/?view=all"), "off shift since 17:00 CST"
    expect(page.locator(f"#case-{away.pk}").get_by_text(words)).to_be_visible()
    page.goto(f"/cases/{away.pk}/")
    expect(page.locator("#owner").get_by_text(words)).to_be_visible()

"""P25, P26, P27: a lead runs the whole morning in a browser, and another one sees it happen."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
from playwright.sync_api import BrowserContext, Locator, Page, expect

from cases.actions.clock import move_business_clock
from cases.models import HandoverRow
from tests.cases.builders import Cast
from tests.cases.mornings import AFTER, READING_TIME
from tests.crashes.fixtures import broker_of_this_worker, worker_environment
from tests.crashes.nursery import Nursery
from tests.journeys import pictures
from tests.journeys.conftest import OpenTab
from tests.journeys.night_before import NightBefore
from tests.journeys.paper import pages_of
from tests.simulator import Simulator
from tools.processes import ProcessGroup
from tools.stories import wave
from tools.stories.house import House

pytestmark = [pytest.mark.browser, pytest.mark.processes]

type ContextOf = Callable[..., BrowserContext]

SECTIONS = {
    "No available owner": [wave.UNOWNED],
    "Outcome unknown": [wave.IN_DOUBT],
    "Source not refreshed": [wave.AWAY, wave.AWAY_TOO],
    "Stale overnight": [wave.DEARER, wave.MOVED_AND_COVERED, wave.LOADED_LATER],
    "Ready to decide": [wave.URGENT, wave.READY_TOO, wave.READY],
    "Waking today": [wave.NO_RATE],
    "Under way": [wave.CONFIRMING],
    "Done overnight": [wave.DONE, wave.DONE_BY_STAFF],
}
TEN, TWO = "Wed 25 Nov 10:00–12:00 EST", "Wed 25 Nov 14:00–16:00 EST"


@pytest.fixture
def before(
    cast: Cast, simulator: Simulator, beat: None, nursery: Nursery, tmp_path: Path
) -> Iterator[NightBefore]:
    """The desk at 17:00, with real workers to start and a simulator."""
    with redis.Redis.from_url(broker_of_this_worker()) as client:
        client.flushdb()
    with ProcessGroup(purpose="test", logs=tmp_path / "log") as processes:
        yield NightBefore(
            house=House(processes=processes, environment=worker_environment(simulator)),
            nursery=nursery,
            control=simulator.control,
            cast=cast,
            planner_log=tmp_path / "plans",
        )


def row(page: Page, subject: str) -> Locator:
    """The row of that shipment on the sheet."""
    return page.locator(f"#row-{HandoverRow.objects.get(case__subject=subject).pk}")


def sections_of(page: Page) -> dict[str, list[str]]:
    """Heading to the shipments below it, as the page shows them."""
    found = {}
    for section in page.locator(".sheet-section").all():
        heading = section.get_by_role("heading", level=2).inner_text().split("\n")[0]
        found[re.sub(r"\s*\d+$", "", heading)] = section.locator(".subject").all_inner_texts()
    return found


def read_back(page: Page, subject: str, *, window: str = TEN, carrier: str = "none") -> None:
    """Type the critical facts of an urgent row."""
    row(page, subject).get_by_label("Delivery window").fill(window)
    row(page, subject).get_by_label("Carrier").fill(carrier)


def accept(page: Page, subject: str) -> None:
    """Read the row for a moment and accept it."""
    move_business_clock(by=READING_TIME)
    row(page, subject).get_by_role("button", name=f"Accept {subject}").click()


def assign(page: Page, subject: str, *, to: str) -> None:
    """Read the row for a moment and give the case to somebody."""
    move_business_clock(by=READING_TIME)
    row(page, subject).get_by_text("Assign, escalate, ask or refuse").click()
    row(page, subject).get_by_label("Assign to").select_option(label=to)
    row(page, subject).get_by_role("button", name="Assign", exact=True).click()
    expect(row(page, subject).locator(".sheet-owner")).to_have_text(to)


def say(page: Page, subject: str, act: str, why: str) -> None:
    """Escalate, ask or refuse, with a reason."""
    row(page, subject).get_by_text("Assign, escalate, ask or refuse").click()
    row(page, subject).get_by_label("Why").fill(why)
    row(page, subject).get_by_role("button", name=act, exact=True).click()
    expect(row(page, subject)).to_contain_text(why)


def hand_over(page: Page) -> None:
    """07:55: the outgoing operator sees what the refresh found, leaves a note and publishes."""
    expect(page.locator(".sheet-numbers")).to_contain_text("85 % 12 of 14 cases")
    assert sections_of(page) == SECTIONS
    urgent = row(page, wave.URGENT)
    urgent.get_by_text("Leave a note").click()
    urgent.get_by_label("For the next shift").fill("Their dispatcher rings at half past, ask Bo.")
    urgent.get_by_role("button", name="Leave this note").click()
    page.get_by_role("button", name="Hand over: publish the sheet").click()
    expect(page.locator("main")).to_contain_text("Handed over by Marta Ortega")


def refuse_two(page: Page, before: NightBefore) -> None:
    """A read-back that does not hold is refused for its row alone; one row the lead refuses."""
    read_back(page, wave.URGENT, window=TWO)
    accept(page, wave.URGENT)
    refused = row(page, wave.URGENT).get_by_role("alert")
    expect(refused).to_contain_text(f"Delivery window was read back as “{TWO}” and is “{TEN}”")
    pictures.take(
        page, "refused", height=900, start_at=f"#{row(page, wave.URGENT).get_attribute('id')}"
    )
    assert before.case_of(wave.URGENT).owner == before.cast.owner
    accept(page, wave.DEARER)
    assert before.case_of(wave.DEARER).owner == before.cast.lead
    read_back(page, wave.URGENT)
    accept(page, wave.URGENT)
    expect(row(page, wave.URGENT)).to_contain_text("Accepted by Priya Raman")
    say(page, wave.READY_TOO, "Refuse", "Nobody here knows this lane. Stay on it until nine.")
    assert before.case_of(wave.READY_TOO).owner == before.cast.owner


def give_away(lead: Page, dana: Page, before: NightBefore) -> None:
    """The lead gives a case away; on the other browser it has moved, then and there."""
    assign(lead, wave.MOVED_AND_COVERED, to="Dana Wu")
    assert before.case_of(wave.MOVED_AND_COVERED).owner == before.cast.colleague
    dana.evaluate("htmx.trigger('#sheet-hint', 'every')")
    expect(dana.locator("#sheet-hint")).to_contain_text("changed since you opened this page")
    dana.locator("#sheet-hint").get_by_role("link", name="Show").click()
    given = row(dana, wave.MOVED_AND_COVERED)
    expect(given.locator(".sheet-owner")).to_have_text("Dana Wu")
    given.get_by_role("link", name=wave.MOVED_AND_COVERED).click()
    expect(dana.locator(".ownership")).to_contain_text("Owner You")
    dana.go_back()


def answer_the_rest(lead: Page, dana: Page) -> None:
    """Every other row gets its answer, from two people at two browsers."""
    read_back(lead, wave.UNOWNED)
    assign(lead, wave.UNOWNED, to="Dana Wu")
    read_back(lead, wave.IN_DOUBT, carrier="Bluewater Express (BLUX), set by watchbill-agent")
    accept(lead, wave.IN_DOUBT)
    expect(row(lead, wave.IN_DOUBT)).to_contain_text("Accepted by Priya Raman")
    accept(lead, wave.AWAY)
    expect(row(lead, wave.AWAY)).to_contain_text("Accepted as blocked by Priya Raman")
    assign(lead, wave.AWAY_TOO, to="Dana Wu")
    say(lead, wave.LOADED_LATER, "Ask", "Does the dock take a truck at nine in the evening?")
    say(lead, wave.READY, "Escalate", "The rate is above what I may spend without a call.")
    accept(lead, wave.NO_RATE)
    dana.reload()
    for subject in (wave.CONFIRMING, wave.DONE, wave.DONE_BY_STAFF):
        accept(dana, subject)
        expect(row(dana, subject)).to_contain_text("Accepted by Dana Wu")


def sign(lead: Page) -> str:
    """The lead signs what she sees; gives the digest on the page."""
    lead.reload()
    expect(lead.locator(".sheet-numbers")).to_contain_text("14 of 14")
    lead.get_by_role("button", name="Sign and accept the desk").click()
    expect(lead.locator("main")).to_contain_text("Signed under code")
    expect(lead.locator("main")).to_contain_text("No row changed since signing.")
    expect(lead.locator("main form")).to_have_count(0)
    return lead.locator(".sheet-digest").inner_text()


def nothing_changes_any_more(dana: Page) -> None:
    """A page that was opened before the signature answers nothing."""
    kept = row(dana, wave.DONE)
    kept.get_by_text("Answer again").click()
    kept.get_by_role("button", name=f"Accept {wave.DONE}").click()
    expect(dana.get_by_role("alert")).to_contain_text("Priya Raman signed this sheet")


def differs_since(lead: Page, digest: str) -> None:
    """What happened since stands beside the sheet, which is still the one that was signed."""
    lead.reload()
    expect(lead.locator("main")).to_contain_text("rows changed since signing")
    for subject in (wave.AWAY, wave.AWAY_TOO):
        changed = row(lead, subject).locator(".saved-note.tone-changed")
        expect(changed).to_contain_text("Stage: Blocked → Waiting for review")
    expect(lead.locator(".sheet-digest")).to_have_text(digest)


def is_printed(lead: Page, digest: str) -> None:
    """Every page of both papers says what it is; the whole digest is on it."""
    for paper in ("A4", "Letter"):
        pages = pages_of(lead.pdf(format=paper))
        assert len(pages) > 1
        for text in pages:
            assert "signedbyPriyaRaman" in text and "Paperisnotauthoritytorelease" in text
        whole = "".join(pages)
        assert digest in whole
        assert all(subject in whole for subject in wave.TITLES)


def test_p25_p26_p27_a_lead_runs_the_whole_morning_with_the_pages_alone(
    before: NightBefore, context_of: ContextOf, open_tab: OpenTab, complaints: list[str]
) -> None:
    before.pass_it()
    hand_over(open_tab(context_of(before.cast.owner), "/handover/"))
    before.set_clocks(AFTER)
    lead, dana = (
        open_tab(context_of(person), "/handover/")
        for person in (before.cast.lead, before.cast.colleague)
    )
    assert sections_of(lead) == SECTIONS
    take_pictures(lead.url, before.cast, context_of, open_tab)
    refuse_two(lead, before)
    give_away(lead, dana, before)
    answer_the_rest(lead, dana)
    digest = sign(lead)
    nothing_changes_any_more(dana)
    before.source_comes_back()
    differs_since(lead, digest)
    is_printed(lead, digest)
    pictures.take(lead, "signed")
    pictures.take_paper(lead, "print")
    assert [text for text in complaints if "409" not in text] == []


def take_pictures(address: str, cast: Cast, context_of: ContextOf, open_tab: OpenTab) -> None:
    """The sheet at 08:01 as the lead finds it."""
    if not pictures.are_wanted():
        return
    pictures.take(open_tab(context_of(cast.lead, width=1360), address), "light")
    pictures.take(open_tab(context_of(cast.lead, width=1360, theme="dark"), address), "dark")
    pictures.take(open_tab(context_of(cast.lead, width=375), address), "phone", height=1800)

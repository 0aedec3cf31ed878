"""The numbers in a browser: who sees them, what stands in the address, and words beside plots."""

import re

import pytest
from django.test import Client

from cases.actions import decisions
from cases.clock import business_now
from cases.models import Person
from tests.cases.builders import (
    EVENING,
    Cast,
    a_case_waiting_for_review,
    a_shipment,
    agent_reads,
    an_answer,
    at_business_time,
    unreadable,
)

TITLES = (
    "Resumed with a stale proposal",
    "Time with refresh failed",
    "Corrections per release",
    "Time to decision",
    "Handover latency",
    "Done",
)


def client_of(person: Person) -> Client:
    """A signed-in browser."""
    client = Client()
    client.force_login(person)
    return client


def page_of(person: Person, query: str = "") -> str:
    """The numbers as this person sees them."""
    answer = client_of(person).get(f"/numbers/{query}")
    assert answer.status_code == 200
    return str(answer.content.decode())


@pytest.fixture
def busy(cast: Cast) -> Cast:
    """Monday 17:00: one case sent back, one that cannot be read."""
    sent_back = a_case_waiting_for_review(cast)
    unread = a_case_waiting_for_review(cast, subject="S-<290>")
    decisions.send_back(
        answer=an_answer(sent_back, reason="Too dear."), by=cast.owner, at=business_now()
    )
    agent_reads(unread, (unreadable(a_shipment(subject="S-<290>")),))
    return cast


def test_leads_admins_and_auditors_see_numbers_and_operators_are_told_whom_to_ask(
    busy: Cast,
) -> None:
    for person in (busy.lead, busy.admin, busy.auditor):
        client = client_of(person)
        assert 'href="/numbers/"' in client.get("/").content.decode()
        assert client.get("/numbers/").status_code == 200
    operator = client_of(busy.owner)
    assert 'href="/numbers/"' not in operator.get("/").content.decode()
    refused = operator.get("/numbers/")
    assert refused.status_code == 403
    assert "Ask a lead." in refused.content.decode()


def test_every_number_says_what_it_counts_and_links_to_its_cases(busy: Cast) -> None:
    page = page_of(busy.lead)
    for title in TITLES:
        assert f"{title} <span" in page
    assert "A correction is a proposal version that somebody sent back or rejected" in page
    assert re.search(r'href="/cases/\d+/">S-318</a> proposal 1 sent back', page)
    assert "S-&lt;290&gt;</a> for" in page


def test_each_plot_has_a_table_that_says_the_same_and_no_style_of_its_own(busy: Cast) -> None:
    page = page_of(busy.lead)
    plots = re.findall(r'<svg class="plot-picture"\s+role="img"\s+aria-label="[^"]+', page)
    assert len(plots) == page.count(", as a table</summary>") == 3
    assert page.count('<rect class="plot-bar"') == 7 + 1 + 1  # nothing counts on other days
    assert "style=" not in page


def test_the_address_says_how_many_days_by_what_and_which_desk(busy: Cast) -> None:
    page = page_of(busy.lead, "?days=30&by=shift")
    current = re.findall(r'aria-current="page">([^<]+)</a>', page)
    assert current == ["Last 30 days", "By shift"]
    assert f'href="?desk={busy.desk.pk}&amp;days=7&amp;by=shift"' in page
    assert "Mon 23 Nov, Evening" in page
    client = client_of(busy.lead)
    for query in ("days=8", "by=hour", "days=x"):
        assert client.get(f"/numbers/?{query}").status_code == 422
    assert client.get("/numbers/?desk=999").status_code == 404


def test_without_anything_to_count_the_page_says_so(cast: Cast) -> None:
    at_business_time(EVENING)
    page = page_of(cast.lead)
    assert "Nothing to count in this time" in page
    assert "<svg class=" in page and "plot-picture" not in page

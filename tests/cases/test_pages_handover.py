"""The handover sheet in a browser: what it shows, and what its forms do."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from cases.actions import sheets
from cases.actions.clock import move_business_clock
from cases.clock import business_now
from cases.models import Case, Handover, HandoverRow, Person
from tests.cases.builders import (
    TWO_O_CLOCK,
    Cast,
    a_shipment,
    agent_reads,
    an_open_case,
    at_business_time,
    audit_of,
    unreadable,
)
from tests.cases.mornings import (
    AFTER,
    READING_TIME,
    read_again,
    read_in_the_morning,
)

MOST_QUERIES = 24


@pytest.fixture
def handover(cast: Cast) -> Handover:
    """Two cases of Marta's, read for the handover to Dana."""
    found, _ = read_in_the_morning(cast, "S-318", "S-319")
    at_business_time(AFTER)
    return found


def client_of(person: Person) -> Client:
    """A signed-in browser."""
    client = Client()
    client.force_login(person)
    return client


def page_of(client: Client, handover: Handover) -> str:
    """The sheet's page; a while passes, so that it can have been read."""
    answer = client.get(f"/handover/{handover.pk}/")
    assert answer.status_code == 200
    move_business_clock(by=READING_TIME)
    return str(answer.content.decode())


def row_of(subject: str) -> HandoverRow:
    """The row of a subject."""
    return HandoverRow.objects.get(case__subject=subject)


def token_in(page: str, row: HandoverRow, *, act: str = "answer") -> str:
    """What a form of the row carries."""
    return shown_in(page, f"/handover/rows/{row.pk}/{act}/")


def shown_in(page: str, address: str) -> str:
    """What the form to that address says that was shown."""
    form = page.split(f'action="{address}"')[1]
    found = re.search(r'name="shown" value="([^"]+)"', form)
    assert found
    return found[1]


def test_the_current_sheet_is_one_click_from_every_page(cast: Cast, handover: Handover) -> None:
    client = client_of(cast.colleague)
    assert 'href="/handover/"' in client.get("/").content.decode()
    assert client.get("/handover/").headers["Location"] == f"/handover/{handover.pk}/"


def post(client: Client, address: str, **values: str) -> Any:
    """Send a form of the sheet."""
    return client.post(f"/handover/{address}/", values)


def answered(client: Client, page: str, subject: str, kind: str, **values: str) -> Any:
    """Send the row's form as the page showed it."""
    row = row_of(subject)
    return post(client, f"rows/{row.pk}/answer", kind=kind, shown=token_in(page, row), **values)


def owner_of(subject: str) -> Person | None:
    """Who answers for it now."""
    return Case.objects.get(subject=subject).owner


def test_p27_two_clicks_accept_a_row_and_the_page_says_so(cast: Cast, handover: Handover) -> None:
    client = client_of(cast.colleague)
    page = page_of(client, handover)
    done = answered(client, page, "S-318", "accept")
    assert done.headers["Location"] == f"/handover/{handover.pk}/#row-{row_of('S-318').pk}"
    assert owner_of("S-318") == cast.colleague
    page = page_of(client, handover)
    assert "You own S-318 now." in page
    assert "1 of 2" in page


def test_p27_urgent_rows_offer_plausible_values_and_not_the_answer(
    cast: Cast, handover: Handover
) -> None:
    Case.objects.filter(subject="S-318").update(decide_by=business_now() + timedelta(minutes=30))
    read_again(Case.objects.get(subject="S-319"), 44, delivery_window=TWO_O_CLOCK)
    page = page_of(client_of(cast.colleague), handover)
    form = page.split(f"/handover/rows/{row_of('S-318').pk}/answer/")[1].split("</form>")[0]
    choices = re.findall(r'<option value="([^"]+)"', form.split("<datalist")[1])
    assert choices[:2] == ["Wed 25 Nov 10:00–12:00 EST", "Wed 25 Nov 14:00–16:00 EST"]
    assert re.search(r'name="read-delivery_window"[^>]*value=""', form)


def test_p27_a_wrong_read_back_shows_the_difference_and_keeps_what_was_typed(
    cast: Cast, handover: Handover
) -> None:
    Case.objects.filter(subject="S-318").update(decide_by=business_now() + timedelta(minutes=30))
    client = client_of(cast.colleague)
    page = page_of(client, handover)
    said = {"read-delivery_window": "Wed 25 Nov 09:00", "read-carrier_assignment": "none"}
    refused = answered(client, page, "S-318", "accept", reason="Bo knows.", **said)
    assert refused.status_code == 409
    text = refused.content.decode()
    assert "Wed 25 Nov 09:00" in text and "stays with Marta Ortega" in text
    assert "Bo knows.</textarea>" in text
    assert owner_of("S-318") == cast.owner
    assert "Bo knows.</textarea>" in page_of(client, handover)


def test_p27_an_old_page_is_answered_with_409_and_the_difference(
    cast: Cast, handover: Handover
) -> None:
    client = client_of(cast.colleague)
    page = page_of(client, handover)
    read_again(Case.objects.get(subject="S-318"), 44, delivery_window=TWO_O_CLOCK)
    refused = answered(client, page, "S-318", "accept")
    assert refused.status_code == 409
    text = refused.content.decode()
    assert "What you saw, and how it stands now" in text
    assert "changed since the sheet was opened" in text
    assert owner_of("S-318") == cast.owner


@pytest.mark.parametrize("typed", ["none\x00", "none\u202e", "none" * 60])
def test_p27_a_read_back_that_cannot_be_a_value_counts_as_not_read(
    cast: Cast, handover: Handover, typed: str
) -> None:
    Case.objects.filter(subject="S-318").update(decide_by=business_now() + timedelta(minutes=30))
    client = client_of(cast.colleague)
    page = page_of(client, handover)
    refused = answered(client, page, "S-318", "accept", **{"read-carrier_assignment": typed})
    assert refused.status_code == 409
    assert "Carrier was read back as “nothing”" in refused.content.decode()
    assert owner_of("S-318") == cast.owner


def test_p27_a_page_accepted_at_once_was_not_read(cast: Cast, handover: Handover) -> None:
    client = client_of(cast.colleague)
    page = str(client.get(f"/handover/{handover.pk}/").content.decode())
    Case.objects.update(decide_by=None)
    assert answered(client, page, "S-318", "accept").status_code == 409
    assert owner_of("S-318") == cast.owner


@pytest.mark.parametrize("forged", ["", "nonsense", "another row", "another person"])
def test_p27_a_form_of_another_row_or_person_does_not_count(
    cast: Cast, handover: Handover, forged: str
) -> None:
    client = client_of(cast.colleague)
    token = {
        "another row": token_in(page_of(client, handover), row_of("S-319")),
        "another person": token_in(page_of(client_of(cast.lead), handover), row_of("S-318")),
    }.get(forged, forged)
    address = f"rows/{row_of('S-318').pk}/answer"
    refused = post(client, address, kind="accept", shown=token, reason="Kept text")
    assert refused.status_code == 422
    assert owner_of("S-318") == cast.owner
    assert "Kept text</textarea>" in refused.content.decode()


def test_p27_typed_text_survives_on_the_page_of_the_case_too(
    cast: Cast, handover: Handover
) -> None:
    client = client_of(cast.colleague)
    page = page_of(client, handover)
    assert answered(client, page, "S-318", "assign", reason="For Kim").status_code == 422
    case = Case.objects.get(subject="S-318")
    assert "For Kim" in client.get(f"/cases/{case.pk}/").content.decode()


def test_p26_an_unread_case_says_so_and_offers_only_to_be_accepted_as_blocked(
    cast: Cast, handover: Handover
) -> None:
    case = Case.objects.get(subject="S-318")
    agent_reads(case, (unreadable(a_shipment()),))
    client = client_of(cast.colleague)
    page = page_of(client, handover)
    assert "Accept S-318 as blocked" in page
    assert "refresh failed, saved" in page
    assert "50 %" in page
    answered(client, page, "S-318", "accept", as_blocked="yes")
    assert "Accepted as blocked" in page_of(client, handover)


def test_p26_a_broken_row_is_repaired_on_the_page(cast: Cast, handover: Handover) -> None:
    read_again(Case.objects.get(subject="S-318"), 44, delivery_window=TWO_O_CLOCK)
    client, row = client_of(cast.colleague), row_of("S-318")
    page = page_of(client, handover)
    assert "Repair the row first" in page
    assert post(client, f"rows/{row.pk}/take").status_code == 422
    post(client, f"rows/{row.pk}/take", shown=token_in(page, row, act="take"))
    page = page_of(client, handover)
    assert "Repair the row first" not in page
    post(client, f"rows/{row.pk}/read")
    assert [event.event for event in audit_of(row.case)][-1] == "refresh_requested"


def test_p26_notes_publishing_and_signing_by_pages_alone(cast: Cast, handover: Handover) -> None:
    night, day, lead = (client_of(p) for p in (cast.owner, cast.colleague, cast.lead))
    post(night, f"rows/{row_of('S-318').pk}/note", reason="Ask for Bo.", seen="")
    stale = post(day, f"rows/{row_of('S-318').pk}/note", reason="Mine", seen="")
    assert stale.status_code == 409 and "Mine</textarea>" in stale.content.decode()
    address = f"/handover/{handover.pk}/publish/"
    published = post(
        night, f"{handover.pk}/publish", shown=shown_in(page_of(night, handover), address)
    )
    assert published.status_code == 302
    for subject in ("S-318", "S-319"):
        answered(day, page_of(day, handover), subject, "accept")
    token = shown_in(page_of(lead, handover), f"/handover/{handover.pk}/sign/")
    post(lead, f"{handover.pk}/sign", shown=token)
    page = page_of(lead, handover)
    assert "Ask for Bo." in page
    assert "No row changed since signing." in page
    assert "Handed over by Marta Ortega" in page
    assert "<form" not in page.split('class="paged"')[1].split("sheet-signature")[0]
    read_again(Case.objects.get(subject="S-319"), 44, delivery_window=TWO_O_CLOCK)
    assert "1 row changed since signing." in page_of(lead, handover)


def test_an_auditor_reads_the_sheet_and_is_offered_nothing(cast: Cast, handover: Handover) -> None:
    page = page_of(client_of(cast.auditor), handover)
    assert "cannot own cases" in page
    assert "/answer/" not in page and "/note/" not in page and "/publish/" not in page


def test_p27_the_outgoing_shift_is_offered_to_ask_and_to_escalate(
    cast: Cast, handover: Handover
) -> None:
    page = page_of(client_of(cast.owner), handover)
    assert "The incoming shift accepts, assigns or refuses" in page
    assert 'value="question"' in page and 'value="escalate"' in page
    for kept_back in ("Accept S-318", 'value="assign"', 'value="refuse"'):
        assert kept_back not in page


def test_the_hint_counts_rows_that_changed_and_moves_none(cast: Cast, handover: Handover) -> None:
    client = client_of(cast.lead)
    page = page_of(client, handover)
    address = re.search(r'hx-get="(/handover/\d+/hint/[^"]+)"', page)
    assert address
    quiet = client.get(address[1]).content.decode()
    assert "changed since you opened" not in quiet
    read_again(Case.objects.get(subject="S-318"), 44)
    assert "1 row changed since you opened" in client.get(address[1]).content.decode()


def test_earlier_sheets_are_listed_and_a_desk_without_any_says_when(
    cast: Cast, handover: Handover
) -> None:
    client = client_of(cast.lead)
    page = client.get("/handovers/").content.decode()
    assert "Evening → Day" in page and "not signed" in page
    HandoverRow.objects.all().delete()
    Handover.objects.all().delete()
    page = client.get("/handover/").content.decode()
    assert "No sheet yet" in page and "the next shift begins" in page


def test_the_page_takes_the_same_queries_for_any_number_of_rows(
    cast: Cast, handover: Handover
) -> None:
    client = client_of(cast.lead)
    counts = []
    for subjects in ((), ("S-400", "S-401", "S-402")):
        for subject in subjects:
            an_open_case(cast, subject=subject)
        sheets.add_missing_rows(handover_id=handover.pk, by=cast.lead, at=business_now())
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/handover/{handover.pk}/")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= MOST_QUERIES

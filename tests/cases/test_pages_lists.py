"""Closed cases and the search: every case can be found again."""

from datetime import datetime, timedelta

import pytest
from django.test import Client

from cases.actions.clock import move_business_clock
from cases.models import Case, Effect, Person
from cases.queries import case_list
from tests.cases.builders import (
    EVENING,
    Cast,
    a_person_closes,
    a_released_case,
    an_open_case,
    at_business_time,
)


def client_of(person: Person) -> Client:
    """A signed-in browser."""
    client = Client()
    client.force_login(person)
    return client


def a_closed_case(cast: Cast, subject: str) -> Case:
    """Closed a minute after the one before."""
    case = an_open_case(cast, subject=subject)
    move_business_clock(by=timedelta(minutes=1))
    a_person_closes(case, by=cast.owner, reason=f"{subject} was cancelled.")
    return case


def test_closed_cases_stand_in_a_list_the_last_closed_first(cast: Cast) -> None:
    at_business_time(EVENING)
    client = client_of(cast.auditor)
    assert "No case was closed yet" in client.get("/closed/").content.decode()
    an_open_case(cast, subject="S-1")
    for subject in ("S-2", "S-3"):
        a_closed_case(cast, subject)
    page = client.get("/closed/").content.decode()
    assert "S-1<" not in page
    assert page.index("S-3 was cancelled.") < page.index("S-2 was cancelled.")
    assert "Closed by Marta Ortega" in page
    assert 'href="/closed/"' in client.get("/").content.decode()


def test_a_long_list_goes_on_exactly_where_it_ended(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(case_list, "PAGE", 2)
    at_business_time(EVENING)
    for number in range(5):
        a_closed_case(cast, f"S-{number}")
    seen, after = [], ""
    while True:
        part = case_list.closed_cases(after=_cursor(after))
        seen += [row.subject for row in part.rows]
        after = part.after
        if not after:
            break
    assert seen == ["S-4", "S-3", "S-2", "S-1", "S-0"]
    first = case_list.search_cases("S-")
    rest = case_list.search_cases("S-", after=int(first.after))
    assert [row.subject for row in (*first.rows, *rest.rows)] == ["S-4", "S-3", "S-2", "S-1"]
    page = client_of(cast.owner).get("/closed/").content.decode()
    assert "Closed earlier" in page


def _cursor(text: str) -> tuple[datetime, int] | None:
    if not text:
        return None
    moment, number = text.split(",")
    return datetime.fromisoformat(moment), int(number)


def test_a_case_is_found_by_subject_title_reference_and_number_open_or_closed(cast: Cast) -> None:
    released = a_released_case(cast)
    closed = a_closed_case(cast, "S-777")
    reference = Effect.objects.filter(decision__case=released)[0].reference
    client = client_of(cast.owner)

    def found(text: str) -> str:
        return client.get("/search", {"q": text}).content.decode()

    assert f"/cases/{released.pk}/" in found("s-318")
    assert f"/cases/{closed.pk}/" in found("777")
    assert f"/cases/{closed.pk}/" in found(str(closed.pk))
    assert f"/cases/{released.pk}/" in found(reference.lower())
    assert f"/cases/{released.pk}/" in found("carrier fell off")
    assert f"/cases/{released.pk}/" not in found("777")


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        ("", 200, "Type what you know"),
        ("nowhere", 200, "No case matches"),
        ("100%", 200, "No case matches"),
        ("9" * 100, 200, "No case matches"),
        ("a\x00b", 422, "plain text"),
    ],
)
def test_a_search_that_finds_nothing_says_so(
    cast: Cast, text: str, status: int, words: str
) -> None:
    an_open_case(cast)
    answer = client_of(cast.owner).get("/search", {"q": text})
    assert answer.status_code == status
    assert words in answer.content.decode()


def test_a_broken_address_of_the_list_is_explained(cast: Cast) -> None:
    client = client_of(cast.owner)
    for address in ("/closed/?after=x", "/closed/?after=2026,1", "/search?q=S&after=x"):
        assert client.get(address).status_code == 422


def test_only_pages_that_ask_say_that_they_are_live(cast: Cast) -> None:
    """The others say as of when they are."""
    case = a_released_case(cast)
    client = client_of(cast.owner)
    for address in ("/", f"/cases/{case.pk}/"):
        page = client.get(address).content.decode()
        assert "connection-live" in page
        assert "connection-asked" not in page
    closed = a_closed_case(cast, "S-777")
    for address in (f"/cases/{case.pk}/timeline/", f"/cases/{closed.pk}/", "/closed/", "/pauses/"):
        page = client.get(address).content.decode()
        assert "connection-live" not in page
        assert "as of" in page
        assert f'href="{address}">reload' in page

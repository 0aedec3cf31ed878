"""No stored value, no address and no header makes a page fail: what cannot be shown is said."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from cases.actions import evidence, runs
from cases.clock import business_now
from cases.models import Case, Desk, Observation, Person, Proposal, Role
from cases.queries.record import record_of
from cases.vocabulary.freight import FREIGHT
from cases.vocabulary.playbooks import PLAYBOOKS
from tests.cases.builders import (
    AGENT,
    EVENING,
    MORNING,
    MORNING_WORLD,
    Cast,
    a_case_waiting_for_review,
    a_grant,
    a_quote,
    a_shipment,
    agent_reads,
    an_answer,
    at_business_time,
    drop_fields,
    stage_of,
)

NOT_AN_ADDRESS = "http://[x"
FIRST_DAY = {"start": "0001-01-01T00:00:00Z", "end": "0001-01-01T02:00:00Z", "zone": "Asia/Tokyo"}
LAST_DAY = "9999-12-31T23:59:59Z"


def client_of(person: Person) -> Client:
    """A signed-in browser."""
    client = Client()
    client.force_login(person)
    return client


def page_of(case: Case, person: Person, query: str = "") -> str:
    """The case page, which must open, with runs of white space made one."""
    answer = client_of(person).get(f"/cases/{case.pk}/{query}")
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


@pytest.fixture
def revised(cast: Cast) -> Case:
    """Version 1 is stale, version 2 is ready."""
    case = a_case_waiting_for_review(cast)
    at_business_time(MORNING)
    agent_reads(case, MORNING_WORLD)
    case.refresh_from_db()
    return case


@pytest.fixture
def without_playbook(monkeypatch: pytest.MonkeyPatch, revised: Case) -> Iterator[Case]:
    """The same case on a desk that no longer runs its kind."""
    monkeypatch.delitem(PLAYBOOKS, revised.kind)
    yield revised


@pytest.mark.parametrize(
    "address",
    [
        "/?after=0001-01-01T00:00:00%2B14:00,1",
        "/?after=9999-12-31T23:59:59-14:00,1",
        "/hint/?since=9999-12-31T23:59:59-14:00",
        "/hint/?since=0001-01-01T00:00:00%2B14:00",
    ],
)
def test_an_instant_outside_the_calendar_is_refused_in_words(cast: Cast, address: str) -> None:
    answer = client_of(cast.owner).get(address)
    assert answer.status_code == 422
    assert "is not a time that business is done at" in answer.content.decode()


def test_an_anonymous_request_from_no_address_at_all_gets_the_login_page(cast: Cast) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": NOT_AN_ADDRESS}
    answer = Client().get("/cases/1/", headers=headers)
    assert (answer.status_code, answer["HX-Redirect"]) == (401, "/login/?next=/")
    answer = Client().post("/cases/1/close/", {}, headers={"Referer": NOT_AN_ADDRESS})
    assert (answer.status_code, answer["Location"]) == (302, "/login/?next=/")


def test_nobody_is_sent_elsewhere_after_the_login(cast: Cast) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver//elsewhere.example/"}
    assert Client().get("/cases/1/", headers=headers)["HX-Redirect"] == "/login/?next=/"


def test_the_demo_clock_takes_any_header(cast: Cast, settings: Settings) -> None:
    settings.DEMO = True
    at_business_time(EVENING)
    headers = {"HX-Request": "true", "HX-Current-URL": NOT_AN_ADDRESS}
    assert client_of(cast.owner).get("/demo/clock/", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "fact, value, shown",
    [
        ("delivery_window", FIRST_DAY, "start 0001-01-01T00:00:00Z"),
        ("delivery_window", {"start": "soon"}, "start soon"),
        ("weight", "1e999999", "1e999999 kg"),
        ("carrier_assignment", {"code": "OAKX"}, "code OAKX"),
        ("customer_notice", "by telephone", "by telephone"),
        ("customer_contact", ["a", "b"], "a, b"),
    ],
)
def test_a_fact_that_cannot_be_said_stands_as_it_was_read(
    cast: Cast, fact: str, value: Any, shown: str
) -> None:
    case = a_case_waiting_for_review(cast)
    grant = a_grant(case)
    evidence.record_readings(
        grant=grant, by=AGENT, readings=[a_shipment(42, **{fact: value})], asked_at=business_now()
    )
    runs.let_go(grant=grant)
    page = page_of(case, cast.owner)
    assert shown in page
    assert "Proposal v1" in page
    assert client_of(cast.owner).get("/?view=all").status_code == 200


def test_an_expiry_that_has_no_local_time_stands_as_it_is_stored(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    Proposal.objects.update(valid_until=datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC))
    Person.objects.filter(pk=cast.owner.pk).update(zone="Asia/Tokyo")
    Desk.objects.update(zone="Asia/Tokyo")
    page = page_of(case, cast.owner)
    assert LAST_DAY in page
    assert client_of(cast.owner).get("/?view=all").status_code == 200


def test_a_desk_whose_zone_is_unusable_still_shows_its_cases(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    Desk.objects.update(zone="CST")
    assert "2026-11-23T23:00:0" in page_of(case, cast.owner)


def test_a_person_whose_zone_is_unusable_reads_utc_and_is_told(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    Person.objects.filter(pk=cast.owner.pk).update(zone="CST")
    page = page_of(case, cast.owner)
    assert "Your zone “CST” cannot be used, so your times are in UTC." in page
    answer, client = an_answer(case), client_of(cast.owner)
    fields = {
        "kind": "release",
        "case_version": answer.case_version,
        "proposal_number": answer.proposal_number,
        "digest": answer.digest,
        "nonce": str(answer.nonce),
    }
    for _ in range(2):
        assert client.post(f"/cases/{case.pk}/decide/", fields).status_code == 302
    assert "nothing was done twice" in client.get(f"/cases/{case.pk}/").content.decode()


def test_a_zone_is_checked_where_people_are_checked(cast: Cast) -> None:
    with pytest.raises(Exception, match="not an IANA zone"):
        Person(username="new", password="x", zone="CST").full_clean()


def test_a_very_long_name_can_act(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    person = Person.objects.create_user(
        username="long", first_name="F" * 150, last_name="L" * 150, role=Role.OPERATOR
    )
    assert client_of(person).post(f"/cases/{case.pk}/take/").status_code == 302
    case.refresh_from_db()
    assert case.owner == person


@pytest.mark.parametrize("query", ["", "?proposal=1", "timeline/", "compare/?from=1&to=2"])
def test_a_case_of_a_kind_the_desk_no_longer_runs_opens(
    cast: Cast, without_playbook: Case, query: str
) -> None:
    page = page_of(without_playbook, cast.owner, query)
    assert "S-318" in page


def test_a_case_of_an_unknown_kind_says_what_it_cannot_describe_and_releases_nothing(
    cast: Cast, without_playbook: Case
) -> None:
    page = page_of(without_playbook, cast.owner)
    kind = without_playbook.kind
    assert f"This desk no longer runs &#x27;{kind}&#x27; cases" in page
    assert "send_customer_update: an action this desk no longer knows" in page
    assert "Oakline Freight" in page
    assert 'value="release"' not in page
    assert "receiving@harborfoods.example" in page
    client = client_of(cast.owner)
    assert "S-318" in client.get("/?view=all").content.decode()
    assert record_of(without_playbook.pk)["shipment_id"] == "S-318"
    said = {"reason": "Moved to another desk.", **drop_fields(without_playbook)}
    client.post(f"/cases/{without_playbook.pk}/close/", said)
    assert stage_of(without_playbook) == "closed"


def test_an_action_that_left_the_catalogue_is_named_and_never_released(
    cast: Cast, revised: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(FREIGHT.actions, "send_customer_update")
    page = page_of(revised, cast.owner)
    assert "Version 2 holds what this desk" in page
    assert "send_customer_update: an action this desk no longer knows" in page
    assert 'value="release"' not in page
    assert re.search(r'value="send_back" (?!disabled)', page)
    answer = client_of(cast.owner).get("/?view=all")
    assert "Would send_customer_update" in answer.content.decode()


def test_a_fact_that_left_the_playbook_stands_as_it_is_stored(
    cast: Cast, revised: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(FREIGHT.facts, "equipment")
    page = page_of(revised, cast.owner, "?proposal=1")
    assert re.search(r'<span class="mark-word">stored</span>.{0,200}equipment.{0,200}reefer', page)


def test_a_source_that_went_back_is_called_untrusted_not_current(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    agent_reads(case, (a_shipment(42), a_quote()))
    agent_reads(case, (a_shipment(41), a_quote()))
    page = page_of(case, cast.owner)
    assert "Unverified" in page
    assert "shipment S-318 cannot be trusted" in page
    assert Observation.objects.filter(record__record_id="S-318").count() == 3

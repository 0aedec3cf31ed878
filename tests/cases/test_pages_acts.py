"""Owning, accepting, closing, asking again; the record; signing in; preferences; the demo clock."""

import json
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from cases.actions.clock import report_progress
from cases.clock import business_now
from cases.models import Case, ClockRequest
from cases.queries.record import record_of
from cases.vocabulary.freight_plans import promise_about
from tests.cases.builders import (
    EVENING,
    MORNING,
    MORNING_WORLD,
    TEN_O_CLOCK,
    Cast,
    a_case_waiting_for_review,
    a_shipment,
    agent_reads,
    an_open_case,
    at_business_time,
    audit_of,
    drop_fields,
    stage_of,
)


def client_of(person: object) -> Client:
    """A signed-in browser."""
    client = Client()
    client.force_login(person)  # type: ignore[arg-type]
    return client


def test_taking_and_assigning_a_case_moves_its_owner(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    client_of(cast.colleague).post(f"/cases/{case.pk}/take/")
    case.refresh_from_db()
    assert case.owner == cast.colleague
    client_of(cast.lead).post(f"/cases/{case.pk}/assign/", {"person": cast.owner.pk})
    case.refresh_from_db()
    assert case.owner == cast.owner


@pytest.mark.parametrize("person", ["", "0", "nobody", "999999"])
def test_a_case_is_assigned_to_someone_on_the_list_or_to_nobody(cast: Cast, person: str) -> None:
    case = a_case_waiting_for_review(cast)
    answer = client_of(cast.lead).post(f"/cases/{case.pk}/assign/", {"person": person})
    assert answer.status_code == 422
    case.refresh_from_db()
    assert case.owner == cast.owner


@pytest.mark.parametrize("act", ["take", "close", "refresh", "plan"])
def test_an_auditor_acts_on_nothing(cast: Cast, act: str) -> None:
    case = a_case_waiting_for_review(cast)
    before = len(audit_of(case))
    answer = client_of(cast.auditor).post(f"/cases/{case.pk}/{act}/", {"reason": "Because."})
    assert answer.status_code == 403
    assert [row.event for row in audit_of(case)[before:]] == ["act_refused"]
    assert Case.objects.get(pk=case.pk).version == case.version


def test_closing_needs_a_reason_and_keeps_it(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    client = client_of(cast.owner)
    assert client.post(f"/cases/{case.pk}/close/", {"reason": " "}).status_code == 422
    client.post(
        f"/cases/{case.pk}/close/", {"reason": "Customer cancelled the load.", **drop_fields(case)}
    )
    assert stage_of(case) == "closed"
    page = client.get(f"/cases/{case.pk}/").content.decode()
    assert "Customer cancelled the load." in page
    assert "Read the sources again" not in page


def test_an_escalated_case_offers_another_plan(cast: Cast) -> None:
    at_business_time(EVENING)
    case = an_open_case(cast)
    agent_reads(case, (a_shipment(),))
    assert stage_of(case) == "escalated"
    client = client_of(cast.lead)
    assert "Ask the agent to plan again" in client.get(f"/cases/{case.pk}/").content.decode()
    client.post(f"/cases/{case.pk}/plan/", {"reason": "New quotes came in."})
    assert stage_of(case) == "investigating"


def test_the_owner_accepts_the_outcome(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    told = {"about": promise_about(window=TEN_O_CLOCK, scac="OAKX")}
    carrier = {"code": "OAKX", "name": "Oakline Freight", "set_by": "J. Ortiz"}
    notice = {**told, "sent_at": "2026-11-24T02:00:00Z", "sent_by": "J. Ortiz"}
    agent_reads(case, (a_shipment(42, carrier_assignment=carrier, customer_notice=notice),))
    client = client_of(cast.owner)
    assert "Accept: the job is done" in client.get(f"/cases/{case.pk}/").content.decode()
    client.post(f"/cases/{case.pk}/accept/")
    assert stage_of(case) == "closed"


def test_the_record_of_the_night_has_the_fields_of_the_product(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    at_business_time(MORNING)
    agent_reads(case, MORNING_WORLD)
    expected = {
        "case_id": case.pk,
        "shipment_id": "S-318",
        "saved_shipment_version": 41,
        "current_shipment_version": 42,
        "previous_proposal": 1,
        "previous_proposal_status": "stale",
        "changes": ["delivery_window", "rate_expiry", "carrier_assignment"],
        "next_step": "operator_review_of_revised_response",
        "external_action_performed": False,
    }
    assert record_of(case.pk) == expected
    printed = StringIO()
    call_command("case_record", str(case.pk), "--json", stdout=printed)
    assert json.loads(printed.getvalue()) == expected
    printed = StringIO()
    call_command("case_record", str(case.pk), stdout=printed)
    assert re.search(r"external_action_performed\s+false", printed.getvalue())


def test_the_record_of_an_unknown_case_is_one_line(db: None) -> None:
    with pytest.raises(CommandError, match="There is no case 77"):
        call_command("case_record", "77")


def test_only_the_demos_login_page_lists_its_people(cast: Cast, settings: Settings) -> None:
    settings.DEMO = False
    page = Client().get("/login/").content.decode()
    assert "Sign in to your desk" in page
    assert cast.owner.get_full_name() not in page
    settings.DEMO = True
    page = Client().get("/login/").content.decode()
    assert cast.owner.get_full_name() in page
    assert cast.gone.get_full_name() not in page


def test_theme_and_rows_are_kept_and_lead_back_to_where_one_was(cast: Cast) -> None:
    client = client_of(cast.owner)
    answer = client.post("/preferences/", {"theme": "dark", "next": "/?view=all"})
    assert answer["Location"] == "/?view=all"
    client.post("/preferences/", {"density": "comfortable", "theme": "<b>"})
    page = client.get("/").content.decode()
    assert 'data-theme="dark"' in page
    assert 'data-density="comfortable"' in page
    away = client.post("/preferences/", {"theme": "light", "next": "https://elsewhere.example/"})
    assert away["Location"] == "/"


def test_the_demo_asks_for_the_next_morning_and_nobody_else_can(
    cast: Cast, settings: Settings
) -> None:
    client = client_of(cast.owner)
    at_business_time(EVENING)
    settings.DEMO = False
    assert client.post("/demo/advance/").status_code == 404
    assert client.get("/styleguide/").status_code == 404
    settings.DEMO = True
    assert client.post("/demo/advance/").status_code == 302
    request = ClockRequest.objects.get()
    assert request.until == MORNING
    strip = client.get("/demo/clock/", headers={"HX-Request": "true"}).content.decode()
    assert "Passing the night until" in strip
    assert "Tue 24 Nov 08:00 CST" in strip
    assert client.post("/demo/advance/").status_code == 409
    assert client.get("/styleguide/").status_code == 200


def test_the_morning_is_shown_by_itself_to_whoever_asked_for_it_and_offered_to_others(
    cast: Cast, settings: Settings
) -> None:
    settings.DEMO = True
    at_business_time(EVENING)
    asker, other = client_of(cast.owner), client_of(cast.colleague)
    asker.post("/demo/advance/")
    behind = {"HX-Request": "true", "HX-Current-URL": "http://testserver/cases/1/"}
    assert "?waiting=mine" in asker.get("/demo/clock/", headers=behind).content.decode()
    assert "?waiting=theirs" in other.get("/demo/clock/", headers=behind).content.decode()
    still = asker.get("/demo/clock/?waiting=mine", headers=behind)
    assert "HX-Redirect" not in still
    report_progress(request=ClockRequest.objects.get(), progress="", done_at=business_now())
    shown = asker.get("/demo/clock/?waiting=mine", headers=behind)
    assert (shown.status_code, shown["HX-Redirect"]) == (204, "/cases/1/")
    offered = other.get("/demo/clock/?waiting=theirs", headers=behind)
    assert "HX-Redirect" not in offered
    assert "Show the morning" in offered.content.decode()


def test_a_failure_of_ours_has_a_page_that_needs_no_database(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(**_: object) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr("cases.web.views.case.case_page", broken)
    case = an_open_case(cast)
    client = Client(raise_request_exception=False)
    client.force_login(cast.owner)
    answer = client.get(f"/cases/{case.pk}/")
    assert answer.status_code == 500
    assert "Watchbill failed" in answer.content.decode()
    assert Case.objects.filter(pk=case.pk).exists()

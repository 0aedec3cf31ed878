"""What someone typed is never lost: every form with a reason keeps it until it counts."""

from collections.abc import Callable

import pytest
from django.test import Client

from cases.actions import decisions
from cases.clock import business_now
from cases.models import Case, Decision, Person
from cases.vocabulary.freight_plans import promise_about
from tests.cases.builders import (
    EVENING,
    OAKLINE,
    TEN_O_CLOCK,
    Cast,
    a_case_waiting_for_review,
    a_person_closes,
    a_shipment,
    agent_reads,
    an_answer,
    an_open_case,
    at_business_time,
    audit_of,
    drop_fields,
    stage_of,
)

TYPED = "A long explanation, typed by hand."
LINES = "\r\n".join(["x" * 38] * 51)  # 1988 characters as typed, 2038 as a browser posts them

type CaseIn = Callable[[Cast], Case]


def client_of(person: Person) -> Client:
    """A signed-in browser."""
    client = Client()
    client.force_login(person)
    return client


def an_escalated_case(cast: Cast) -> Case:
    """There is no carrier and no rate, so a person decides."""
    at_business_time(EVENING)
    case = an_open_case(cast)
    agent_reads(case, (a_shipment(),))
    return case


def a_case_to_accept(cast: Cast) -> Case:
    """A colleague did everything; the owner is asked to accept."""
    case = a_case_waiting_for_review(cast)
    notice = {
        "about": promise_about(window=TEN_O_CLOCK, scac="OAKX"),
        "sent_at": "2026-11-24T02:00:00Z",
        "sent_by": "J. Ortiz",
    }
    agent_reads(case, (a_shipment(42, carrier_assignment=OAKLINE, customer_notice=notice),))
    assert stage_of(case) == "waiting_for_acceptance"
    return case


FORMS = pytest.mark.parametrize(
    "act, case_in",
    [
        ("close", a_case_waiting_for_review),
        ("plan", an_escalated_case),
        ("accept", a_case_to_accept),
    ],
)


@FORMS
def test_a_text_that_is_too_long_is_refused_kept_whole_and_never_cut(
    cast: Cast, act: str, case_in: CaseIn
) -> None:
    case = case_in(cast)
    stage = stage_of(case)
    typed = "y" * 2001
    client = client_of(cast.owner)
    answer = client.post(f"/cases/{case.pk}/{act}/", {"reason": typed})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "at most 2000 characters" in page
    assert 'aria-invalid="true"' in page
    assert f"{typed}</textarea>" in page
    assert stage_of(case) == stage


@FORMS
def test_a_text_that_came_too_late_is_shown_with_why_and_stays(
    cast: Cast, act: str, case_in: CaseIn
) -> None:
    case = case_in(cast)
    a_person_closes(case, by=cast.lead)
    client = client_of(cast.owner)
    answer = client.post(f"/cases/{case.pk}/{act}/", {"reason": TYPED})
    assert answer.status_code == 409
    for page in (answer.content.decode(), client.get(f"/cases/{case.pk}/").content.decode()):
        assert TYPED in page
        assert "Text you typed, not sent" in page
    assert "Priya Raman closed this case" in answer.content.decode()


def test_closing_during_a_release_keeps_the_reason(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    decisions.release(answer=an_answer(case), by=cast.colleague, at=business_now())
    client = client_of(cast.owner)
    answer = client.post(f"/cases/{case.pk}/close/", {"reason": TYPED})
    assert answer.status_code == 409
    assert "Not closed" in answer.content.decode()
    assert "A release is in force." in answer.content.decode()
    assert TYPED in client.get(f"/cases/{case.pk}/").content.decode()


def test_a_reason_for_a_decision_is_seen_also_when_someone_else_decided(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    client = client_of(cast.owner)
    client.post(f"/cases/{case.pk}/draft/", {"reason": TYPED})
    decisions.release(answer=an_answer(case), by=cast.colleague, at=business_now())
    assert TYPED in client.get(f"/cases/{case.pk}/").content.decode()


def test_each_form_keeps_its_own_text_and_forgets_it_once_it_counts(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    client = client_of(cast.owner)
    client.post(f"/cases/{case.pk}/draft/", {"reason": "For the decision."})
    client.post(f"/cases/{case.pk}/draft/", {"reason": TYPED, "act": "close"})
    page = client.get(f"/cases/{case.pk}/").content.decode()
    assert "For the decision.</textarea>" in page
    assert f"{TYPED}</textarea>" in page
    client.post(f"/cases/{case.pk}/close/", {"reason": TYPED, **drop_fields(case)})
    page = client.get(f"/cases/{case.pk}/").content.decode()
    assert f'data-counted="{case.pk}-close"' in page
    assert f'data-kept="{case.pk}-close"' not in page
    assert f'data-kept="{case.pk}-decide"' in page
    client.post(f"/cases/{case.pk}/draft/", {"reason": "", "act": "decide"})
    assert "For the decision." not in client.get(f"/cases/{case.pk}/").content.decode()


@pytest.mark.parametrize("kind", ["send_back", "reject"])
def test_line_breaks_count_as_they_were_typed_when_deciding(cast: Cast, kind: str) -> None:
    case = a_case_waiting_for_review(cast)
    answer = an_answer(case)
    fields = {
        "kind": kind,
        "case_version": answer.case_version,
        "proposal_number": answer.proposal_number,
        "digest": answer.digest,
        "nonce": str(answer.nonce),
        "reason": LINES,
    }
    assert client_of(cast.owner).post(f"/cases/{case.pk}/decide/", fields).status_code == 302
    assert Decision.objects.get().reason == LINES.replace("\r\n", "\n")


@FORMS
def test_line_breaks_count_as_they_were_typed_everywhere(
    cast: Cast, act: str, case_in: CaseIn
) -> None:
    case = case_in(cast)
    fields = {"reason": LINES, **(drop_fields(case) if act == "close" else {})}
    answer = client_of(cast.owner).post(f"/cases/{case.pk}/{act}/", fields)
    assert answer.status_code == 302
    assert LINES.replace("\r\n", "\n") in [row.data.get("reason") for row in audit_of(case)]


@pytest.mark.parametrize("act", ["take", "assign", "accept", "close", "plan", "refresh"])
def test_looking_at_the_address_of_an_act_does_nothing_and_leads_to_the_case(
    cast: Cast, act: str
) -> None:
    """After a new login the browser may come back to the address of the form."""
    case = a_case_waiting_for_review(cast)
    before = len(audit_of(case))
    answer = client_of(cast.owner).get(f"/cases/{case.pk}/{act}/")
    assert (answer.status_code, answer["Location"]) == (302, f"/cases/{case.pk}/")
    assert len(audit_of(case)) == before


def test_assigning_to_someone_who_cannot_own_is_refused_by_the_record_and_kept(
    cast: Cast,
) -> None:
    case = a_case_waiting_for_review(cast)
    for person in (cast.gone, cast.auditor):
        answer = client_of(cast.lead).post(f"/cases/{case.pk}/assign/", {"person": person.pk})
        assert answer.status_code == 403
        assert audit_of(case)[-1].event == "act_refused"


def test_a_plan_can_be_asked_for_instead_of_accepting(cast: Cast) -> None:
    case = a_case_to_accept(cast)
    client = client_of(cast.owner)
    assert "Ask the agent to plan again" in client.get(f"/cases/{case.pk}/").content.decode()
    client.post(f"/cases/{case.pk}/plan/", {"reason": "The customer wants another time."})
    assert stage_of(case) == "investigating"

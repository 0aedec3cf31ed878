"""Pages of what stops for people: the agent's budget with its form, and overdue decisions."""

import re

import pytest
from django.test import Client

from cases.actions import runs
from cases.actions.deadlines import escalate_overdue
from cases.clock import business_now
from cases.models import BudgetRaise, Case, Person, Run
from cases.queries.acts import View, counts_for
from cases.queries.queue import queue_of
from cases.queries.record import record_of
from tests.cases.builders import (
    AGENT,
    LEASE,
    Cast,
    a_case_waiting_for_review,
    a_grant,
)

TYPED = "A long explanation, typed by hand."


def client_of(person: Person) -> Client:
    """A signed-in browser."""
    client = Client()
    client.force_login(person)
    return client


def page_of(case: Case, person: Person, more: str = "") -> str:
    """A page of the case as that person gets it, with runs of white space made one."""
    answer = client_of(person).get(f"/cases/{case.pk}/{more}")
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


@pytest.fixture
def stopped(cast: Cast) -> Case:
    """The agent's steps are used up."""
    case = a_case_waiting_for_review(cast)
    Run.objects.filter(case=case).update(steps=2_000, calls=4_000, tokens=12_345)
    grant = a_grant(case)
    runs.renew(grant=grant, agent=AGENT, lease=LEASE)
    runs.let_go(grant=grant)
    return case


def section(page: str) -> str:
    """The budget's part of a page."""
    found = re.search(r'<section class="panel budget".*?</section>', page)
    assert found is not None
    return found.group()


def test_p22_the_budget_is_shown_in_words_with_a_symbol_where_it_ends(
    cast: Cast, stopped: Case
) -> None:
    words = re.sub(r"<[^>]*>", "", section(page_of(stopped, cast.owner)))
    said = re.sub(r"\s+", " ", words)
    assert "used up: 2,000 of 2,000 steps" in said
    assert "nearly used up: 4,000 of 5,000 calls to outside systems" in said
    assert "12,345 of 500,000 model tokens" in said
    assert "USD 0.00 of USD 5.00 model costs" in said
    assert section(page_of(stopped, cast.owner)).count("<svg") == 3  # two symbols and a lock


def test_p22_a_stopped_case_says_what_stops_and_who_helps(cast: Cast, stopped: Case) -> None:
    page = page_of(stopped, cast.owner)
    assert "2,000 of 2,000 steps. A lead or an admin can raise it." in page
    assert "It goes on by itself once the budget is raised. Owner: Marta Ortega." in page
    assert "It is tried again by itself" not in page
    assert "Marta Ortega cannot raise the agent&#x27;s budget. Ask a lead or an admin." in page
    assert record_of(stopped.pk)["next_step"] == "lead_raises_budget"


def test_p22_a_lead_sees_what_only_they_can_move_on(cast: Cast, stopped: Case) -> None:
    found = queue_of(view=View.MINE, person=cast.lead, at=business_now())
    assert [row.subject for part in found.sections for row in part.rows] == ["S-318"]
    assert found.sections[0].rows[0].due is None
    assert counts_for(cast.lead)[View.MINE] == 1
    assert counts_for(cast.colleague)[View.MINE] == 0


@pytest.mark.parametrize("who", ["lead", "admin"])
def test_p22_a_lead_raises_it_from_the_page(cast: Cast, stopped: Case, who: str) -> None:
    person: Person = getattr(cast, who)
    form = section(page_of(stopped, person))
    assert '<option value="steps" selected>' in form
    sent = {"resource": "steps", "limit": "3,000", "reason": "A long storm."}
    answer = client_of(person).post(f"/cases/{stopped.pk}/budget/", sent)
    assert (answer.status_code, answer["Location"]) == (302, f"/cases/{stopped.pk}/")
    assert BudgetRaise.objects.get().limit == 3_000
    page = page_of(stopped, person, "timeline/")
    assert "Budget of steps raised from 2,000 to 3,000, 2,000 used: A long storm." in page


def test_p22_money_is_typed_in_dollars(cast: Cast, stopped: Case) -> None:
    sent = {"resource": "money", "limit": "7.50", "reason": "Worth it."}
    client_of(cast.lead).post(f"/cases/{stopped.pk}/budget/", sent)
    assert BudgetRaise.objects.get().limit == 7_500_000
    assert "USD 0.00 of USD 7.50 model costs" in page_of(stopped, cast.lead)


@pytest.mark.parametrize(
    ("resource", "limit", "reason", "said"),
    [
        ("tokens", "many", TYPED, "is not a limit of model tokens"),
        ("tokens", "400000", TYPED, "would raise nothing"),
        ("patience", "3", TYPED, "is not something a budget limits"),
        ("tokens", "", TYPED, "This field is required"),
        ("tokens", "600000", "   ", "Say why"),
        ("tokens", "600000", "y" * 2001, "at most 2000 characters"),
    ],
)
def test_p22_a_mistake_keeps_everything_that_was_typed(
    cast: Cast, stopped: Case, resource: str, limit: str, reason: str, said: str
) -> None:
    client = client_of(cast.lead)
    sent = {"resource": resource, "limit": limit, "reason": reason}
    answer = client.post(f"/cases/{stopped.pk}/budget/", sent)
    assert answer.status_code == 422
    form = section(re.sub(r"\s+", " ", answer.content.decode()))
    assert said in form
    assert f'value="{limit}"' in form
    assert f"{reason.strip()}</textarea>" in form
    if resource == "tokens":
        assert '<option value="tokens" selected>' in form
    assert not BudgetRaise.objects.exists()


def test_p22_the_reason_of_someone_who_may_not_raise_is_kept_and_shown(
    cast: Cast, stopped: Case
) -> None:
    client = client_of(cast.owner)
    sent = {"resource": "steps", "limit": "3000", "reason": TYPED}
    answer = client.post(f"/cases/{stopped.pk}/budget/", sent)
    assert answer.status_code == 403
    page = client.get(f"/cases/{stopped.pk}/").content.decode()
    assert f'data-kept="{stopped.pk}-budget"' in page
    assert TYPED in page


def test_p08_an_overdue_decision_is_shown_on_the_case_with_who_since_when_and_why(
    cast: Cast,
) -> None:
    case = a_case_waiting_for_review(cast)
    Case.objects.filter(pk=case.pk).update(decide_by=business_now())
    escalate_overdue()
    words = re.sub(r"<[^>]*>", "", page_of(case, cast.owner))
    assert re.search(
        r"Escalated to Priya Raman since 17:00 CST: Proposal 1 was not decided in time\. "
        r"The owner or the lead can still decide\.",
        re.sub(r"\s+", " ", words),
    )
    assert "Proposal 1 was not decided in time: escalated to Priya Raman." in page_of(
        case, cast.owner, "timeline/"
    )


def test_p08_overdue_decisions_come_first_in_the_queue_and_reach_the_lead(cast: Cast) -> None:
    """Also before cases whose own clock, such as a rate's expiry, ended earlier."""
    earlier = a_case_waiting_for_review(cast, subject="S-100")
    case = a_case_waiting_for_review(cast)
    now = business_now()
    Case.objects.filter(pk=case.pk).update(decide_by=now)
    assert earlier.proposals.update(valid_until="2026-11-20T06:00:00Z") == 1
    escalate_overdue()
    rows = [
        row.subject
        for part in queue_of(view=View.ALL, person=cast.owner, at=now).sections
        for row in part.rows
    ]
    assert rows == ["S-318", "S-100"]
    page = re.sub(r"\s+", " ", client_of(cast.lead).get("/?view=mine").content.decode())
    assert re.search(
        r'<span class="chip chip-escalated"><svg.*?</svg> overdue, escalated to Priya Raman</span>',
        page,
    )
    assert "S-100" not in page
    assert counts_for(cast.lead)[View.MINE] == 1

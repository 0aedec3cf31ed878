"""The queue shows what needs whom, by when."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client

from cases.clock import business_now
from cases.models import Case, Person
from cases.queries import queue as queue_module
from cases.queries.acts import Act, View, counts_for
from cases.queries.queue import queue_of
from tests.cases.builders import (
    EVENING,
    MORNING,
    MORNING_WORLD,
    Cast,
    a_case_waiting_for_review,
    a_quote,
    a_shipment,
    agent_reads,
    an_open_case,
    at_business_time,
    unreadable,
)

type SignIn = Callable[[Person], Client]


@pytest.fixture
def sign_in() -> SignIn:
    """A browser session of a person."""

    def signed_in(person: Person) -> Client:
        client = Client()
        client.force_login(person)
        return client

    return signed_in


@pytest.fixture
def morning(cast: Cast) -> Cast:
    """Tuesday 08:00: one case to review again, one to decide, one blocked, one without an owner."""
    stale = a_case_waiting_for_review(cast)
    blocked = a_case_waiting_for_review(cast, subject="S-290")
    unowned = an_open_case(cast, subject="S-402")
    Case.objects.filter(pk=unowned.pk).update(owner=None)
    at_business_time(MORNING)
    agent_reads(stale, MORNING_WORLD)
    agent_reads(blocked, (unreadable(a_shipment(subject="S-290")),))
    decide = an_open_case(cast, subject="S-377")
    agent_reads(decide, (a_shipment(subject="S-377"), a_quote(expires_at="2026-11-24T22:00:00Z")))
    return cast


def acts_of(person: Person, view: View) -> dict[str, str]:
    """Subject to act, as the queue shows it."""
    found = queue_of(view=view, person=person, at=business_now())
    return {row.subject: row.act.value for section in found.sections for row in section.rows}


def test_every_open_case_stands_once_under_the_act_it_needs(morning: Cast) -> None:
    assert acts_of(morning.owner, View.ALL) == {
        "S-318": Act.REREVIEW,
        "S-377": Act.DECIDE,
        "S-290": Act.BLOCKED,
        "S-402": Act.UNOWNED,
    }


def test_counts_in_the_navigation_are_what_each_view_lists(morning: Cast) -> None:
    for person in (morning.owner, morning.colleague, morning.lead, morning.auditor):
        counts = counts_for(person)
        for view in View:
            listed = [act for act in acts_of(person, view).values() if act != Act.AGENT]
            assert counts[view] == len(listed), (person, view)


def test_my_turn_holds_mine_and_what_nobody_owns_but_no_colleagues_cases(morning: Cast) -> None:
    Case.objects.filter(subject="S-377").update(owner=morning.colleague)
    assert set(acts_of(morning.owner, View.MINE)) == {"S-318", "S-290", "S-402"}
    assert set(acts_of(morning.colleague, View.MINE)) == {"S-377", "S-402"}


def test_an_auditor_has_no_turn_and_sees_all_open_cases_first(
    morning: Cast, sign_in: SignIn
) -> None:
    page = sign_in(morning.auditor).get("/").content.decode()
    assert "All open cases" in page
    assert "S-318" in page


def test_a_row_says_what_changed_what_it_would_do_and_by_when(
    morning: Cast, sign_in: SignIn
) -> None:
    page = sign_in(morning.owner).get("/?view=stale").content.decode()
    assert "3 changes" in page
    assert "Delivery window, Rate expiry, Carrier" in page
    assert "Would send 1 update" in page
    assert "decide by" in page
    assert "S-377" not in page


def test_earliest_deadline_comes_first_and_pages_continue_exactly(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_business_time(EVENING)
    cases = [an_open_case(cast, subject=f"S-{number}") for number in range(500, 507)]
    now = business_now()
    for case, hours in zip(cases, (5, 1, 3, 3, 3, 7, 2), strict=True):
        Case.objects.filter(pk=case.pk).update(decide_by=now + timedelta(hours=hours))
    monkeypatch.setattr(queue_module, "PAGE", 3)
    seen: list[str] = []
    after = None
    for _ in range(3):
        found = queue_of(view=View.ALL, person=cast.lead, at=now, after=after)
        seen += [row.subject for section in found.sections for row in section.rows]
        last = Case.objects.get(subject=seen[-1])
        assert last.decide_by is not None
        after = (last.decide_by, last.pk)
    assert seen == ["S-501", "S-506", "S-502", "S-503", "S-504", "S-500", "S-505"]
    assert found.after == ""


def test_an_unknown_view_is_explained_and_not_guessed(cast: Cast, sign_in: SignIn) -> None:
    answer = sign_in(cast.owner).get("/?view=everything")
    assert answer.status_code == 422
    assert "There is no view of the queue called" in answer.content.decode()


def test_an_empty_turn_names_the_desks_next_deadline(morning: Cast, sign_in: SignIn) -> None:
    Case.objects.update(owner=morning.owner)
    page = sign_in(morning.colleague).get("/").content.decode()
    assert "Nothing needs you now" in page
    assert "All open cases" in page


def test_a_hint_counts_changes_and_leaves_the_rows_alone(morning: Cast, sign_in: SignIn) -> None:
    client = sign_in(morning.owner)
    since = business_now()
    quiet = client.get("/hint/", {"since": since.isoformat(), "view": "mine"})
    assert "changed since" not in quiet.content.decode()
    case = an_open_case(morning, subject="S-700")
    agent_reads(case, (a_shipment(subject="S-700"), a_quote()))
    hint = client.get("/hint/", {"since": since.isoformat(), "view": "mine"}).content.decode()
    assert "1 case changed since" in hint
    assert "S-700" not in hint

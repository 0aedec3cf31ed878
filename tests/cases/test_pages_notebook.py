"""Goals, lines and standing conditions as people use them on the pages (P26, P29)."""

import re

import pytest
from django.test import Client

from cases.actions import evidence, goals
from cases.clock import business_now
from cases.models import Case, CaseLine, Goal, Person, StandingCondition
from tests.cases.builders import (
    AGENT,
    EVENING,
    OAKLINE,
    Cast,
    a_case_waiting_for_review,
    a_grant,
    a_released_case,
    a_shipment,
    an_open_case,
    at_business_time,
    drop_fields,
    stage_of,
)

CARRIER, TOLD = "The shipment has a carrier", "The customer knows the delivery time"


def client_of(person: Person) -> Client:
    """A signed-in browser."""
    client = Client()
    client.force_login(person)
    return client


def text_of(client: Client, address: str) -> str:
    """The page as one line of text without tags."""
    page = client.get(address)
    assert page.status_code == 200
    return words_in(page.content)


def words_in(content: bytes) -> str:
    """The text of a page without tags, blanks joined."""
    return " ".join(re.sub(r"<[^>]+>", " ", content.decode()).split())


@pytest.fixture
def case(cast: Cast) -> Case:
    """Proposal 1 is ready; Monday 17:00 in Chicago."""
    return a_case_waiting_for_review(cast)


def test_p29_every_action_says_which_goal_it_carries_and_every_goal_who_carries_it(
    cast: Cast, case: Case
) -> None:
    page = text_of(client_of(cast.owner), f"/cases/{case.pk}/")
    assert page.count("Carries the goal") == 2
    assert f"{CARRIER} · open, carried by action 1 of v1" in page
    assert f"{TOLD} · open, carried by action 2 of v1" in page
    assert "Not carried" not in page


def test_p29_a_goal_that_nothing_carries_is_visible_on_the_case(cast: Cast, case: Case) -> None:
    client = client_of(cast.owner)
    client.post(f"/cases/{case.pk}/goal/", {"reason": "Claim filed"})
    page = text_of(client, f"/cases/{case.pk}/")
    assert "Not carried: Claim filed" in page
    assert "Claim filed · open, not carried by any action added by Marta Ortega" in page


def test_p29_a_goal_is_settled_on_the_page_with_how(cast: Cast, case: Case) -> None:
    client = client_of(cast.owner)
    posted = {"goal": "customer_told", "state": "achieved", "reason": "Told them by phone"}
    assert client.post(f"/cases/{case.pk}/settle/", posted).status_code == 302
    page = text_of(client, f"/cases/{case.pk}/")
    assert f"{TOLD} · achieved by Marta Ortega" in page
    assert "Told them by phone" in page


@pytest.mark.parametrize(
    "posted",
    [
        {"state": "dropped", "reason": "Typed"},
        {"goal": "carrier", "reason": "Typed"},
        {"goal": "carrier", "state": "open", "reason": "Typed"},
    ],
)
def test_p29_a_settling_that_says_too_little_keeps_the_text(
    cast: Cast, case: Case, posted: dict[str, str]
) -> None:
    answer = client_of(cast.owner).post(f"/cases/{case.pk}/settle/", posted)
    assert answer.status_code == 422
    assert "Goal not settled" in answer.content.decode()
    assert ">Typed</textarea>" in answer.content.decode()


def test_p29_the_closing_form_lists_what_is_open_and_one_act_drops_and_closes(
    cast: Cast, case: Case
) -> None:
    """Refused with one reason of two: both texts are still in their fields."""
    client = client_of(cast.owner)
    assert "Still open: 2 goals" in text_of(client, f"/cases/{case.pk}/")
    posted = {"reason": "Cancelled", "drop-carrier": "No load", "drop-customer_told": ""}
    answer = client.post(f"/cases/{case.pk}/close/", posted)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert f"Still open: “{TOLD}”" in words_in(answer.content)
    assert 'value="No load"' in page
    assert ">Cancelled</textarea>" in page
    client.post(f"/cases/{case.pk}/close/", {**posted, "drop-customer_told": "They know"})
    assert stage_of(case) == "closed"
    assert sorted(Goal.objects.values_list("reason", flat=True)) == ["No load", "They know"]


def test_p29_an_unreadable_playbook_does_not_keep_a_case_open_for_ever(
    cast: Cast, case: Case
) -> None:
    """A kind that this desk no longer runs: its goals are dropped by name."""
    Case.objects.filter(pk=case.pk).update(kind="yacht_charter")
    client = client_of(cast.lead)
    assert CARRIER in text_of(client, f"/cases/{case.pk}/")
    client.post(f"/cases/{case.pk}/close/", {"reason": "Sold", **drop_fields(case)})
    assert stage_of(case) == "closed"


def test_p29_facts_of_an_unknown_form_show_no_goal(cast: Cast) -> None:
    """The page opens, and says that the goal is open."""
    case = an_open_case(cast)
    odd = a_shipment(carrier_assignment=OAKLINE, customer_notice="told", delivery_window="10:00")
    evidence.record_readings(
        grant=a_grant(case), by=AGENT, readings=(odd,), asked_at=business_now()
    )
    page = text_of(client_of(cast.owner), f"/cases/{case.pk}/")
    assert f"{TOLD} · open, not carried by any action" in page


def test_p26_a_line_is_written_and_ended_on_the_page(cast: Cast, case: Case) -> None:
    client = client_of(cast.owner)
    posted = {
        "sort": "waiting_on",
        "party": "Swift dispatch",
        "reason": "Calls back, ask for Bo",
        "time": "2026-11-24T08:30",
        "zone": "America/Chicago",
    }
    assert client.post(f"/cases/{case.pk}/line/", posted).status_code == 302
    page = text_of(client_of(cast.colleague), f"/cases/{case.pk}/")
    assert "Waiting on from Swift dispatch: Calls back, ask for Bo" in page
    assert "ask again at Tue 24 Nov 08:30 CST" in page
    client.post(f"/cases/{case.pk}/end-line/", {"line": CaseLine.objects.get().pk, "reason": ""})
    assert "Calls back" not in text_of(client, f"/cases/{case.pk}/").split("Timeline")[0]


def test_p26_an_overdue_line_says_so_in_words(cast: Cast, case: Case) -> None:
    client = client_of(cast.owner)
    posted = {"sort": "next_step", "reason": "Ring", "time": "2026-11-23T16:30"}
    client.post(f"/cases/{case.pk}/line/", {**posted, "zone": "America/Chicago"})
    assert "overdue since 16:30 CST" in text_of(client, f"/cases/{case.pk}/")


def test_scenario_06_the_form_asks_which_0130_and_loses_nothing(cast: Cast) -> None:
    """Both readings are offered with their zone names; the second post says which."""
    at_business_time(EVENING)
    case = an_open_case(cast)
    client = client_of(cast.owner)
    posted = {
        "sort": "promise",
        "party": "Harbor Foods",
        "reason": "Loaded by then",
        "time": "2026-11-01T01:30",
        "zone": "America/Chicago",
    }
    answer = client.post(f"/cases/{case.pk}/line/", posted)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Which one is meant?" in page
    assert "The earlier one, Sun 1 Nov 01:30 CDT" in words_in(answer.content)
    assert "The later one, Sun 1 Nov 01:30 CST" in words_in(answer.content)
    for kept in ('value="2026-11-01T01:30"', 'value="Harbor Foods"', ">Loaded by then</textarea>"):
        assert kept in page
    assert '<option value="promise" selected>' in page
    assert not CaseLine.objects.exists()
    client.post(f"/cases/{case.pk}/line/", {**posted, "which": "later"})
    line = CaseLine.objects.get()
    assert line.due_at is not None
    assert line.due_at.isoformat() == "2026-11-01T07:30:00+00:00"


@pytest.mark.parametrize("time", ["tomorrow", "2026-03-08T02:30"])
def test_scenario_06_a_time_that_cannot_be_is_refused_and_the_text_kept(
    cast: Cast, case: Case, time: str
) -> None:
    posted = {"sort": "note", "reason": "Typed", "time": time, "zone": "America/Chicago"}
    answer = client_of(cast.owner).post(f"/cases/{case.pk}/line/", posted)
    assert answer.status_code == 422
    assert ">Typed</textarea>" in answer.content.decode()
    assert not CaseLine.objects.exists()


def test_an_auditor_reads_the_notebook_and_is_offered_nothing(cast: Cast, case: Case) -> None:
    goals.add_goal(case_id=case.pk, label="Claim filed", by=cast.owner, at=business_now())
    client = client_of(cast.auditor)
    page = text_of(client, f"/cases/{case.pk}/")
    assert "Claim filed" in page
    assert "Add a goal" not in page
    assert client.post(f"/cases/{case.pk}/goal/", {"reason": "x"}).status_code == 403


CONDITION = {
    "sort": "connector",
    "title": "TMS at 96 % disk",
    "detail": "Cleaning up",
    "system": "transport",
    "blocks_releases": "1",
}


def test_p26_a_condition_is_on_every_page_until_it_is_closed(cast: Cast, case: Case) -> None:
    lead, operator = client_of(cast.lead), client_of(cast.owner)
    assert lead.post("/conditions/", CONDITION).status_code == 302
    for address in ("/", f"/cases/{case.pk}/", "/pauses/", "/closed/", "/conditions/"):
        assert "Connector degraded: TMS at 96 % disk" in text_of(operator, address)
    condition = StandingCondition.objects.get()
    assert lead.post(f"/conditions/{condition.pk}/close/", {"reason": " "}).status_code == 422
    lead.post(f"/conditions/{condition.pk}/close/", {"reason": "Disk is free"})
    assert "TMS at 96 %" not in text_of(operator, "/")
    history = text_of(operator, "/conditions/")
    assert "Closed lately" in history
    assert "(Disk is free)" in history


def test_p21_release_is_off_with_the_reason_while_a_condition_stops_it(
    cast: Cast, case: Case
) -> None:
    client_of(cast.lead).post("/conditions/", CONDITION)
    page = text_of(client_of(cast.owner), f"/cases/{case.pk}/")
    assert "Nothing is released while this stands: Connector degraded: TMS at 96 % disk" in page
    assert "Held. Connector degraded: TMS at 96 % disk. Nothing is released until" in page


def test_p21_a_released_case_says_that_it_waits(cast: Cast) -> None:
    case = a_released_case(cast)
    client_of(cast.lead).post("/conditions/", CONDITION)
    page = text_of(client_of(cast.owner), f"/cases/{case.pk}/")
    assert "What was released waits: it goes on when this is closed" in page


def test_p26_a_pause_is_listed_beside_the_conditions(cast: Cast) -> None:
    client_of(cast.lead).post("/pauses/", {"reason": "Storm", "lane": "execution"})
    page = text_of(client_of(cast.owner), "/conditions/")
    assert "Paused: execution Agents start no call there. Storm" in page
    assert "Look at the pause" in page


def test_p31_an_operator_reads_why_they_cannot_open_a_condition(cast: Cast) -> None:
    client = client_of(cast.owner)
    assert "Ask a lead or an admin" in text_of(client, "/conditions/")
    assert client.post("/conditions/", CONDITION).status_code == 403
    assert not StandingCondition.objects.exists()


@pytest.mark.parametrize(
    "wrong", [{"title": " "}, {"desk": "99"}, {"time": "2026-11-01T01:30"}, {"sort": "mood"}]
)
def test_a_condition_that_says_too_little_keeps_everything_typed(
    cast: Cast, case: Case, wrong: dict[str, str]
) -> None:
    posted = {**CONDITION, "zone": "America/Chicago", **wrong}
    answer = client_of(cast.lead).post("/conditions/", posted)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Nothing was changed" in page
    assert ">Cleaning up</textarea>" in page
    assert "Which one is meant?" in page or "time" not in wrong
    assert not StandingCondition.objects.exists()

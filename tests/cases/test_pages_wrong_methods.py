"""Wrong methods: a look at where a form was sent leads back to its page; all else is explained."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from cases.actions import pauses
from cases.actions.conditions import NewCondition, open_condition
from cases.clock import business_now
from cases.models import AuditEvent, Handover, HandoverRow, Leave
from cases.web.urls import urlpatterns
from tests.cases.builders import Cast
from tests.cases.mornings import a_night_case, a_roster, opened
from tests.cases.test_pages_roster import client_of, text_of

SIGNS_OUT = {"logout"}
MACHINES = {"health": "GET, HEAD", "webhook": "POST"}
BACK = {
    **dict.fromkeys(("draft", "decide", "take", "assign", "hand-back"), "/cases/{case_id}/"),
    **dict.fromkeys(("escalate", "accept", "close", "plan", "withdraw"), "/cases/{case_id}/"),
    **dict.fromkeys(("budget", "finding", "trust", "refresh"), "/cases/{case_id}/"),
    **dict.fromkeys(("goal", "settle", "line", "end-line"), "/cases/{case_id}/"),
    **dict.fromkeys(("watch", "swap", "leave", "shifts"), "/roster/?desk={desk_id}"),
    "cancel-leave": "/roster/?desk={desk_id}",
    **dict.fromkeys(("rule", "leads"), "/ownership/?desk={desk_id}"),
    "close-condition": "/conditions/",
    "person": "/people/",
    "lift": "/pauses/",
    **dict.fromkeys(("sheet-add", "sheet-publish", "sheet-sign"), "/handover/{handover_id}/"),
    **dict.fromkeys(
        ("row-answer", "row-note", "row-take", "row-read"),
        "/handover/{handover_id}/#row-{row_id}",
    ),
    **dict.fromkeys(("logout", "preferences"), "/"),
}
"""Where a look at each address that only takes posts leads."""


@pytest.fixture
def ids(cast: Cast) -> dict[str, Any]:
    """A number for everything that stands in an address."""
    a_roster(cast)
    case, handover = a_night_case(cast), opened(cast)
    at, lead = business_now(), cast.lead
    condition = open_condition(
        wanted=NewCondition(sort="other", title="x", desk=None), by=lead, at=at
    )
    leave = Leave.objects.create(
        person=lead, starts_at=at, ends_at=business_now(), set_by="x", set_at=at
    )
    pause = pauses.set_pause(lane="intake", kind="", agent="", reason="x", by=lead, at=at)
    return {
        "case_id": case.pk,
        "desk_id": cast.desk.pk,
        "handover_id": handover.pk,
        "row_id": HandoverRow.objects.get().pk,
        "person_id": cast.owner.pk,
        "condition_id": condition.pk,
        "leave_id": leave.pk,
        "pause_id": pause.pk,
        "system": "transport",
    }


def addresses(ids: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Every address there is, by name."""
    for entry in urlpatterns:
        named = {name: ids[name] for name in entry.pattern.converters}
        yield str(entry.name), reverse(str(entry.name), kwargs=named)


def test_a_look_at_an_address_of_posts_leads_to_the_page_of_its_form(
    cast: Cast, ids: dict[str, Any]
) -> None:
    """Back, reload, or a login in between ends there; nothing is done and nothing is an error."""
    client, events = client_of(cast.admin), AuditEvent.objects.count()
    known = dict(addresses(ids))
    for name, page in BACK.items():
        answer = client.get(known[name])
        assert (answer.status_code, answer["Location"]) == (302, page.format(**ids)), name
        assert client.get(known[name], follow=True).status_code == 200, name
    assert AuditEvent.objects.count() == events
    assert client.get("/").status_code == 200, "nobody was signed out"


def test_no_address_answers_a_look_with_nothing(cast: Cast, ids: dict[str, Any]) -> None:
    client: Any = client_of(cast.admin)
    for name, address in addresses(ids):
        answer = client.get(address)
        assert answer.status_code != 405 or name in MACHINES, name
        assert answer.content or answer.has_header("Location"), name


def test_whoever_asks_only_for_the_head_of_a_page_gets_it(cast: Cast, ids: dict[str, Any]) -> None:
    """As HTTP wants it (RFC 9110, 9.3.2): what a look would say, without its text."""
    client: Any = client_of(cast.admin)
    for name, address in addresses(ids):
        if name not in MACHINES and name not in BACK and name not in SIGNS_OUT:
            head = client.head(address)
            assert head.status_code == client.get(address).status_code, name
            assert not head.content, name


def test_a_wrong_method_gets_a_page_that_says_what_to_do(cast: Cast, ids: dict[str, Any]) -> None:
    client: Any = client_of(cast.lead)
    for name, address in addresses(ids):
        answer = client.delete(address)
        if name == "login":  # a signed-in person is led on
            continue
        assert answer.status_code == 405, name
        assert answer["Allow"], name
        if name not in MACHINES:
            assert "Nothing is done this way" in text_of(answer), name
            assert "Open the page in your browser" in text_of(answer), name


@pytest.mark.parametrize("address", ["/roster/", "/numbers/", "/handovers/", "/search"])
def test_a_post_to_a_page_without_a_form_is_explained(cast: Cast, address: str) -> None:
    answer = client_of(cast.lead).post(address)
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")
    assert "Nothing was changed" in text_of(answer)


def test_a_panel_shows_the_refusal_of_a_method_as_a_notice(cast: Cast) -> None:
    answer: Any = client_of(cast.lead).post("/roster/", headers={"HX-Request": "true"})
    assert (answer.status_code, answer["HX-Retarget"]) == (405, "#notices")
    assert "<html" not in answer.content.decode()


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_machines_read_a_wrong_method_as_problem_details(
    cast: Cast, name: str, method: str
) -> None:
    address = reverse(name, kwargs={"system": "transport"} if name == "webhook" else {})
    client: Any = Client(enforce_csrf_checks=True)
    answer = client.generic(method, address)
    assert (answer.status_code, answer["Allow"]) == (405, MACHINES[name])
    assert answer["Content-Type"] == "application/problem+json"
    said = answer.json()
    assert (said["status"], said["title"]) == (405, "Method Not Allowed")
    assert said["detail"] == f"This address takes {MACHINES[name]} only."


def test_whoever_signs_in_again_after_a_refused_answer_is_on_the_sheet(
    cast: Cast, ids: dict[str, Any]
) -> None:
    """The page of a refused answer stands at the address of the answer; its session ends there."""
    client: Any = client_of(cast.colleague)
    row = HandoverRow.objects.get()
    refused = client.post(f"/handover/rows/{row.pk}/answer/", {"kind": "refuse", "reason": ""})
    assert refused.status_code == 422
    client.logout()
    page = f"http://testserver{refused.request['PATH_INFO']}"
    asked = client.get("/hint/", headers={"HX-Request": "true", "HX-Current-URL": page})
    assert asked.status_code == 401
    client.force_login(cast.colleague)
    answer = client.get(asked["HX-Redirect"], follow=True)
    assert answer.status_code == 200
    assert answer.request["PATH_INFO"] == f"/handover/{Handover.objects.get().pk}/"

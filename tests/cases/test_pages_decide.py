"""Deciding on a page: exactly once, on exactly what was shown, with every refusal explained."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest
from django.test import Client

from cases.actions import decisions
from cases.clock import business_now
from cases.models import AuditEvent, Case, Decision, Effect, Person
from tests.cases.builders import (
    MORNING,
    MORNING_WORLD,
    Cast,
    a_case_waiting_for_review,
    agent_reads,
    an_answer,
    at_business_time,
    audit_of,
    decisions_of,
)

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Answered

HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/cases/1/"}


class Tab:
    """One browser tab of a person on one case, with the form as it was shown there."""

    def __init__(self, case: Case, person: Person) -> None:
        self.case = case
        self.client = Client()
        self.client.force_login(person)
        page = self.client.get(f"/cases/{case.pk}/").content.decode()
        self.fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page))

    def send(
        self, kind: str, *, reason: str = "", headers: Mapping[str, str] | None = None, **other: str
    ) -> "Answered":
        """Press a button of the form as it was shown."""
        fields = {**self.fields, "kind": kind, "reason": reason, **other}
        return self.client.post(f"/cases/{self.case.pk}/decide/", fields, headers=headers)

    def page(self) -> str:
        """The case as it stands, in this tab."""
        return self.client.get(f"/cases/{self.case.pk}/").content.decode()


@pytest.fixture
def tab(cast: Cast) -> Tab:
    """The owner looks at version 1."""
    return Tab(a_case_waiting_for_review(cast), cast.owner)


def world_moves(case: Case) -> None:
    """Overnight everything changes, and the agent prepares version 2."""
    at_business_time(MORNING)
    agent_reads(case, MORNING_WORLD)


def test_a_release_counts_and_the_page_says_so(tab: Tab, cast: Cast) -> None:
    answer = tab.send("release", reason="Rate is fine.")
    assert answer.status_code == 302
    assert decisions_of(tab.case) == ["release"]
    decision = Decision.objects.get()
    assert (decision.by, decision.digest) == (cast.owner, tab.fields["digest"])
    assert Effect.objects.count() == 2
    page = tab.page()
    assert "Version 1 is released." in page
    assert "Rate is fine." in page


def test_with_htmx_the_whole_page_is_loaded_anew_after_a_decision(tab: Tab) -> None:
    answer = tab.send("release", headers=HTMX)
    assert answer.status_code == 204
    assert answer["HX-Redirect"] == f"/cases/{tab.case.pk}/"


def test_the_same_form_sent_twice_is_one_decision(tab: Tab) -> None:
    tab.send("release")
    again = tab.send("release")
    assert again.status_code == 302
    assert decisions_of(tab.case) == ["release"]
    assert "nothing was done twice" in tab.page()


def test_p06_a02_a_stale_release_is_refused_with_the_difference_and_the_reason_kept(
    tab: Tab,
) -> None:
    world_moves(tab.case)
    answer = tab.send("release", reason="Looks right to me.", headers=HTMX)
    fragment = answer.content.decode()
    assert answer.status_code == 409
    assert fragment.lstrip().startswith('<section id="decision"')
    assert "<html" not in fragment
    for text in ("Delivery window", "Rate expiry", "Carrier", "Review v2", "Looks right to me."):
        assert text in fragment
    assert "<del>none</del>" in fragment
    assert "<ins>Oakline Freight (OAKX), set by J. Ortiz</ins>" in fragment
    assert decisions_of(tab.case) == []
    assert Effect.objects.count() == 0
    refusals = [row for row in audit_of(tab.case) if row.event == "decision_refused"]
    assert [row.data["reason_code"] for row in refusals] == ["stale"]


def test_without_htmx_the_same_refusal_is_a_whole_page(tab: Tab) -> None:
    world_moves(tab.case)
    answer = tab.send("release", reason="Looks right to me.")
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "<html" in page
    assert "Not released" in page
    assert "Review v2" in page
    assert "Looks right to me." in page


def test_the_kept_reason_stands_in_the_form_of_the_new_version(tab: Tab) -> None:
    world_moves(tab.case)
    tab.send("send_back", reason="Driver is out of hours.", headers=HTMX)
    answer = tab.client.post(
        f"/cases/{tab.case.pk}/draft/", {"reason": "Driver is out of hours, really."}
    )
    assert answer.status_code == 302
    page = tab.page()
    assert "Driver is out of hours, really.</textarea>" in page
    fresh = Tab(tab.case, Person.objects.get(username="marta"))
    fresh.client = tab.client
    fresh.send("send_back", reason="Driver is out of hours, really.")
    assert "really.</textarea>" not in tab.page()


def test_of_two_who_decide_the_second_is_told_who_was_first(tab: Tab, cast: Cast) -> None:
    other = Tab(tab.case, cast.colleague)
    tab.send("release")
    answer = other.send("reject", reason="No.", headers=HTMX)
    assert answer.status_code == 409
    assert "already released by Marta Ortega" in answer.content.decode()
    assert decisions_of(tab.case) == ["release"]


@pytest.mark.parametrize("kind", ["reject", "send_back"])
def test_saying_no_needs_a_reason_and_keeps_the_form(tab: Tab, kind: str) -> None:
    answer = tab.send(kind, reason="  ", headers=HTMX)
    fragment = answer.content.decode()
    assert answer.status_code == 422
    assert "Say why in a few words" in fragment
    assert 'aria-invalid="true"' in fragment
    assert 'value="release"' in fragment
    assert decisions_of(tab.case) == []


@pytest.mark.parametrize("role", ["auditor", "admin"])
def test_who_only_looks_is_refused_and_the_refusal_is_kept(tab: Tab, cast: Cast, role: str) -> None:
    answer = Tab(tab.case, getattr(cast, role)).send(
        "release", **{key: tab.fields[key] for key in tab.fields if key != "csrfmiddlewaretoken"}
    )
    assert answer.status_code == 403
    assert decisions_of(tab.case) == []
    assert audit_of(tab.case)[-1].event == "decision_refused"


@pytest.mark.parametrize(
    "field, value",
    [
        ("kind", "true"),
        ("kind", ""),
        ("digest", "{}"),
        ("digest", ""),
        ("nonce", "null"),
        ("proposal_number", "false"),
        ("case_version", "1; DROP TABLE cases_case"),
        ("reason", "with \x00 in it"),
    ],
)
def test_p07_what_is_not_an_answer_never_counts_as_yes(tab: Tab, field: str, value: str) -> None:
    before = AuditEvent.objects.count()
    fields = {**tab.fields, "kind": "release", "reason": "", field: value}
    answer = tab.client.post(f"/cases/{tab.case.pk}/decide/", fields, headers=HTMX)
    assert answer.status_code == 422
    assert decisions_of(tab.case) == []
    assert AuditEvent.objects.count() == before


def test_a_digest_that_was_not_shown_releases_nothing(tab: Tab) -> None:
    answer = tab.send("release", digest="0" * 64)
    assert answer.status_code == 409
    assert decisions_of(tab.case) == []


def test_looking_at_the_decide_address_decides_nothing(tab: Tab) -> None:
    answer = tab.client.get(f"/cases/{tab.case.pk}/decide/", {"kind": "release", **tab.fields})
    assert answer.status_code == 302
    assert decisions_of(tab.case) == []


def test_an_ended_session_gets_the_whole_login_page_and_nothing_is_recorded(tab: Tab) -> None:
    before = AuditEvent.objects.count()
    tab.client.logout()
    answer = tab.send("release", headers=HTMX)
    assert answer.status_code == 401
    assert answer["HX-Redirect"] == "/login/?next=/cases/1/"
    assert "Location" not in answer
    assert AuditEvent.objects.count() == before
    assert decisions_of(tab.case) == []


def test_a_form_older_than_the_session_is_explained(tab: Tab, cast: Cast) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(cast.owner)
    fields = {**tab.fields, "kind": "release", "csrfmiddlewaretoken": "x" * 64}
    answer = strict.post(f"/cases/{tab.case.pk}/decide/", fields)
    assert answer.status_code == 403
    assert "older than your session" in answer.content.decode()
    notice = strict.post(f"/cases/{tab.case.pk}/decide/", fields, headers=HTMX)
    assert notice["HX-Retarget"] == "#notices"
    assert "<html" not in notice.content.decode()


def test_a_hint_turns_an_outdated_release_off_and_shows_no_new_version(tab: Tab) -> None:
    address = f"/cases/{tab.case.pk}/hint/"
    seen = {"seen": tab.fields["case_version"], "shown": 1}
    assert "has" not in tab.client.get(address, seen, headers=HTMX).content.decode()
    world_moves(tab.case)
    hint = tab.client.get(address, seen, headers=HTMX).content.decode()
    assert "Version 2 is ready." in hint
    assert 'hx-target="#release-slot"' in hint
    assert "v2 exists, so v1 cannot be released." in hint
    assert "Oakline" not in hint
    assert 'hx-target="#announcer"' in hint


def test_a_version_someone_else_decided_on_is_turned_off_by_the_hint(tab: Tab, cast: Cast) -> None:
    decisions.release(answer=an_answer(tab.case), by=cast.colleague, at=business_now())
    seen = {"seen": tab.fields["case_version"], "shown": 1}
    hint = tab.client.get(f"/cases/{tab.case.pk}/hint/", seen, headers=HTMX).content.decode()
    assert "v1 is no longer ready" in hint

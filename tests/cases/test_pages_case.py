"""The case page: then, now and why; honest controls; nothing hidden."""

import re
from uuid import uuid4

import pytest
from django.test import Client

from cases import audit
from cases.clock import business_now
from cases.models import Case, Person, Proposal
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.work import CallOutcome
from tests.cases.builders import (
    EVENING_WORLD,
    MORNING,
    MORNING_WORLD,
    Cast,
    a_case_waiting_for_review,
    a_released_case,
    a_shipment,
    agent_reads,
    agent_starts_attempt,
    at_business_time,
    target_answers,
    target_shows,
    unreadable,
)


def page_of(case: Case, person: Person, query: str = "") -> str:
    """The case page as that person gets it, with runs of white space made one."""
    client = Client()
    client.force_login(person)
    answer = client.get(f"/cases/{case.pk}/{query}")
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


@pytest.fixture
def revised(cast: Cast) -> Case:
    """Tuesday 08:00: version 1 is stale, version 2 is ready."""
    case = a_case_waiting_for_review(cast)
    at_business_time(MORNING)
    agent_reads(case, MORNING_WORLD)
    case.refresh_from_db()
    return case


def test_while_a_reading_is_due_the_case_says_so_instead_of_what_held_before(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    agent_reads(case, EVENING_WORLD)
    assert "Proposal 1 still holds.</span>" in page_of(case, cast.owner)
    at_business_time(MORNING)
    page = page_of(case, cast.owner)
    assert "Its facts are being read again, since" in page
    assert "Proposal 1 still holds.</span>" not in page


def test_each_changed_fact_stands_with_then_now_and_why(cast: Cast, revised: Case) -> None:
    page = page_of(revised, cast.owner)
    for then, now, why in (
        ("Wed 25 Nov 10:00–12:00 EST", "Wed 25 Nov 14:00–16:00 EST", "a time that no longer holds"),
        ("open until Tue 24 Nov 00:00 CST", "expired Tue 24 Nov 00:00 CST", "cannot be booked"),
        ("none", "Oakline Freight (OAKX), set by J. Ortiz", "choice is kept"),
    ):
        assert re.search(
            f"<del>{re.escape(then)}</del>.*?<ins>{re.escape(now)}</ins>.*?{why}", page
        )
    for mark, word in (("~", "changed"), ("−", "ended"), ("+", "new")):
        assert f'class="mark">{mark}</span> <span class="mark-word">{word}</span>' in page
    assert "since version 1, shipment v41" in page


def test_three_axes_are_named_and_never_one_status(cast: Cast, revised: Case) -> None:
    page = page_of(revised, cast.owner)
    for name, word in (
        ("Facts", "Changed (3)"),
        ("Proposal", "v2 ready"),
        ("Action", "None attempted"),
    ):
        assert re.search(f"<dt>{name}</dt>.{{0,300}}?{re.escape(word)}", page)


def test_the_button_names_version_and_effect_and_the_recap_the_rest(
    cast: Cast, revised: Case
) -> None:
    page = page_of(revised, cast.owner)
    assert "Release v2 – send 1 update" in page
    assert "cannot be undone" in page
    assert "Cost: nothing." in page


def test_an_old_version_is_shown_with_its_release_off_and_the_way_on(
    cast: Cast, revised: Case
) -> None:
    page = page_of(revised, cast.owner, "?proposal=1")
    assert "Proposal 1 cannot be decided on: facts changed after it was made." in page
    assert 'value="release"' not in page
    assert re.search(r'<button[^>]*type="button" disabled[^>]*>Release v1', page)
    assert "Review v2" in page
    assert "Book BLUX Lines" in page


def test_a_blocked_case_shows_saved_values_as_yesterdays_and_holds_release(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    at_business_time(MORNING)
    agent_reads(case, (unreadable(a_shipment()),))
    page = page_of(case, cast.owner)
    for part in ("Learned", "Stopped", "Next"):
        assert f"<dt>{part}</dt>" in page
    assert "transport system answered 503" in page
    assert "yesterday’s" in page
    assert "Unverified" in page
    assert "v1 on hold" in page
    assert 'value="release"' not in page
    assert "Owner: Marta Ortega" in page


@pytest.mark.parametrize("role", ["auditor", "admin"])
def test_who_only_looks_sees_why_each_control_is_off(cast: Cast, revised: Case, role: str) -> None:
    page = page_of(revised, getattr(cast, role))
    assert f"{role.capitalize()}s cannot decide on proposals. Ask an operator." in page
    assert 'value="release"' not in page
    for value in ("send_back", "reject"):
        assert re.search(f'value="{value}" disabled', page)
    assert "Take this case" not in page
    assert "Only operators and leads assign cases." in page


def test_what_is_hidden_in_a_text_is_made_visible(cast: Cast, revised: Case) -> None:
    Proposal.objects.filter(case=revised, number=2).update(
        summary="Harmless\u202ereversed \u200band\u00a0more <script>alert(1)</script>"
    )
    page = page_of(revised, cast.owner)
    assert "\u202e" not in page
    for shown in ("U+202E", "U+200B", "U+00A0"):
        assert shown in page
    assert "<script>alert" not in page


def test_the_agents_words_are_unverified_and_folded_away(cast: Cast, revised: Case) -> None:
    page = page_of(revised, cast.owner)
    assert re.search(r'<details class="agent-words"> <summary>.*?unverified', page)


def test_after_a_release_four_labels_stand_apart(cast: Cast) -> None:
    case = a_released_case(cast)
    page = page_of(case, cast.owner)
    for name in ("Attempt", "Effect", "Adoption", "Acceptance"):
        assert f"<dt>{name}</dt>" in page
    assert "not yet made" in page
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    target_answers(grant, order)
    page = page_of(case, cast.owner)
    assert "answered (attempt 1)" in page
    assert "answered, not read back" in page
    target_shows(grant, order, state="confirmed")
    page = page_of(case, cast.owner)
    assert "confirmed by read-back" in page
    assert "carrier confirmed" in page


def test_an_unknown_outcome_is_called_unknown(cast: Cast) -> None:
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    target_answers(grant, order, CallOutcome.UNKNOWN)
    page = page_of(case, cast.owner)
    assert "Attempted, effect unknown" in page
    assert "looked up in the target, never guessed" in page


def test_pages_are_not_kept_by_browsers_and_say_what_they_depend_on(
    cast: Cast, revised: Case
) -> None:
    client = Client()
    client.force_login(cast.owner)
    answer = client.get(f"/cases/{revised.pk}/")
    assert "no-store" in answer["Cache-Control"]
    assert "HX-Request" in answer["Vary"]
    assert "'unsafe" not in answer["Content-Security-Policy"]


@pytest.mark.parametrize(
    "address",
    ["/", "/?view=all", "/cases/{}/", "/cases/{}/timeline/", "/cases/{}/compare/?from=1&to=2"],
)
def test_no_page_carries_scripts_or_styles_of_its_own(
    cast: Cast, revised: Case, address: str
) -> None:
    client = Client()
    client.force_login(cast.owner)
    page = client.get(address.format(revised.pk)).content.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)", page)
    assert not re.search(r"<style|\sstyle=|\son\w+=|hx-on|javascript:", page)


def test_two_versions_stand_side_by_side(cast: Cast, revised: Case) -> None:
    client = Client()
    client.force_login(cast.auditor)
    page = client.get(f"/cases/{revised.pk}/compare/?from=2&to=1").content.decode()
    assert "Book a replacement carrier" in page
    assert "dropped" in page
    assert "Keep the assigned carrier" in page
    assert client.get(f"/cases/{revised.pk}/compare/?from=1&to=1").status_code == 422
    assert client.get(f"/cases/{revised.pk}/compare/?from=1&to=9").status_code == 404


def test_the_timeline_tells_every_event_also_one_it_has_no_words_for(
    cast: Cast, revised: Case
) -> None:
    audit.append(
        case=revised,
        by=SYSTEM,
        at=business_now(),
        event="moon_phase_noted",
        data={"phase": "full", "reason": "It was bright."},
        request_id=uuid4().hex,
    )
    client = Client()
    client.force_login(cast.auditor)
    page = client.get(f"/cases/{revised.pk}/timeline/").content.decode()
    assert "Moon phase noted: It was bright." in page
    assert "Proposal 1 is stale" in page
    assert "Read shipment S-318 at version 42, before version 41." in page


@pytest.mark.parametrize(
    "address", ["/cases/999999/", "/cases/1/compare/?from=x&to=2", "/nowhere/"]
)
def test_errors_have_pages_that_say_what_to_do(cast: Cast, address: str) -> None:
    client = Client()
    client.force_login(cast.owner)
    answer = client.get(address)
    assert answer.status_code in {404, 422}
    assert "Go to the queue" in answer.content.decode()

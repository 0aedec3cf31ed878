"""An unknown outcome on the pages: what is known, what comes next, and a person's finding (P16)."""

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from cases.actions import ownership
from cases.clock import business_now
from cases.models import Case, Effect, Person, Run
from tests.cases.builders import Cast, audit_of, drop_fields, stage_of, target_shows
from tests.cases.doubts import a_case_given_up, a_case_in_doubt

TYPED = "Asked Bo at Bluewater: it is in their system."


def client_of(person: Person) -> Client:
    """A signed-in browser."""
    client = Client()
    client.force_login(person)
    return client


def page_of(client: Client, case: Case) -> str:
    """The case page."""
    return client.get(f"/cases/{case.pk}/").content.decode()


def a_finding(effect: Effect, **changes: Any) -> dict[str, Any]:
    """What the form posts when its page showed one attempt and no look."""
    return {
        "effect": effect.pk,
        "seen_attempts": 1,
        "seen_looks": 0,
        "seen_reports": 0,
        "happened": "yes",
        "reason": TYPED,
        **changes,
    }


def test_p16_the_page_says_everything_known_of_an_unknown_outcome(cast: Cast) -> None:
    """What, which reference and key, each attempt, each look, what comes next, owner, deadline."""
    case, grant, order = a_case_in_doubt(cast)
    target_shows(grant, order, state="", found=False)
    page = page_of(client_of(cast.owner), case)
    for words in (
        "Outcome unknown: Book a replacement carrier",
        "USD 1,790.00",
        order.effect.reference,
        str(order.effect.key),
        "by worker worker-1",
        "ended without a usable answer",
        "The target: unknown.",
        "not found",
        "Settle by",
        "17:15 CST",
        "hands the case to a person",
    ):
        assert words in page
    assert "Record the finding" not in page


def test_p16_the_page_says_what_the_agent_does_next(cast: Cast) -> None:
    """Held by a worker now; afterwards the next look, with the target's consistency window."""
    case, grant, order = a_case_in_doubt(cast)
    client = client_of(cast.owner)
    assert "A worker is at it now (worker-1)" in page_of(client, case)
    target_shows(grant, order, state="", found=False)
    Run.objects.update(lease_until=None, worker="")
    assert "what is absent 2 s after the first look" in page_of(client, case)


def test_p16_a_record_that_differs_is_shown_with_the_difference(cast: Cast) -> None:
    case, grant, order = a_case_in_doubt(cast)
    other = {**order.effect.parameters, "amount": {"amount_minor": 100, "currency": "USD"}}
    shown = replace(order, effect=replace(order.effect, parameters=other))
    target_shows(grant, shown, state="confirmed")
    page = page_of(client_of(cast.lead), case)
    assert "found, but not as released" in page
    assert "Amount USD 1.00 instead of USD 1,790.00" in page
    assert "Record the finding" in page


@pytest.mark.parametrize(
    ("happened", "words"), [("yes", "plans what is left"), ("no", "plans anew")]
)
def test_p16_a_finding_is_recorded_and_the_page_says_how_it_goes_on(
    cast: Cast, happened: str, words: str
) -> None:
    case, effect = a_case_given_up(cast)
    client = client_of(cast.lead)
    assert "The agent gave up" in page_of(client, case)
    answer = client.post(f"/cases/{case.pk}/finding/", a_finding(effect, happened=happened))
    assert answer.status_code == 302
    page = page_of(client, case)
    assert "Found by Priya Raman" in page
    assert TYPED in page
    assert words in page
    assert "Ask the agent to plan again" in page
    assert "Close the case" in page
    assert "Record the finding" not in page
    client.post(f"/cases/{case.pk}/close/", {"reason": "Done by hand.", **drop_fields(case)})
    assert stage_of(case) == "closed"


def test_p16_until_it_is_recorded_there_is_no_way_around_it(cast: Cast) -> None:
    """Neither another plan nor closing: both would guess."""
    case, _ = a_case_given_up(cast)
    client = client_of(cast.lead)
    assert "Ask the agent to plan again" not in page_of(client, case)
    for act in ("plan", "close"):
        answer = client.post(f"/cases/{case.pk}/{act}/", {"reason": TYPED})
        assert answer.status_code == 409
        assert "is unknown. Record it first" in answer.content.decode()


def test_p16_a_confirmation_on_a_persons_word_is_not_called_a_read_back(cast: Cast) -> None:
    case, effect = a_case_given_up(cast)
    client = client_of(cast.lead)
    client.post(f"/cases/{case.pk}/finding/", a_finding(effect))
    page = page_of(client, case)
    assert "confirmed by a person" in page
    assert "confirmed by read-back" not in page


@pytest.mark.parametrize(
    ("posted", "why"),
    [
        ({"reason": " "}, "Say how you know"),
        ({"happened": ""}, "choose whether it happened"),
        ({"reason": "x" * 2001}, "at most 2000 characters"),
    ],
)
def test_p16_a_finding_that_says_too_little_is_explained_and_keeps_everything(
    cast: Cast, posted: dict[str, str], why: str
) -> None:
    case, effect = a_case_given_up(cast)
    fields = a_finding(effect, happened="no") | posted
    answer = client_of(cast.lead).post(f"/cases/{case.pk}/finding/", fields)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert why in page
    assert f"{fields['reason'].strip()}</textarea>" in page
    assert ("checked" in page) is bool(fields["happened"])
    effect.refresh_from_db()
    assert effect.state == Effect.State.UNKNOWN


def test_p16_a_finding_that_comes_second_is_refused_with_what_holds_now(cast: Cast) -> None:
    """Two people rang the carrier; the second sees what the first recorded, and keeps the text."""
    case, effect = a_case_given_up(cast)
    first, second = client_of(cast.lead), client_of(cast.owner)
    first.post(f"/cases/{case.pk}/finding/", a_finding(effect, reason="The booking is there"))
    answer = second.post(f"/cases/{case.pk}/finding/", a_finding(effect, happened="no"))
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "What you saw, and how it stands now" in page
    assert "Priya Raman found: The booking is there" in page
    assert TYPED in page
    assert "Text you typed, not sent" in page


def test_p16_an_auditor_reads_it_and_records_nothing(cast: Cast) -> None:
    case, effect = a_case_given_up(cast)
    client = client_of(cast.auditor)
    page = page_of(client, case)
    assert "Outcome unknown" in page
    assert "Record the finding" not in page
    answer = client.post(f"/cases/{case.pk}/finding/", a_finding(effect))
    assert answer.status_code == 403
    assert audit_of(case)[-1].event == "act_refused"


def test_p16_the_queue_marks_an_unknown_outcome_wherever_the_case_stands(cast: Cast) -> None:
    """While the agent looks, with its deadline; and after it gave up."""
    looking, _, _ = a_case_in_doubt(cast)
    client = client_of(cast.lead)
    ownership.assign_case(case_id=looking.pk, to=cast.lead, by=cast.lead, at=business_now())
    queue = client.get("/?view=unknown").content.decode()
    assert "settle by" in queue
    assert "17:15 CST" in queue
    Case.objects.filter(pk=looking.pk).update(stage="escalated")
    queue = client.get("/?view=unknown").content.decode()
    assert "outcome unknown" in queue
    assert looking.subject in queue

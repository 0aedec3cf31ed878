"""The kill switch and the withdrawal of a release, as people use them (P9, P21)."""

import pytest
from django.test import Client

from cases.models import Decision, Pause, Person
from tests.cases.builders import (
    EVENING_WORLD,
    Cast,
    a_case_waiting_for_review,
    a_released_case,
    agent_starts_attempt,
    stage_of,
)


def client_of(person: Person) -> Client:
    """A signed-in browser."""
    client = Client()
    client.force_login(person)
    return client


def test_p21_a_lead_pauses_everything_with_one_reason_and_everyone_sees_it(cast: Cast) -> None:
    """The strip is on every page, with who and why."""
    case = a_case_waiting_for_review(cast)
    answer = client_of(cast.lead).post("/pauses/", {"reason": "TMS answers nonsense"})
    assert (answer.status_code, Pause.objects.get().lane) == (302, "")
    operator = client_of(cast.owner)
    for address in ("/", f"/cases/{case.pk}/", "/pauses/"):
        page = operator.get(address).content.decode()
        assert "Paused: everything" in page
        assert "TMS answers nonsense" in page
        assert "Priya Raman" in page


def test_p21_an_operator_reads_why_they_cannot_pause(cast: Cast) -> None:
    """No form that would be refused; a forged post is refused all the same."""
    client = client_of(cast.owner)
    assert "Ask a lead or an admin" in client.get("/pauses/").content.decode()
    assert client.post("/pauses/", {"reason": "x"}).status_code == 403
    assert not Pause.objects.exists()


@pytest.mark.parametrize("posted", [{}, {"reason": " "}, {"reason": "x", "lane": "brakes"}])
def test_p21_a_pause_that_says_too_little_is_explained_and_keeps_the_text(
    cast: Cast, posted: dict[str, str]
) -> None:
    """What was typed is still there."""
    answer = client_of(cast.lead).post("/pauses/", posted)
    assert answer.status_code == 422
    assert "Nothing was changed" in answer.content.decode()
    assert f">{posted.get('reason', '')}</textarea>" in answer.content.decode()
    assert not Pause.objects.exists()


def test_p21_lifting_a_pause_needs_a_reason_and_takes_the_strip_away(cast: Cast) -> None:
    """The admin lifts what the lead set."""
    client_of(cast.lead).post("/pauses/", {"reason": "Storm", "lane": "execution"})
    pause = Pause.objects.get()
    admin = client_of(cast.admin)
    assert admin.post(f"/pauses/{pause.pk}/lift/", {"reason": ""}).status_code == 422
    admin.post(f"/pauses/{pause.pk}/lift/", {"reason": "It is over"})
    page = admin.get("/").content.decode()
    assert "Paused: execution" not in page
    assert "It is over" in admin.get("/pauses/").content.decode()
    assert admin.post(f"/pauses/{pause.pk}/lift/", {"reason": "Again"}).status_code == 409
    assert admin.post("/pauses/999/lift/", {"reason": "x"}).status_code == 404


def test_p09_a_release_is_withdrawn_from_its_page(cast: Cast) -> None:
    """Offered as long as the release stands; afterwards the page says what became of it."""
    case = a_released_case(cast)
    client = client_of(cast.colleague)
    assert "Withdraw what has not been sent" in client.get(f"/cases/{case.pk}/").content.decode()
    client.post(f"/cases/{case.pk}/withdraw/", {"reason": "Customer called"})
    assert stage_of(case) == "escalated"
    page = client.get(f"/cases/{case.pk}/").content.decode()
    assert "Withdraw what has not been sent" not in page
    assert "Customer called" in page


def test_p09_a_withdrawal_that_comes_too_late_keeps_the_text(cast: Cast) -> None:
    """The attempt had begun: 409, with why, and nothing typed is lost."""
    case = a_released_case(cast)
    agent_starts_attempt(case, EVENING_WORLD)
    answer = client_of(cast.owner).post(
        f"/cases/{case.pk}/withdraw/", {"reason": "Customer called"}
    )
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "An attempt has begun" in page
    assert "Customer called" in page
    assert Decision.objects.get().ended_at is None


def test_p09_nothing_is_offered_to_withdraw_without_a_release(cast: Cast) -> None:
    """A case that waits for review has nothing to take back."""
    case = a_case_waiting_for_review(cast)
    page = client_of(cast.owner).get(f"/cases/{case.pk}/").content.decode()
    assert "Withdraw what has not been sent" not in page

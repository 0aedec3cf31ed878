"""P21: what is still in flight after a pause, until it is nothing; and no agent pauses (F2)."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from cases.actions import pauses, runs
from cases.actions.clock import move_business_clock
from cases.clock import business_now
from cases.models import AgentIdentity, AuditEvent, Pause, Person
from cases.queries.pauses import in_flight
from cases.vocabulary.errors import Refused
from tests.cases.builders import (
    EVENING_WORLD,
    Cast,
    a_case_waiting_for_review,
    a_grant,
    a_released_case,
    agent_starts_attempt,
    target_answers,
)


def client_of(person: Person) -> Client:
    """A signed-in browser."""
    client = Client()
    client.force_login(person)
    return client


def a_pause(cast: Cast, *, lane: str = "", kind: str = "") -> Pause:
    """The lead pauses."""
    return pauses.set_pause(
        lane=lane, kind=kind, agent="", reason="TMS acts up", by=cast.lead, at=business_now()
    )


def test_p21_a_call_under_way_is_counted_until_its_visit_ends(cast: Cast) -> None:
    grant, order = agent_starts_attempt(a_released_case(cast), EVENING_WORLD)
    assert order is not None
    a_pause(cast)
    flight = in_flight(at=business_now())
    assert (flight.visits, flight.calls, flight.abandoned) == (1, 1, 0)
    assert flight.since is not None
    assert 50 <= flight.seconds <= 60
    target_answers(grant, order)
    runs.let_go(grant=grant)
    assert in_flight(at=business_now()).visits == 0


def test_p21_only_what_is_paused_is_counted(cast: Cast) -> None:
    """A visit that plans does not keep a pause of the execution waiting."""
    a_grant(a_case_waiting_for_review(cast))
    a_pause(cast, lane="execution")
    assert in_flight(at=business_now()).visits == 0
    a_pause(cast, lane="refresh")
    assert in_flight(at=business_now()).visits == 1


def test_p21_a_call_whose_worker_died_is_told_apart(cast: Cast) -> None:
    agent_starts_attempt(a_released_case(cast), EVENING_WORLD)
    a_pause(cast)
    move_business_clock(by=timedelta(minutes=2))
    flight = in_flight(at=business_now())
    assert (flight.visits, flight.calls, flight.abandoned) == (0, 0, 1)


def test_p21_the_page_asks_until_nothing_is_in_flight(cast: Cast) -> None:
    """Polled while something is, and told once when nothing is any more."""
    grant, order = agent_starts_attempt(a_released_case(cast), EVENING_WORLD)
    assert order is not None
    client = client_of(cast.owner)
    assert "1 visit under way" in client.get("/pauses/").content.decode()
    a_pause(cast)
    page = client.get("/pauses/").content.decode()
    assert "1 visit still in flight" in page
    assert 'hx-get="/pauses/in-flight/"' in page
    runs.let_go(grant=grant)
    part = client.get("/pauses/in-flight/").content.decode()
    assert "0 in flight" in part
    assert "hx-get" not in part
    assert "Nothing is in flight any more" in part


def test_p21_the_commands_say_what_is_in_flight_and_what_a_resume_does(
    cast: Cast, capsys: pytest.CaptureFixture[str]
) -> None:
    agent_starts_attempt(a_released_case(cast), EVENING_WORLD)
    call_command("pause", "--by=priya", "--reason=Storm")
    call_command("resume")
    said = capsys.readouterr().out
    assert said.count("1 visit still in flight, 1 with a call that changes something") == 2
    assert "17:00 CST" in said
    call_command("resume", str(Pause.objects.get().pk), "--by=priya", "--reason=Over")
    assert "every release is checked anew before anything is sent" in capsys.readouterr().out


def test_p21_a_resume_on_the_page_says_what_comes_first(cast: Cast) -> None:
    pause = a_pause(cast)
    client = client_of(cast.lead)
    assert "What arrived meanwhile is processed first" in client.get("/pauses/").content.decode()
    answer = client.post(f"/pauses/{pause.pk}/lift/", {"reason": "Over"}, follow=True)
    assert "Resumed. What arrived meanwhile is processed first" in answer.content.decode()


@pytest.mark.parametrize("act", ["pause", "resume"])
def test_p21_f2_an_agent_neither_pauses_nor_resumes_and_that_it_tried_is_kept(
    cast: Cast, act: str
) -> None:
    agent = AgentIdentity.objects.get()
    pause = a_pause(cast, lane="execution")
    with pytest.raises(Refused, match="only named people"):
        if act == "pause":
            pauses.set_pause(
                lane="", kind="", agent="", reason="I know better", by=agent, at=business_now()
            )
        else:
            pauses.lift_pause(pause_id=pause.pk, reason="I am fine", by=agent, at=business_now())
    assert list(Pause.objects.filter(lifted_at=None)) == [pause]
    event = AuditEvent.objects.filter(case_id=0).latest("sequence")
    assert (event.event, event.actor_kind, event.actor_name) == (
        "pause_refused",
        "agent",
        "exception-bot@1.0",
    )
    assert event.data["act"] == act


def test_p21_f2_an_agents_name_is_nobodys_login(cast: Cast) -> None:
    """Not even from the command line of the night."""
    for name in ("exception-bot", "exception-bot@1.0"):
        with pytest.raises(CommandError, match="Nobody logs in"):
            call_command("pause", f"--by={name}", "--reason=x")
    assert not Pause.objects.exists()

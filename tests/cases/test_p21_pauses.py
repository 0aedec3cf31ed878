"""P21: a pause stops new calls, destroys nothing, remembers decisions; named people only (F2)."""

import pytest
from django.core.management import CommandError, call_command

from cases.actions import decisions, effects, evidence, pauses, runs
from cases.actions.people import register_agent
from cases.clock import business_now
from cases.models import Attempt, AuditEvent, Effect, Pause
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.errors import Conflict, InvalidInput, Refused
from tests.cases.builders import (
    AGENT,
    EVENING_WORLD,
    LEASE,
    TRANSPORT,
    Cast,
    a_case_waiting_for_review,
    a_grant,
    a_released_case,
    agent_starts_attempt,
    an_answer,
    an_open_case,
    stage_of,
)


def a_pause(cast: Cast, *, lane: str = "", kind: str = "", agent: str = "") -> Pause:
    """The lead pauses."""
    return pauses.set_pause(
        lane=lane, kind=kind, agent=agent, reason="TMS acts up", by=cast.lead, at=business_now()
    )


@pytest.mark.parametrize("who", ["owner", "auditor", "gone"])
def test_p21_only_leads_and_admins_pause(cast: Cast, who: str) -> None:
    """Everyone else is refused with a sentence."""
    with pytest.raises(Refused):
        pauses.set_pause(
            lane="", kind="", agent="", reason="x", by=getattr(cast, who), at=business_now()
        )
    assert not Pause.objects.exists()


def test_p21_a_pause_and_its_end_are_events_of_the_house(cast: Cast) -> None:
    """Who stopped what, when and why; and who started it again."""
    pause = a_pause(cast, lane="execution")
    pauses.lift_pause(pause_id=pause.pk, reason="Healthy", by=cast.admin, at=business_now())
    events = AuditEvent.objects.filter(case_id=0, event__in=("paused", "resumed"))
    assert [(row.event, row.actor_name) for row in events.order_by("sequence")] == [
        ("paused", "Priya Raman"),
        ("resumed", "Alex Stone"),
    ]


SCOPES = [
    ({}, True),
    ({"lane": "planning"}, True),
    ({"lane": "execution"}, False),
    ({"kind": "freight_exception"}, True),
    ({"agent": "exception-bot"}, True),
    ({"agent": "exception-bot@1.0"}, True),
    ({"agent": "other-bot"}, False),
    ({"lane": "planning", "agent": "other-bot"}, False),
]


@pytest.mark.parametrize(("scope", "stops"), SCOPES)
def test_p21_a_pause_stops_the_claim_of_exactly_its_scope(
    cast: Cast, scope: dict[str, str], stops: bool
) -> None:
    """A new case waits for planning; it is neither claimed nor nudged while that is paused."""
    case = an_open_case(cast)
    register_agent(name="other-bot", version="1", owner=cast.lead, by=SYSTEM, at=business_now())
    a_pause(cast, **scope)
    due = [found.case_id for found in runs.nudge_due(agent=AGENT, limit=10)]
    assert (due == []) is stops
    claimed = runs.claim(case_id=case.pk, agent=AGENT, worker="w", lease=LEASE)
    assert (claimed is None) is stops


def test_p21_a_pause_set_during_a_visit_stops_the_next_call(cast: Cast) -> None:
    """Facts were just read and hold; the switch comes first all the same."""
    case = a_released_case(cast)
    grant = a_grant(case)
    evidence.record_readings(grant=grant, by=AGENT, readings=EVENING_WORLD, asked_at=business_now())
    assert effects.clear_to_act(grant=grant, by=AGENT)
    a_pause(cast, lane="execution")
    effect = Effect.objects.order_by("id").first()
    assert effect is not None
    assert (
        effects.begin_attempt(grant=grant, by=AGENT, effect_id=effect.pk, capabilities=TRANSPORT)
        is None
    )
    assert Attempt.objects.count() == 0


def test_p21_a_decision_during_a_pause_is_remembered_and_checked_anew_afterwards(
    cast: Cast,
) -> None:
    """Released while paused; after the resume the facts are read before anything is done."""
    case = a_case_waiting_for_review(cast)
    pause = a_pause(cast)
    decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())
    assert runs.claim(case_id=case.pk, agent=AGENT, worker="w", lease=LEASE) is None
    pauses.lift_pause(pause_id=pause.pk, reason="Healthy", by=cast.lead, at=business_now())
    assert stage_of(case) == "executing"
    _, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None


def test_p21_the_same_scope_is_paused_once_and_lifted_once(cast: Cast) -> None:
    """Two leads at once: the second is told."""
    pause = a_pause(cast)
    with pytest.raises(Conflict):
        a_pause(cast)
    pauses.lift_pause(pause_id=pause.pk, reason="ok", by=cast.lead, at=business_now())
    with pytest.raises(Conflict, match="Priya Raman"):
        pauses.lift_pause(pause_id=pause.pk, reason="ok", by=cast.admin, at=business_now())


@pytest.mark.parametrize(("lane", "kind"), [("brakes", ""), ("", "yacht_charter")])
def test_p21_an_unknown_scope_is_refused(cast: Cast, lane: str, kind: str) -> None:
    """A pause that stops nothing would be believed."""
    with pytest.raises(InvalidInput):
        a_pause(cast, lane=lane, kind=kind)


def test_p21_the_night_has_commands_for_it(cast: Cast, capsys: pytest.CaptureFixture[str]) -> None:
    """Pause, list, resume; one line for whoever may not."""
    call_command("pause", "--by=priya", "--reason=Storm", "--lane=execution")
    call_command("resume")
    assert "execution, by Priya Raman: Storm" in capsys.readouterr().out
    number = str(Pause.objects.get().pk)
    with pytest.raises(CommandError, match="Ask a lead or an admin"):
        call_command("resume", number, "--by=marta", "--reason=x")
    call_command("resume", number, "--by=alex", "--reason=Over")
    assert Pause.objects.get().lifted_by == "Alex Stone"


def test_p21_a_mistyped_agent_is_refused_since_it_would_pause_nothing(cast: Cast) -> None:
    """Everybody would read that it is paused."""
    with pytest.raises(InvalidInput, match="There is no agent 'exeption-bot'"):
        a_pause(cast, agent="exeption-bot")
    assert not Pause.objects.exists()
    a_pause(cast, agent="exception-bot")
    a_pause(cast, agent="exception-bot@1.0")

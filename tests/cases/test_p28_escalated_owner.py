"""P28: whatever is escalated is somebody's, even where the case had nobody."""

from collections.abc import Callable

import pytest

from cases.actions import evidence, planning, runs, withdrawal
from cases.clock import business_now
from cases.models import Case
from tests.cases.builders import (
    AGENT,
    EVENING_WORLD,
    Cast,
    a_grant,
    a_released_case,
    agent_starts_attempt,
    an_open_case,
    audit_of,
    stage_of,
    target_answers,
    target_shows,
)


def leave_nobody(case: Case) -> None:
    """Its owner is taken away."""
    Case.objects.filter(pk=case.pk).update(owner=None)


def by_the_planner(cast: Cast) -> Case:
    """The planner knows no plan."""
    case = an_open_case(cast)
    leave_nobody(case)
    grant = a_grant(case)
    evidence.record_readings(grant=grant, by=AGENT, readings=EVENING_WORLD, asked_at=business_now())
    evidence.compare_with_now(grant=grant, by=AGENT)
    asked = planning.ask_for_plan(grant=grant, by=AGENT, planner="rules@1")
    answer = {"kind": "escalate", "summary": "No plan"}
    planning.record_plan(grant=grant, by=AGENT, request_id=asked.request_id, answer=answer)
    planning.propose(grant=grant, by=AGENT, request_id=asked.request_id)
    runs.let_go(grant=grant)
    return case


def by_the_target(cast: Cast) -> Case:
    """The carrier declines."""
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    leave_nobody(case)
    target_answers(grant, order)
    target_shows(grant, order, state="declined")
    return case


def by_a_person(cast: Cast) -> Case:
    """A colleague takes the release back."""
    case = a_released_case(cast)
    leave_nobody(case)
    withdrawal.withdraw_release(
        case_id=case.pk, by=cast.colleague, at=business_now(), reason="Wrong day"
    )
    return case


@pytest.mark.parametrize("escalate", [by_the_planner, by_the_target, by_a_person])
def test_p28_what_is_escalated_and_has_nobody_goes_to_the_lead(
    cast: Cast, escalate: Callable[[Cast], Case]
) -> None:
    case = escalate(cast)
    case.refresh_from_db()
    assert (stage_of(case), case.owner) == ("escalated", cast.lead)
    moved = next(row for row in audit_of(case) if row.event == "owner_changed")
    assert moved.data["reason"] == "Escalated, no owner."

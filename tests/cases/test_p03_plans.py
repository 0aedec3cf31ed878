"""P3: a planner's answer is kept before it is used, once per round of facts, and never replaced."""

from cases.actions import evidence, planning
from cases.clock import business_now
from cases.models import PlanRequest
from cases.vocabulary.playbook import Plan, PlanKind
from cases.vocabulary.work import Comparison, Grant, PlanQuestion
from tests.cases.builders import (
    AGENT,
    EVENING,
    EVENING_WORLD,
    MORNING_WORLD,
    Cast,
    a_grant,
    agent_plans,
    an_open_case,
    at_business_time,
    audit_of,
    stage_of,
)

ESCALATION = Plan(kind=PlanKind.ESCALATE, summary="I do not know.").as_value()
OTHER = Plan(kind=PlanKind.ESCALATE, summary="Something else.").as_value()


def a_question(cast: Cast) -> tuple[Grant, PlanQuestion]:
    """The agent has read the evening's world and asks for a plan."""
    at_business_time(EVENING)
    grant = a_grant(an_open_case(cast))
    evidence.record_readings(grant=grant, by=AGENT, readings=EVENING_WORLD, asked_at=business_now())
    assert evidence.compare_with_now(grant=grant, by=AGENT) is Comparison.PLAN
    return grant, planning.ask_for_plan(grant=grant, by=AGENT, planner="rules@1")


def test_p03_the_first_answer_stays(cast: Cast) -> None:
    """A worker that woke up late brings another one: it is ignored."""
    grant, question = a_question(cast)
    for answer in (ESCALATION, OTHER):
        planning.record_plan(grant=grant, by=AGENT, request_id=question.request_id, answer=answer)
    assert PlanRequest.objects.get().answer == ESCALATION
    events = [row.event for row in audit_of(PlanRequest.objects.get().case)]
    assert events.count("plan_answered") == 1


def test_p03_asking_again_brings_the_recorded_answer(cast: Cast) -> None:
    """After a crash the planner is not asked a second time."""
    grant, question = a_question(cast)
    planning.record_plan(grant=grant, by=AGENT, request_id=question.request_id, answer=ESCALATION)
    again = planning.ask_for_plan(grant=grant, by=AGENT, planner="rules@1")
    assert (again.request_id, again.answer) == (question.request_id, ESCALATION)
    assert PlanRequest.objects.get().times_asked == 1


def test_p03_an_answer_to_yesterdays_facts_is_not_used_today(cast: Cast) -> None:
    """The crash came between answer and proposal; by morning the facts are others."""
    grant, question = a_question(cast)
    planning.record_plan(grant=grant, by=AGENT, request_id=question.request_id, answer=ESCALATION)
    evidence.record_readings(grant=grant, by=AGENT, readings=MORNING_WORLD, asked_at=business_now())
    planning.propose(grant=grant, by=AGENT, request_id=question.request_id)
    case = PlanRequest.objects.get().case
    assert (stage_of(case), case.proposals.count()) == ("investigating", 0)
    agent_plans(case, grant)
    assert PlanRequest.objects.count() == 2
    kept = case.proposals.get().actions.get(position=1)
    assert kept.action == "keep_assigned_carrier"


def test_p20_an_answer_outside_the_catalogue_goes_to_a_person(cast: Cast) -> None:
    """An invented action, a missing parameter, no plan at all: escalated, with the reason."""
    grant, question = a_question(cast)
    planning.record_plan(
        grant=grant,
        by=AGENT,
        request_id=question.request_id,
        answer={
            "kind": "propose",
            "summary": "Drop the cache",
            "actions": [{"action": "drop_cache", "parameters": {}}],
        },
    )
    planning.propose(grant=grant, by=AGENT, request_id=question.request_id)
    case = PlanRequest.objects.get().case
    case.refresh_from_db()
    assert case.stage == "escalated"
    assert "drop_cache" in case.stage_reason


def test_p22_a_planner_that_is_asked_in_vain_uses_up_rounds_all_the_same(cast: Cast) -> None:
    """A model call costs money whether or not its answer arrives: asking has an end."""
    grant, question = a_question(cast)
    rounds = [
        planning.ask_for_plan(grant=grant, by=AGENT, planner="rules@1").planning_round
        for _ in range(6)
    ]
    assert question.planning_round == 1
    assert rounds == [1, 1, 2, 2, 2, 3]

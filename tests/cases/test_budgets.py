"""P22: what the agent may use on a case is limited over its whole life; named people raise it."""

from collections.abc import Callable

import pytest

from cases.actions import closing, evidence, planning, runs
from cases.actions.budgets import raise_budget
from cases.clock import business_now
from cases.models import AgentIdentity, BudgetRaise, Case, Person, Run
from cases.policies import check_may_raise_budget
from cases.vocabulary.errors import Conflict, InvalidInput, Refused
from cases.vocabulary.playbook import Plan, PlanKind
from cases.vocabulary.stages import Stage
from tests.cases.builders import (
    AGENT,
    EVENING,
    EVENING_WORLD,
    LEASE,
    Cast,
    a_case_waiting_for_review,
    a_grant,
    a_released_case,
    agent_reads,
    agent_starts_attempt,
    an_open_case,
    at_business_time,
    audit_of,
    events_of,
    stage_of,
)

STEPS, ROUNDS = 2_000, 20

type CaseIn = Callable[[Cast], Case]


def use_up_steps(case: Case) -> None:
    """As if the agent had worked on the case for weeks."""
    Run.objects.filter(case=case).update(steps=STEPS)


def agent_begins_a_step(case: Case) -> Case:
    """A worker claims the case, begins a step, and lets go; the case as it stands then."""
    grant = a_grant(case)
    runs.renew(grant=grant, agent=AGENT, lease=LEASE)
    runs.let_go(grant=grant)
    return Case.objects.select_related("owner", "run").get(pk=case.pk)


def raise_steps(case: Case, by: Person, *, limit: int = 3_000) -> None:
    """Someone allows more steps."""
    raise_budget(
        case_id=case.pk,
        resource="steps",
        limit=limit,
        reason="A long storm.",
        by=by,
        at=business_now(),
    )


@pytest.fixture
def stopped(cast: Cast) -> Case:
    """A case that waited for review when the agent's steps were used up."""
    case = a_case_waiting_for_review(cast)
    use_up_steps(case)
    return agent_begins_a_step(case)


def test_p22_each_step_is_counted(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    before = case.run.steps
    assert agent_begins_a_step(case).run.steps == before + 1


def test_p22_used_up_means_blocked_with_an_owner_and_a_sentence(cast: Cast, stopped: Case) -> None:
    assert (stopped.current_stage, stopped.blocked_from) == (Stage.BLOCKED, "waiting_for_review")
    assert stopped.owner == cast.owner
    assert stopped.blocked_reason == (
        "The agent used up its budget for this case: 2,000 of 2,000 steps. "
        "A lead or an admin can raise it."
    )
    assert (stopped.next_try_at, stopped.run.due_at) == (None, None)
    blocked = audit_of(stopped)[-1]
    assert (blocked.event, blocked.actor_name) == ("case_blocked", "Watchbill")


def test_p22_a_stopped_case_without_an_owner_goes_to_the_lead(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    Case.objects.filter(pk=case.pk).update(owner=None)
    use_up_steps(case)
    assert agent_begins_a_step(case).owner == cast.lead


def test_p22_a_stopped_case_stays_so_however_often_it_is_looked_at(stopped: Case) -> None:
    """No audit growth, no step counted, nothing due: a hot loop would have nothing to burn."""
    events = events_of(stopped)
    for _ in range(3):
        again = agent_begins_a_step(stopped)
        assert (again.run.steps, again.run.due_at) == (STEPS, None)
    grant = a_grant(stopped)
    runs.block(grant=grant, by=AGENT, reason="The visit failed.")
    assert (events_of(stopped), stage_of(stopped)) == (events, "blocked")
    assert Case.objects.get(pk=stopped.pk).next_try_at is None


def test_p22_asking_a_stopped_agent_to_read_again_is_refused_with_why(
    cast: Cast, stopped: Case
) -> None:
    with pytest.raises(Conflict, match="2,000 of 2,000 steps"):
        closing.refresh_now(case_id=stopped.pk, by=cast.owner, at=business_now())


@pytest.mark.parametrize("who", ["lead", "admin"])
def test_p22_a_raised_budget_lets_the_case_go_on_from_where_it_stood(
    cast: Cast, stopped: Case, who: str
) -> None:
    """Due at once; what stands is compared with fresh facts before it can be decided on."""
    raise_steps(stopped, getattr(cast, who))
    run = Run.objects.get(case=stopped)
    assert run.due_at is not None and run.due_at <= business_now()
    assert stage_of(stopped) == "blocked"
    agent_reads(stopped, EVENING_WORLD)
    assert stage_of(stopped) == "waiting_for_review"
    assert agent_begins_a_step(stopped).run.steps == STEPS + 1


def test_p22_a_raise_says_who_why_and_from_what_to_what(cast: Cast, stopped: Case) -> None:
    raise_steps(stopped, cast.lead)
    raised = audit_of(stopped)[-1]
    assert (raised.event, raised.actor_name) == ("budget_raised", "Priya Raman")
    assert raised.data == {
        "resource": "steps",
        "limit": 3_000,
        "before": STEPS,
        "used": STEPS,
        "reason": "A long storm.",
    }
    kept = BudgetRaise.objects.get()
    assert (kept.by, kept.by_name, kept.limit) == (cast.lead, "Priya Raman", 3_000)


def test_p22_a_raise_before_the_end_leaves_the_case_at_rest(cast: Cast) -> None:
    """Nothing was stopped, so nothing is due earlier than it was."""
    case = a_case_waiting_for_review(cast)
    due_at = case.run.due_at
    raise_steps(case, cast.lead)
    assert Run.objects.get(case=case).due_at == due_at


@pytest.mark.parametrize("who", ["owner", "auditor", "gone"])
def test_p22_only_leads_and_admins_raise(cast: Cast, stopped: Case, who: str) -> None:
    with pytest.raises(Refused, match="Ask a lead or an admin"):
        raise_steps(stopped, getattr(cast, who))
    assert not BudgetRaise.objects.exists()
    assert audit_of(stopped)[-1].event == "act_refused"


def test_p22_the_agents_own_role_never_raises(cast: Cast) -> None:
    with pytest.raises(Refused, match="only named people raise"):
        check_may_raise_budget(person=AgentIdentity.objects.get())


@pytest.mark.parametrize("limit", [STEPS, 1, 0, -1, 10**12 + 1])
def test_p22_a_limit_that_raises_nothing_is_refused(cast: Cast, stopped: Case, limit: int) -> None:
    with pytest.raises(InvalidInput):
        raise_steps(stopped, cast.lead, limit=limit)


def test_p22_a_limit_below_what_is_used_already_is_refused(cast: Cast) -> None:
    """One answer may cost more than was left; the raise must leave something to use."""
    case = a_case_waiting_for_review(cast)
    Run.objects.filter(case=case).update(steps=2_500)
    with pytest.raises(InvalidInput, match="2,500 of 2,400 steps"):
        raise_steps(case, cast.lead, limit=2_400)


def test_p22_a_second_resource_that_is_used_up_stops_it_again_with_its_own_name(
    cast: Cast, stopped: Case
) -> None:
    Run.objects.filter(case=stopped).update(calls=5_000)
    raise_steps(stopped, cast.lead)
    again = agent_begins_a_step(stopped)
    assert "5,000 of 5,000 calls to outside systems" in again.blocked_reason
    assert again.blocked_from == "waiting_for_review"


def test_p22_a_case_that_was_blocked_before_keeps_where_it_stood(cast: Cast) -> None:
    """First the source failed, then the steps ran out: the raise does not pass over the source."""
    case = a_case_waiting_for_review(cast)
    runs.block(grant=a_grant(case), by=AGENT, reason="Unreadable.")
    use_up_steps(case)
    stopped = agent_begins_a_step(case)
    assert stopped.blocked_from == "waiting_for_review"
    assert (stopped.next_try_at, stopped.run.due_at) == (None, None)
    raise_steps(case, cast.lead)
    assert stage_of(case) == "blocked"


def test_p22_used_up_rounds_stop_planning_but_not_what_stands(cast: Cast) -> None:
    """The last round made a proposal: it can be refreshed and decided on, but not replaced."""
    case = a_case_waiting_for_review(cast)
    Case.objects.filter(pk=case.pk).update(planning_round=ROUNDS + 1)
    assert agent_begins_a_step(case).current_stage is Stage.WAITING_FOR_REVIEW
    Case.objects.filter(pk=case.pk).update(stage="investigating")
    assert "20 of 20 planning rounds" in agent_begins_a_step(case).blocked_reason


def test_p22_an_unknown_outcome_stays_one_when_the_budget_is_used_up(cast: Cast) -> None:
    """The stop settles nothing: after the raise it is looked up, not tried again."""
    case = a_released_case(cast)
    agent_starts_attempt(case, EVENING_WORLD)
    use_up_steps(case)
    assert agent_begins_a_step(case).blocked_from == "executing"
    raise_steps(case, cast.lead)
    agent_reads(case, EVENING_WORLD)
    assert stage_of(case) == "reconciling"


def plan_costing(cast: Cast, **usage: object) -> Case:
    """The planner answered, and said what that cost."""
    at_business_time(EVENING)
    case = an_open_case(cast)
    grant = a_grant(case)
    evidence.record_readings(grant=grant, by=AGENT, readings=EVENING_WORLD, asked_at=business_now())
    evidence.compare_with_now(grant=grant, by=AGENT)
    question = planning.ask_for_plan(grant=grant, by=AGENT, planner="model@1")
    answer = Plan(kind=PlanKind.ESCALATE, summary="Unsure.").as_value() | {"usage": usage}
    for _ in range(2):  # the second time as after a crash: it is not charged twice
        planning.record_plan(grant=grant, by=AGENT, request_id=question.request_id, answer=answer)
    planning.propose(grant=grant, by=AGENT, request_id=question.request_id)
    return Case.objects.select_related("run").get(pk=case.pk)


def test_p22_tokens_and_money_are_charged_once_per_answer(cast: Cast) -> None:
    case = plan_costing(cast, tokens=1_200, micros=4_300)
    assert (case.run.tokens, case.run.spent_micros) == (1_200, 4_300)
    answered = next(row for row in audit_of(case) if row.event == "plan_answered")
    assert (answered.data["tokens"], answered.data["micros"]) == (1_200, 4_300)


def test_p22_an_answer_whose_cost_cannot_be_counted_goes_to_a_person(cast: Cast) -> None:
    case = plan_costing(cast, tokens=-5)
    assert (case.stage, case.run.tokens) == ("escalated", 0)
    assert "usage of an answer" in case.stage_reason

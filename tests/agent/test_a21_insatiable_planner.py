"""A21, P22: a planner that always asks for more stops at the budget over the case's whole life."""

from dataclasses import dataclass, replace
from typing import Any

import pytest
from pytest_django import Settings

from agent.desk import RecordDesk
from agent.planner.rules import RulePlanner
from agent.runner import Runner, Visit
from cases.actions import closing
from cases.actions.budgets import raise_budget
from cases.clock import business_now
from cases.models import Case, Run
from cases.vocabulary.budgets import USUAL_BUDGET, Resource
from cases.vocabulary.freight import FREIGHT
from cases.vocabulary.playbook import Plan, PlanKind
from cases.vocabulary.playbooks import PLAYBOOKS
from cases.vocabulary.work import PlanQuestion
from tests.agent.rig import MemoryCheckpoints
from tests.agent.world import EVENING, World
from tests.cases.builders import Cast, a_cast, an_open_case, at_business_time, events_of

RESUMES = 5


@dataclass
class InsatiablePlanner(RulePlanner):
    """Whatever it is shown, it wants one more look, and every look costs."""

    asked: int = 0

    def plan(self, question: PlanQuestion) -> dict[str, Any]:
        """See `Planner.plan`."""
        self.asked += 1
        plan = Plan(kind=PlanKind.ESCALATE, summary=f"I need look {self.asked + 1}.")
        return plan.as_value() | {"usage": {"tokens": 1_000, "micros": 20_000}}


@dataclass
class Desk:
    """One case of the real record, and workers that each live for one visit."""

    cast: Cast
    case: Case
    planner: InsatiablePlanner
    world: World
    checkpoints: MemoryCheckpoints

    def visit(self) -> Visit:
        """A new worker process looks at the case, if it is due."""
        runner = Runner(
            desk=RecordDesk(agent_name="exception-bot", agent_version="1.0"),
            source=self.world,
            planner=self.planner,
            checkpoints=self.checkpoints,
            worker="worker",
        )
        return runner.advance(case_id=self.case.pk)

    def resume(self) -> Visit:
        """Somebody wants it to go on: a person where one has it, or else any reason to look."""
        self.case.refresh_from_db()
        if self.case.stage == "escalated":
            closing.ask_for_plan(
                case_id=self.case.pk, by=self.cast.owner, at=business_now(), reason="Look again."
            )
        Run.objects.filter(case=self.case).update(due_at=business_now())
        return self.visit()


@pytest.fixture
def desk(db: None, settings: Settings) -> Desk:
    """Monday 17:00, one case just opened."""
    settings.MOVABLE_CLOCK = True
    cast = a_cast()
    at_business_time(EVENING)
    return Desk(cast, an_open_case(cast), InsatiablePlanner(), World(), MemoryCheckpoints())


def allow(monkeypatch: pytest.MonkeyPatch, resource: Resource, limit: int) -> None:
    """The playbook allows this much, and of everything else as usual."""
    budget = {**USUAL_BUDGET, resource: limit}
    monkeypatch.setitem(PLAYBOOKS, FREIGHT.kind, replace(FREIGHT, budget=budget))


@pytest.mark.parametrize(
    ("resource", "limit", "said"),
    [
        (Resource.PLANNING_ROUNDS, 3, "3 of 3 planning rounds"),
        (Resource.TOKENS, 2_500, "3,000 of 2,500 model tokens"),
        (Resource.MONEY, 50_000, "USD 0.06 of USD 0.05 model costs"),
        (Resource.STEPS, 14, "14 of 14 steps"),
        (Resource.CALLS, 3, "3 of 3 calls to outside systems"),
    ],
)
def test_a21_resumed_again_and_again_it_stops_with_a_named_reason_and_an_owner(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, resource: Resource, limit: int, said: str
) -> None:
    """The library's limit is per call and starts anew with each; this one does not."""
    allow(monkeypatch, resource, limit)
    desk.visit()
    for _ in range(RESUMES):
        desk.resume()
    desk.case.refresh_from_db()
    assert (desk.case.stage, desk.case.owner) == ("blocked", desk.cast.owner)
    assert said in desk.case.blocked_reason
    assert desk.planner.asked <= 3
    assert desk.visit() is Visit.NOT_CLAIMED, "nothing is due any more"


def test_a21_what_stopped_it_is_written_once_and_a_raise_moves_it_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow(monkeypatch, Resource.PLANNING_ROUNDS, 1)
    desk.visit()
    for _ in range(RESUMES):
        desk.resume()
    assert desk.planner.asked == 1
    assert events_of(desk.case).count("case_blocked") == 1
    raise_budget(
        case_id=desk.case.pk,
        resource="planning_rounds",
        limit=2,
        reason="One more.",
        by=desk.cast.lead,
        at=business_now(),
    )
    assert desk.visit() is Visit.PAUSED
    assert desk.planner.asked == 2
    desk.case.refresh_from_db()
    assert desk.case.stage == "escalated"

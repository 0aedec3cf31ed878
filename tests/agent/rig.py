"""The agent with its doors replaced by twins: the graph, the runner and the planner are real."""

from dataclasses import dataclass, field
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from agent.checkpoints import Checkpoints, strict_serializer
from agent.planner.rules import RulePlanner
from agent.runner import Runner, Visit
from cases.vocabulary.work import PlanQuestion
from tests.agent.twin import DeskTwin
from tests.agent.world import World


class MemoryCheckpoints:
    """Checkpoints that live as long as this object, serialised as strictly as the real ones."""

    def __init__(self) -> None:
        self._saver = InMemorySaver(serde=strict_serializer())

    @property
    def saver(self) -> InMemorySaver:
        """See `Checkpoints.saver`."""
        return self._saver

    def keep_latest(self, thread_id: str) -> None:
        """See `Checkpoints.keep_latest`; memory needs no pruning."""

    def forget(self, *thread_ids: str) -> None:
        """See `Checkpoints.forget`."""
        for thread_id in thread_ids:
            self._saver.delete_thread(thread_id)

    def threads(self) -> set[str]:
        """See `Checkpoints.threads`."""
        return {*self._saver.storage, *(key[0] for key in self._saver.writes)}


@dataclass
class CountingPlanner(RulePlanner):
    """The rule planner, counting how often it is asked."""

    asked: int = 0

    def plan(self, question: PlanQuestion) -> dict[str, Any]:
        """See `Planner.plan`."""
        self.asked += 1
        return super().plan(question)


@dataclass(kw_only=True)
class Rig:
    """One case, one world, one planner, and as many worker processes as a test wants."""

    desk: DeskTwin = field(default_factory=DeskTwin)
    world: World = field(default_factory=World)
    planner: CountingPlanner = field(default_factory=CountingPlanner)
    checkpoints: Checkpoints = field(default_factory=MemoryCheckpoints)

    def new_process(self) -> Runner:
        """A runner that shares nothing with earlier ones but record, world and checkpoints."""
        return Runner(
            desk=self.desk,
            source=self.world,
            planner=self.planner,
            checkpoints=self.checkpoints,
            worker="test",
        )

    def visit(self) -> Visit:
        """One visit by a new process."""
        return self.new_process().advance(case_id=self.desk.case_id)

    def work_until_idle(self) -> None:
        """Visits, as the sweep would order them, until nothing is due any more."""
        for _ in range(10):
            if not self.desk.is_free():
                return
            self.visit()
        raise AssertionError(f"still busy after ten visits: {self.desk.events[-10:]}")

"""Group A of docs/failures.md: pausing and resuming repeat nothing and lose nothing."""

import ast
import time
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import interrupt

from agent.graph import build_graph
from agent.runner import LEASE, thread_of
from agent.state import CaseState, Work
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import Situation
from tests.agent.rig import Rig
from tests.agent.twin import DeskTwin
from tests.agent.world import OAKLINE, TWO, ProcessDied
from tools.paths import ROOT

type Compiled = CompiledStateGraph[CaseState, Work, CaseState, CaseState]


def thread(rig: Rig) -> RunnableConfig:
    """The thread of a rig's case."""
    return {"configurable": {"thread_id": thread_of(rig.desk.case_id)}}


def graph_of(rig: Rig) -> Compiled:
    """The graph, on the rig's checkpoints."""
    return build_graph().compile(checkpointer=rig.checkpoints.saver)


def a_visit(rig: Rig) -> Work:
    """A claim on the case, whether anything is due or not."""
    rig.desk.wake()
    grant = rig.desk.claim(case_id=rig.desk.case_id, worker="support", lease=LEASE)
    assert grant is not None
    return Work(
        desk=rig.desk,
        source=rig.world,
        planner=rig.planner,
        grant=grant,
        lease=LEASE,
        steps_left=40,
        ends_at=time.monotonic() + 60,
    )


@dataclass(kw_only=True)
class DyingDesk(DeskTwin):
    """A record whose worker dies when it asks where the case stands, `deaths` times."""

    deaths: int = 0

    def situation(self, *, case_id: int) -> Situation:
        """See `Desk.situation`."""
        if self.deaths:
            self.deaths -= 1
            raise ProcessDied
        return super().situation(case_id=case_id)


def test_p05_a05_resumed_and_killed_three_times_nothing_before_the_pause_happens_again() -> None:
    desk = DyingDesk()
    rig = Rig(desk=desk)
    rig.work_until_idle()
    before, calls = list(desk.events), list(rig.world.calls)
    desk.deaths = 3
    for _ in range(3):
        desk.wake()
        with pytest.raises(ProcessDied):
            rig.visit()
        desk.pass_time(seconds=61)
    rig.visit()
    assert (desk.events, rig.world.calls, rig.planner.asked) == (before, calls, 1)


def test_a06_fresh_input_to_a_waiting_case_orphans_no_question() -> None:
    rig = Rig()
    rig.work_until_idle()
    fresh = CaseState(case_id=rig.desk.case_id, flow_version=rig.desk.flow_version)
    graph_of(rig).invoke(fresh, thread(rig), context=a_visit(rig))
    assert [p.state for p in rig.desk.proposals] == ["ready"]
    assert graph_of(rig).get_state(thread(rig)).interrupts != ()
    assert rig.planner.asked == 1


def test_a06_an_event_while_a_proposal_waits_marks_it_stale_and_plans_once_more() -> None:
    rig = Rig()
    rig.work_until_idle()
    rig.world.change(delivery_window=TWO, carrier_assignment=OAKLINE)
    rig.desk.refresh_due_at = rig.desk.due_at = rig.desk.now
    rig.work_until_idle()
    assert [p.state for p in rig.desk.proposals] == ["stale", "ready"]
    assert rig.planner.asked == 2


def test_a07_replaying_any_stored_checkpoint_of_a_finished_case_repeats_no_effect() -> None:
    rig = Rig()
    rig.work_until_idle()
    rig.desk.release(1)
    rig.work_until_idle()
    assert rig.desk.stage is Stage.WAITING_FOR_ACCEPTANCE
    history = [saved.config for saved in graph_of(rig).get_state_history(thread(rig))]
    assert len(history) > 10
    performed = [call for call in rig.world.calls if call.startswith("perform")]
    for config in history:
        work = a_visit(rig)
        graph_of(rig).invoke(None, config, context=work)
        rig.desk.let_go(grant=work.grant)
    assert [call for call in rig.world.calls if call.startswith("perform")] == performed
    assert len(rig.world.ledger) == 2


GRAPH_MODULES = ["nodes.py", "graph.py", "routing.py", "state.py", "desk.py"]


def broad_handlers(source: str) -> list[int]:
    """The lines at which everything is caught that comes."""
    broad = {"Exception", "BaseException"}
    return [
        handler.lineno
        for handler in ast.walk(ast.parse(source))
        if isinstance(handler, ast.ExceptHandler)
        and (
            handler.type is None
            or any(
                isinstance(name, ast.Name) and name.id in broad for name in ast.walk(handler.type)
            )
        )
    ]


def test_a08_no_step_catches_what_it_does_not_name_so_none_can_swallow_the_pause() -> None:
    parts = [ROOT / "agent" / name for name in GRAPH_MODULES]
    parts += [*(ROOT / "agent/sources").glob("*.py"), *(ROOT / "agent/planner").glob("*.py")]
    assert len(parts) > len(GRAPH_MODULES)
    assert {part.name: broad_handlers(part.read_text()) for part in parts} == {
        part.name: [] for part in parts
    }
    assert broad_handlers("try: pass\nexcept (OSError, Exception): pass") == [2]


def test_a08_when_a_review_is_needed_the_case_waits_and_nothing_else_is_tried() -> None:
    rig = Rig()
    rig.work_until_idle()
    assert rig.desk.stage is Stage.WAITING_FOR_REVIEW
    assert graph_of(rig).get_state(thread(rig)).next == ("wait",)
    assert rig.world.calls == ["read"]


def test_a11_no_two_steps_ever_run_side_by_side() -> None:
    rig = Rig()
    rig.work_until_idle()
    rig.desk.release(1)
    rig.work_until_idle()
    history: list[Any] = list(graph_of(rig).get_state_history(thread(rig)))
    assert {len(saved.next) for saved in history} == {1}


def review(state: CaseState) -> CaseState:
    """The pause under the name it had in an earlier release."""
    interrupt("waiting")
    return CaseState()


def test_a22_a_step_renamed_without_a_new_version_loses_no_release() -> None:
    """The worst mistake: the pause is gone from the graph, and nobody counted the version up."""
    rig = Rig()
    rig.work_until_idle()
    rig.checkpoints.forget(thread_of(rig.desk.case_id))
    earlier: StateGraph[CaseState, None, CaseState, CaseState] = StateGraph(CaseState)
    earlier.add_node("review", review)
    earlier.add_edge(START, "review")
    paused = earlier.compile(checkpointer=rig.checkpoints.saver)
    paused.invoke(CaseState(case_id=7, flow_version=rig.desk.flow_version), thread(rig))
    assert paused.get_state(thread(rig)).next == ("review",)
    rig.desk.release(1)
    rig.work_until_idle()
    assert rig.desk.stage is Stage.WAITING_FOR_ACCEPTANCE
    assert len(rig.world.ledger) == 2

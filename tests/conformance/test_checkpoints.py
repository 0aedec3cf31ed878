"""P1, P24: the saved position is lost, or names a step that no longer exists."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import Command

from agent import nodes
from agent.crew import AGENT_NAME, AGENT_VERSION
from agent.desk import RecordDesk
from agent.graph import STEPS, CaseGraph
from agent.planner.rules import RulePlanner
from agent.runner import Runner, thread_of
from agent.sources.transport import TransportSource
from agent.state import CaseState, Work
from tests.conformance.bench import CALL_TIMEOUT, Bench
from tests.conformance.peer import RELEASE
from tests.conformance.peer_bench import PeerBench
from tests.conformance.table import Form, Tally, Verdict

DONE = "waiting_for_acceptance"
DELETED = "checkpoint deleted, at each stage"
RENAMED = "waiting node renamed"
OLD_NAME = "await_answer"


def while_waiting(bench: Bench) -> None:
    """A proposal waits for a decision."""
    bench.ready()
    forget(bench)
    bench.release(1)


def while_released(bench: Bench) -> None:
    """A release waits for a worker."""
    bench.released()
    forget(bench)


def while_unknown(bench: Bench) -> None:
    """An outcome is unknown."""
    bench.released()
    bench.control.fault("commit_then_500", path_prefix="/v1/bookings", times=1)
    bench.control.fault("404_after_create", path_prefix="/v1/bookings", seconds=3)
    bench.work_until("reconciling")
    forget(bench)


def while_unadopted(bench: Bench) -> None:
    """The carrier has not confirmed yet."""
    bench.released()
    bench.control.settings(booking_confirm_seconds=30)
    bench.work_until("verifying")
    forget(bench)


def while_blocked(bench: Bench) -> None:
    """The source could not be read."""
    bench.released()
    bench.control.fault("503", path_prefix="/v1/shipments", times=1)
    bench.work_until("blocked")
    forget(bench)


def while_done(bench: Bench) -> None:
    """The outcome waits for acceptance."""
    bench.released()
    bench.work_until(DONE)
    forget(bench)


STAGES = (
    while_waiting,
    while_unknown,
    while_unadopted,
    pytest.param(while_released, marks=pytest.mark.long_conformance),
    pytest.param(while_blocked, marks=pytest.mark.long_conformance),
    pytest.param(while_done, marks=pytest.mark.long_conformance),
)


def forget(bench: Bench) -> None:
    """Delete everything the checkpointer keeps of the case."""
    bench.checkpoints.forget(thread_of(bench.case_id))
    assert bench.checkpoint_rows() == 0


@pytest.mark.parametrize("stage", STAGES)
def test_p01_a_deleted_checkpoint_loses_nothing(
    bench: Bench, tally: Tally, form: Form, stage: Callable[[Bench], None]
) -> None:
    """The record is asked where the case stands; what was done is not done again."""

    def run() -> None:
        stage(bench)
        bench.work_until(DONE)
        bench.accept()
        bench.work_until("closed")

    for _ in form.of(full=12):
        tally.watchbill(DELETED, bench.judged(run))


def old_graph() -> CaseGraph:
    """Yesterday's release: the same steps, but the pause had another name."""
    graph: CaseGraph = StateGraph(CaseState, context_schema=Work)
    for step in STEPS:
        if step is not nodes.wait:
            graph.add_node(step.__name__, step)
    graph.add_node("wait", to_the_old_pause, destinations=(OLD_NAME,))
    graph.add_node(OLD_NAME, nodes.wait, destinations=("look",))
    graph.add_edge(START, nodes.look.__name__)
    return graph


def to_the_old_pause(state: CaseState) -> Command[Any]:
    """On to the step that was renamed since."""
    return Command(goto=OLD_NAME)


def renamed(bench: Bench) -> None:
    """The case waits at a step of the old release; the new one does not have it."""
    bench.fresh()
    source = TransportSource(
        address=bench.simulator.url, token=bench.simulator.token, timeout=CALL_TIMEOUT
    )
    old_release = Runner(
        desk=RecordDesk(agent_name=AGENT_NAME, agent_version=AGENT_VERSION),
        source=source,
        planner=RulePlanner(),
        checkpoints=bench.checkpoints,
        worker="old release",
        flows={1: old_graph},
    )
    old_release.advance(case_id=bench.case_id)
    source.close()
    bench.expect("waiting_for_review")
    bench.release(1)
    bench.work_until(DONE)


def test_p24_a_renamed_step_does_not_lose_the_release(
    bench: Bench, tally: Tally, form: Form
) -> None:
    """The saved position leads nowhere; the record does not need it."""
    for _ in form.of(full=30):
        tally.watchbill(RENAMED, bench.judged(partial(renamed, bench)))


def peer_without_checkpoint(peer: PeerBench) -> Verdict:
    """Its state is its checkpoints, so the answer has nothing to go to."""
    peer.ready()
    peer.saver.delete_thread(peer.thread)
    return peer.judged(partial(answer_and_finish, peer))


def peer_with_a_renamed_pause(peer: PeerBench) -> Verdict:
    """The new release calls the pause `approval`."""
    peer.ready()
    return peer.judged(partial(answer_and_finish, peer, review="approval"))


def answer_and_finish(peer: PeerBench, *, review: str = "review") -> None:
    """The answer is delivered to the new release."""
    peer.answer(RELEASE, review=review)
    peer.finish(review=review)


def test_the_peer_without_its_checkpoint_or_its_node(
    peer: PeerBench, tally: Tally, form: Form
) -> None:
    """The release vanishes."""
    for _ in form.of(full=20):
        tally.peer(DELETED, peer_without_checkpoint(peer))
        tally.peer(RENAMED, peer_with_a_renamed_pause(peer))

"""P1, P5, P11, P12: the graph waits without holding anything, and goes on from the record."""

import threading
from contextlib import suppress

import pytest
from langgraph.types import Command

from agent.flows import FLOWS
from agent.graph import build_graph
from agent.runner import STEPS_PER_VISIT, Runner, Visit, thread_of
from cases.vocabulary.freight_plans import promise_about
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import Grant
from tests.agent.rig import MemoryCheckpoints, Rig
from tests.agent.twin import DeskTwin
from tests.agent.world import OAKLINE, TWO, quote_fields

EDGES = {
    ("__start__", "look"),
    *(("look", to) for to in ("gather", "revalidate", "verify", "wait", "__end__")),
    *(("gather", to) for to in ("compare", "look")),
    *(("compare", to) for to in ("plan", "revalidate", "wait", "look")),
    *(("plan", to) for to in ("propose", "look")),
    *(("propose", to) for to in ("wait", "look")),
    *(("revalidate", to) for to in ("act", "verify", "look")),
    *(("act", to) for to in ("verify", "wait", "look")),
    *(("verify", to) for to in ("revalidate", "repeat", "wait", "look")),
    *(("repeat", to) for to in ("verify", "wait", "look")),
    ("wait", "look"),
}


def proposed() -> Rig:
    """A case whose first proposal waits for review."""
    rig = Rig()
    rig.work_until_idle()
    return rig


def test_the_graph_has_exactly_the_edges_its_steps_declare() -> None:
    drawn = build_graph().compile().get_graph()
    assert {(edge.source, edge.target) for edge in drawn.edges} == EDGES


def test_a_new_case_is_read_planned_and_proposed_in_one_visit() -> None:
    rig = Rig()
    assert rig.visit() is Visit.PAUSED
    assert rig.desk.stage is Stage.WAITING_FOR_REVIEW
    assert [p.number for p in rig.desk.proposals] == [1]
    assert rig.desk.worker == ""


@pytest.mark.parametrize("wakes", [1, 5])
def test_p05_spurious_wakes_repeat_nothing(wakes: int) -> None:
    rig = proposed()
    before, calls = list(rig.desk.events), list(rig.world.calls)
    for _ in range(wakes):
        rig.desk.wake()
        assert rig.visit() is Visit.PAUSED
    assert (rig.desk.events, rig.world.calls) == (before, calls)
    assert rig.planner.asked == 1


@pytest.mark.parametrize("answer", [{}, None, False, "", 0, {"approved": True}, "release 1"])
def test_p07_a03_whatever_wakes_the_graph_is_only_a_hint(answer: object) -> None:
    rig = proposed()
    graph = build_graph().compile(checkpointer=rig.checkpoints.saver)
    thread = {"configurable": {"thread_id": thread_of(rig.desk.case_id)}}
    rig.desk.wake()
    with suppress(Exception):  # the library refuses some of them outright; that is fine too
        graph.invoke(Command(resume=answer), thread)  # type: ignore[call-overload]
    assert rig.visit() is Visit.PAUSED
    assert rig.desk.stage is Stage.WAITING_FOR_REVIEW
    assert rig.world.ledger == []
    rig.desk.release(1)
    rig.work_until_idle()
    assert len(rig.world.ledger) == 2


def test_p11_a_refresh_without_material_change_retains_the_proposal() -> None:
    rig = proposed()
    rig.desk.pass_time(hours=9)
    rig.world.change(weight="18300")
    rig.work_until_idle()
    assert rig.desk.count("compared: retain") == 1
    assert [p.state for p in rig.desk.proposals] == ["ready"]


def test_p11_a_night_of_changes_replaces_the_proposal_and_keeps_the_employees_carrier() -> None:
    rig = proposed()
    rig.desk.pass_time(hours=15)
    rig.world.change(delivery_window=TWO, carrier_assignment=OAKLINE)
    rig.world.quotes["QX-71"] = quote_fields(state="expired")
    rig.work_until_idle()
    assert [p.state for p in rig.desk.proposals] == ["stale", "ready"]
    assert [a.action for a in rig.desk.proposals[1].actions] == [
        "keep_assigned_carrier",
        "send_customer_update",
    ]
    assert rig.world.ledger == []


def test_p11_a_proposal_nobody_needs_any_more_is_cleared() -> None:
    rig = proposed()
    rig.desk.pass_time(hours=9)
    about = promise_about(window=TWO, scac="OAKX")
    rig.world.change(
        delivery_window=TWO,
        carrier_assignment=OAKLINE,
        customer_notice={"about": about, "sent_at": "", "sent_by": "J. Ortiz"},
    )
    rig.work_until_idle()
    assert rig.desk.stage is Stage.WAITING_FOR_ACCEPTANCE
    assert [p.state for p in rig.desk.proposals] == ["withdrawn"]


def test_p12_an_unreadable_source_blocks_and_is_tried_again_by_itself() -> None:
    rig = proposed()
    rig.desk.pass_time(hours=9)
    rig.world.is_unreadable = True
    rig.work_until_idle()
    assert rig.desk.stage == "blocked"
    rig.desk.wake()
    reads = rig.world.calls.count("read")
    rig.visit()
    assert rig.world.calls.count("read") == reads, "not before the next try is due"
    rig.world.is_unreadable = False
    rig.desk.pass_time(seconds=31)
    rig.work_until_idle()
    assert rig.desk.stage == "waiting_for_review"
    assert rig.planner.asked == 1


def test_a_proposal_sent_back_leads_to_another_plan() -> None:
    rig = Rig()
    rig.world.quotes["QX-72"] = quote_fields(amount_minor=185_000)
    rig.work_until_idle()
    rig.desk.send_back(1)
    rig.work_until_idle()
    chosen = [p.actions[0].parameters["quote_id"] for p in rig.desk.proposals]
    assert chosen == ["QX-71", "QX-72"]


def test_p24_a_checkpoint_of_another_flow_is_dropped_and_the_record_asked() -> None:
    rig = proposed()
    rig.desk.flow_version = 2
    newer_release = Runner(
        desk=rig.desk,
        source=rig.world,
        planner=rig.planner,
        checkpoints=rig.checkpoints,
        worker="test",
        flows={**FLOWS, 2: build_graph},
    )
    rig.desk.release(1)
    assert newer_release.advance(case_id=rig.desk.case_id) is Visit.PAUSED
    assert len(rig.world.ledger) == 2
    graph = build_graph().compile(checkpointer=rig.checkpoints.saver)
    saved = graph.get_state({"configurable": {"thread_id": thread_of(rig.desk.case_id)}})
    assert saved.values["flow_version"] == 2


def test_a_lost_checkpoint_changes_nothing_the_record_says_where_to_go_on() -> None:
    rig = proposed()
    rig.checkpoints = MemoryCheckpoints()
    rig.desk.release(1)
    rig.work_until_idle()
    assert len(rig.world.ledger) == 2
    assert rig.planner.asked == 1


class DoubtingDesk(DeskTwin):
    """A record that never finds the facts fresh enough, and changes nothing."""

    def clear_to_act(self, *, grant: Grant) -> bool:
        """See `Desk.clear_to_act`."""
        return False


def test_a_visit_that_goes_round_in_circles_is_cut_short_and_stays_due() -> None:
    rig = Rig(desk=DoubtingDesk())
    rig.work_until_idle()
    rig.desk.release(1)
    rig.world.calls.clear()
    assert rig.visit() is Visit.CUT_SHORT
    assert rig.world.calls.count("read") <= STEPS_PER_VISIT / 2 + 1
    assert rig.desk.worker == ""
    assert rig.desk.is_free()
    assert rig.visit() is Visit.CUT_SHORT


def test_steps_run_in_the_thread_of_the_task_so_that_its_connections_are_closed() -> None:
    rig = Rig()
    threads: set[int] = set()
    rig.world.on_read = lambda: threads.add(threading.get_ident())
    rig.visit()
    assert threads == {threading.get_ident()}


def test_a_case_that_nobody_may_have_now_is_left_alone() -> None:
    rig = Rig()
    rig.desk.take_over()
    assert rig.visit() is Visit.NOT_CLAIMED
    assert rig.desk.events == []


def test_a_closed_case_leaves_no_checkpoint() -> None:
    rig = proposed()
    rig.desk.close()
    assert rig.visit() is Visit.CLOSED
    thread = {"configurable": {"thread_id": thread_of(rig.desk.case_id)}}
    assert list(rig.checkpoints.saver.list(thread)) == []  # type: ignore[arg-type]

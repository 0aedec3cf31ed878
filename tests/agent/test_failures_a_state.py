"""Group A of docs/failures.md: what is saved is plain, may be damaged, and is forgotten in time."""

from collections.abc import Collection, Mapping
from typing import Any, TypedDict, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph

from agent.celery import app
from agent.checkpoints import SCHEMA, PostgresCheckpoints, strict_serializer
from agent.retention import forget_what_is_over
from agent.runner import Visit, case_of, thread_of
from agent.state import CaseState
from agent.tasks import retention
from cases.vocabulary.clocks import iso
from cases.vocabulary.work import Grant
from tests.agent.rig import Rig
from tests.agent.test_p24_checkpoints import TABLES, rows, run_sql
from tests.agent.twin import DeskTwin
from tests.agent.world import ProcessDied

OF_STATE = {int: st.integers(min_value=-(2**63), max_value=2**63 - 1), str: st.text()}
STATES = st.fixed_dictionaries(
    {}, optional={name: OF_STATE[kind] for name, kind in get_type_hints(CaseState).items()}
)


@given(state=STATES)
def test_a14_every_field_of_the_state_survives_a_pause_with_its_type(
    state: Mapping[str, object],
) -> None:
    serializer = strict_serializer()
    kept = serializer.loads_typed(serializer.dumps_typed(dict(state)))
    assert kept == state
    assert {name: type(value) for name, value in kept.items()} == {
        name: type(value) for name, value in state.items()
    }


class DiesBeforeProposing(DeskTwin):
    """Its process is killed between the planner's recorded answer and the proposal."""

    dies: bool = True

    def propose(self, *, grant: Grant, request_id: int) -> None:
        """See `Desk.propose`."""
        if self.dies:
            self.dies = False
            raise ProcessDied
        super().propose(grant=grant, request_id=request_id)


class StateOfAnotherRelease(TypedDict, total=False):
    """Fields of other types, and one that has another name today."""

    case_id: Any
    flow_version: int
    request_id: Any
    read_at: Any
    request_number: Any


type Graph = StateGraph[StateOfAnotherRelease, None, StateOfAnotherRelease, StateOfAnotherRelease]


def never(state: StateOfAnotherRelease) -> StateOfAnotherRelease:
    """The step before which that release was stopped."""
    raise AssertionError("it was stopped before this step")


def saved_by_another_release(rig: Rig, state: Any) -> None:
    """Replace the case's checkpoint by one that stopped before `propose` with that state."""
    rig.checkpoints.forget(thread_of(rig.desk.case_id))
    graph: Graph = StateGraph(StateOfAnotherRelease)
    graph.add_node("propose", never)
    graph.add_edge(START, "propose")
    stopped = graph.compile(checkpointer=rig.checkpoints.saver, interrupt_before=["propose"])
    config: RunnableConfig = {"configurable": {"thread_id": thread_of(rig.desk.case_id)}}
    stopped.invoke(state, config)
    assert stopped.get_state(config).next == ("propose",)


ODD: list[Any] = [None, 5, -(2**63), "", "soon", "9" * 400, [], {"lc": 2, "id": ["x"]}]


@pytest.mark.parametrize("field", ["read_at", "request_id", "case_id", "request_number"])
@pytest.mark.parametrize("value", ODD)
def test_a13_a_state_that_another_release_saved_is_never_acted_on_half_built(
    field: str, value: object
) -> None:
    rig = Rig(desk=DiesBeforeProposing())
    with pytest.raises(ProcessDied):
        rig.visit()
    usual = {"case_id": 7, "flow_version": rig.desk.flow_version, "read_at": iso(rig.desk.now)}
    saved_by_another_release(rig, {**usual, field: value})
    rig.desk.pass_time(seconds=61)
    rig.work_until_idle()
    rig.desk.pass_time(seconds=61)
    rig.work_until_idle()
    assert [p.number for p in rig.desk.proposals] == [1]
    assert rig.planner.asked == 1
    names_no_request = field == "request_id" and isinstance(value, int)
    assert rig.desk.count("blocked: The agent's visit failed") == names_no_request
    rig.desk.release(1)
    rig.work_until_idle()
    assert len(rig.world.ledger) == 2


def test_a13_the_state_holds_nothing_but_numbers_and_text() -> None:
    """Strict: a class comes back as plain data, so the state must never hold one."""
    assert set(get_type_hints(CaseState).values()) == {int, str}


class ManyCases(DeskTwin):
    """Answers for a whole desk, of which cases 1 to 20 are open."""

    def open_among(self, *, case_ids: Collection[int]) -> set[int]:
        """See `Desk.open_among`."""
        return set(case_ids) & set(range(1, 21))


COPY_TO_500 = """
INSERT INTO {schema}.{table}
SELECT (jsonb_populate_record({table}, jsonb_build_object('thread_id', 'case-' || number))).*
FROM {schema}.{table}, generate_series(1001, 1500) AS number WHERE thread_id = 'case-1'
"""


def test_a16_of_500_closed_and_20_paused_cases_the_paused_are_kept_and_all_of_them_resume(
    checkpoints: PostgresCheckpoints, empty_database: str
) -> None:
    rigs = [Rig(desk=DeskTwin(case_id=number), checkpoints=checkpoints) for number in range(1, 21)]
    for rig in rigs:
        assert rig.visit() is Visit.PAUSED
    paused = rows(empty_database)
    for table in TABLES:
        run_sql(empty_database, COPY_TO_500.format(schema=SCHEMA, table=table))
    assert rows(empty_database) == paused * 26
    assert forget_what_is_over(desk=ManyCases(), checkpoints=checkpoints) == 500
    assert rows(empty_database) == paused
    assert forget_what_is_over(desk=ManyCases(), checkpoints=checkpoints) == 0
    assert rows(empty_database) == paused
    assert checkpoints.threads() == {thread_of(rig.desk.case_id) for rig in rigs}
    for rig in rigs[1:]:
        rig.desk.wake()
        assert rig.visit() is Visit.PAUSED
    rigs[0].desk.release(1)
    assert rigs[0].visit() is Visit.PAUSED
    assert len(rigs[0].world.ledger) == 2


def test_a17_what_a_late_worker_writes_of_a_forgotten_case_goes_with_the_next_sweep(
    checkpoints: PostgresCheckpoints, empty_database: str
) -> None:
    """Closed and forgotten while a worker was in a slow call, which then comes back."""
    rig = Rig(checkpoints=checkpoints)

    def closed_meanwhile() -> None:
        rig.desk.take_over()
        rig.desk.close()
        rig.desk.due_at = None
        forget_what_is_over(desk=rig.desk, checkpoints=checkpoints)
        assert rows(empty_database) == 0

    rig.world.on_read = closed_meanwhile
    assert rig.visit() is Visit.LEASE_LOST
    assert rows(empty_database) > 0, "the late write that this is about"
    assert forget_what_is_over(desk=rig.desk, checkpoints=checkpoints) == 1
    assert rows(empty_database) == 0
    assert rig.visit() is Visit.NOT_CLAIMED
    assert rig.world.ledger == []


def test_a17_a_late_write_of_any_kind_is_found_and_what_is_not_ours_is_left_alone(
    checkpoints: PostgresCheckpoints, empty_database: str
) -> None:
    Rig(desk=DeskTwin(case_id=101), checkpoints=checkpoints).visit()
    run_sql(empty_database, f"UPDATE {SCHEMA}.checkpoints SET thread_id = 'somebody else'")
    run_sql(
        empty_database,
        f"INSERT INTO {SCHEMA}.checkpoint_blobs (thread_id, channel, version, type)"
        " VALUES ('case-102', 'read_at', '1', 'empty')",
    )
    assert checkpoints.threads() == {"somebody else", "case-101", "case-102"}
    assert forget_what_is_over(desk=ManyCases(), checkpoints=checkpoints) == 2
    assert checkpoints.threads() == {"somebody else"}


@pytest.mark.parametrize("thread", ["case-", "case-x", "case-1x", "7", "", "xcase-7", "case--7"])
def test_a17_a_thread_is_a_cases_or_is_not_touched(thread: str) -> None:
    assert case_of(thread) is None
    assert case_of(thread_of(7)) == 7


def test_a16_the_sweep_comes_every_hour_by_the_clock_whenever_beat_was_started() -> None:
    entry = app.conf.beat_schedule["retention"]
    assert entry["task"] == retention.name
    assert (entry["schedule"].minute, entry["schedule"].hour) == ({17}, set(range(24)))

"""P24, A22: a case saved by another flow is translated, resumes, or is blocked loudly."""

from collections.abc import Mapping

import pytest

from agent.checkpoints import Checkpoints
from agent.flows import FLOW_VERSION, FlowMigration, Migrations, way_to_known_flow
from agent.graph import build_graph
from agent.runner import Runner, Visit, thread_of
from agent.state import CaseState
from cases.vocabulary.stages import Stage
from tests.agent.rig import Rig
from tests.agent.twin import DeskTwin

NEXT_VERSION = FLOW_VERSION + 1


def runner_of_a_later_release(rig: Rig, migrations: Migrations) -> Runner:
    """A release that no longer builds today's flow."""
    return Runner(
        desk=rig.desk,
        source=rig.world,
        planner=rig.planner,
        checkpoints=rig.checkpoints,
        worker="later",
        flows={NEXT_VERSION: build_graph},
        migrations=migrations,
    )


def translated(remembered: Mapping[str, object]) -> CaseState:
    """What the later release makes of what today's graph remembers."""
    return CaseState(case_id=7, flow_version=NEXT_VERSION, read_at=str(remembered["read_at"]))


def remembered(checkpoints: Checkpoints, case_id: int) -> dict[str, object]:
    """The saved state of a case's graph."""
    graph = build_graph().compile(checkpointer=checkpoints.saver)
    return dict(graph.get_state({"configurable": {"thread_id": thread_of(case_id)}}).values)


def released() -> Rig:
    """A proposal that was released, and no worker since."""
    rig = Rig()
    rig.work_until_idle()
    rig.desk.release(1)
    return rig


def test_p24_a_case_of_an_unknown_flow_is_blocked_with_the_reason_and_nothing_is_called() -> None:
    rig = Rig(desk=DeskTwin(flow_version=99))
    assert rig.visit() is Visit.UNKNOWN_FLOW
    assert rig.desk.stage is Stage.BLOCKED
    assert "flow version 99" in rig.desk.events[-1] and "migration" in rig.desk.events[-1]
    assert rig.world.calls == []


def test_a22_a_release_whose_flow_was_removed_is_kept_and_not_carried_out() -> None:
    rig = released()
    runner = runner_of_a_later_release(rig, {})
    assert runner.advance(case_id=rig.desk.case_id) is Visit.UNKNOWN_FLOW
    assert rig.desk.stage is Stage.BLOCKED
    assert rig.world.ledger == []
    rig.desk.pass_time(seconds=31)  # the release that knows the flow is back
    rig.work_until_idle()
    assert len(rig.world.ledger) == 2


def test_a22_a_migrated_case_goes_on_where_the_record_says_with_what_was_remembered() -> None:
    rig = released()
    before = remembered(rig.checkpoints, rig.desk.case_id)
    migrations = {FLOW_VERSION: FlowMigration(to=NEXT_VERSION, translate=translated)}
    runner = runner_of_a_later_release(rig, migrations)
    assert runner.advance(case_id=rig.desk.case_id) is Visit.PAUSED
    assert rig.desk.flow_version == NEXT_VERSION
    assert rig.desk.count("flow migrated") == 1
    assert len(rig.world.ledger) == 2
    assert rig.planner.asked == 1
    after = remembered(rig.checkpoints, rig.desk.case_id)
    assert after["flow_version"] == NEXT_VERSION
    assert after["read_at"] == before["read_at"]


def test_a22_a_migration_needs_no_checkpoint() -> None:
    rig = released()
    rig.checkpoints.forget(thread_of(rig.desk.case_id))
    lost: list[Mapping[str, object]] = []

    def translate(state: Mapping[str, object]) -> CaseState:
        lost.append(state)
        return CaseState(case_id=7, flow_version=NEXT_VERSION)

    migrations = {FLOW_VERSION: FlowMigration(to=NEXT_VERSION, translate=translate)}
    runner_of_a_later_release(rig, migrations).advance(case_id=rig.desk.case_id)
    assert lost == [{}]
    assert len(rig.world.ledger) == 2


def step_to(version: int) -> FlowMigration:
    """A migration that keeps nothing."""
    return FlowMigration(to=version, translate=lambda _: CaseState())


@pytest.mark.parametrize(
    ("version", "steps"), [(3, []), (2, [3]), (1, [2, 3]), (7, None), (8, None)]
)
def test_p24_migrations_lead_step_by_step_to_a_known_flow(
    version: int, steps: list[int] | None
) -> None:
    migrations = {1: step_to(2), 2: step_to(3), 8: step_to(9), 9: step_to(8)}
    way = way_to_known_flow(version=version, flows={3: build_graph}, migrations=migrations)
    assert (None if way is None else [step.to for step in way]) == steps

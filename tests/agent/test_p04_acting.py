"""P3, P4, P9, P10, P15, P16, P18, P19: acting once, on facts just read, or not at all."""

from typing import Any

import pytest

from agent.runner import Visit
from cases.vocabulary.errors import LeaseLost
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import (
    AttemptOrder,
    CallOutcome,
    Capabilities,
    Comparison,
    EffectState,
    Grant,
)
from tests.agent.rig import MemoryCheckpoints, Rig
from tests.agent.twin import DeskTwin
from tests.agent.world import OAKLINE, TWO, ProcessDied

LEASE_SECONDS = 61


def released() -> Rig:
    """A case whose first proposal was just released."""
    rig = Rig()
    rig.work_until_idle()
    rig.desk.release(1)
    rig.world.calls.clear()
    return rig


def died() -> None:
    """Kill the process."""
    raise ProcessDied


def test_p15_each_effect_is_attempted_once_and_read_back_before_the_next() -> None:
    rig = released()
    rig.work_until_idle()
    assert rig.desk.stage is Stage.WAITING_FOR_ACCEPTANCE
    assert rig.world.calls == [
        "read",
        "lease",
        "perform WB-7-1-1",
        "release lease",
        "look up WB-7-1-1",
        "read",
        "lease",
        "perform WB-7-1-2",
        "release lease",
        "look up WB-7-1-2",
    ]
    assert [rig.world.effects_of(f"WB-7-1-{n}") for n in (1, 2)] == [1, 1]


def test_p15_an_effect_not_yet_taken_up_is_looked_up_again_and_nothing_else_starts() -> None:
    rig = released()
    rig.world.confirms = False
    rig.visit()
    assert rig.desk.stage is Stage.VERIFYING
    rig.desk.pass_time(seconds=2)
    rig.visit()
    assert len(rig.world.ledger) == 1
    rig.world.confirms = True
    rig.desk.pass_time(seconds=2)
    rig.work_until_idle()
    assert len(rig.world.ledger) == 2


def test_p10_a_fact_that_changed_after_the_release_prevents_the_call() -> None:
    rig = released()
    rig.world.change(delivery_window=TWO, carrier_assignment=OAKLINE)
    rig.work_until_idle()
    assert rig.world.ledger == []
    assert [p.state for p in rig.desk.proposals] == ["stale", "ready"]


def test_p10_a_source_that_cannot_be_read_prevents_the_call() -> None:
    rig = released()
    rig.world.is_unreadable = True
    rig.visit()
    assert rig.desk.stage is Stage.BLOCKED
    assert rig.world.calls == ["read"]
    rig.world.is_unreadable = False
    rig.desk.pass_time(seconds=31)
    rig.work_until_idle()
    assert len(rig.world.ledger) == 2


class DoubtsOnce(DeskTwin):
    """A record that once finds the facts not fresh enough, and changes nothing."""

    doubts: bool = True

    def clear_to_act(self, *, grant: Grant) -> bool:
        """See `Desk.clear_to_act`."""
        if self.doubts:
            self.doubts = False
            return False
        return super().clear_to_act(grant=grant)


def test_p10_no_call_is_prepared_until_the_record_says_that_the_facts_hold() -> None:
    rig = Rig(desk=DoubtsOnce())
    rig.work_until_idle()
    rig.desk.release(1)
    rig.world.calls.clear()
    rig.visit()
    assert rig.world.calls[:3] == ["read", "read", "lease"]


class HeldUp(DeskTwin):
    """The record lets nothing start now, for instance since a report waits to be read."""

    def begin_attempt(
        self, *, grant: Grant, effect_id: int, capabilities: Capabilities
    ) -> AttemptOrder | None:
        """See `Desk.begin_attempt`."""
        self.write(grant, "held up")
        return None


def test_p21_a_visit_that_is_held_up_ends_and_gives_back_what_it_took() -> None:
    rig = released()
    rig.desk = HeldUp(**vars(rig.desk))
    assert rig.visit() is Visit.PAUSED
    assert rig.desk.count("held up") == 1
    assert rig.world.calls == ["read", "lease", "release lease"]
    assert rig.desk.is_free()


def test_p14_a_change_between_the_last_look_and_the_call_is_left_to_the_target_to_refuse() -> None:
    rig = released()
    rig.world.on_lease = lambda: rig.world.change(carrier_assignment=OAKLINE)
    rig.visit()
    assert rig.world.ledger == []
    assert rig.desk.proposals[0].state == "stale"


def test_p09_a_release_taken_back_before_the_attempt_starts_prevents_it() -> None:
    rig = released()
    rig.world.on_lease = rig.desk.withdraw_release
    rig.visit()
    assert [call for call in rig.world.calls if call.startswith("perform")] == []
    assert rig.world.calls[-1] == "release lease"
    assert rig.desk.stage is Stage.ESCALATED


def test_p09_a_release_taken_back_while_the_worker_was_dead_is_never_carried_out() -> None:
    rig = released()
    rig.world.on_lease = died
    with pytest.raises(ProcessDied):
        rig.visit()
    rig.desk.withdraw_release()
    rig.world.on_lease = lambda: None
    rig.desk.pass_time(seconds=LEASE_SECONDS)
    rig.desk.wake()
    rig.visit()
    assert rig.world.ledger == []


def test_p19_a_resource_held_by_someone_else_is_left_alone_and_tried_later() -> None:
    rig = released()
    rig.world.held_by = "dispatch-bot"
    rig.visit()
    assert rig.desk.count("backed off: dispatch-bot is changing S-318.") == 1
    assert rig.desk.count("attempt") == 0
    assert not rig.desk.is_free()
    rig.world.held_by = ""
    rig.desk.pass_time(seconds=31)
    rig.work_until_idle()
    assert len(rig.world.ledger) == 2


@pytest.mark.parametrize("keeps_checkpoint", [True, False])
def test_p04_a_kill_after_the_effect_and_before_its_record_leaves_one_effect(
    keeps_checkpoint: bool,
) -> None:
    rig = released()
    rig.world.on_effect = died
    with pytest.raises(ProcessDied):
        rig.visit()
    rig.world.on_effect = lambda: None
    if not keeps_checkpoint:
        rig.checkpoints = MemoryCheckpoints()
    rig.desk.pass_time(seconds=LEASE_SECONDS)
    rig.work_until_idle()
    assert [rig.world.effects_of(f"WB-7-1-{n}") for n in (1, 2)] == [1, 1]
    assert rig.desk.stage is Stage.WAITING_FOR_ACCEPTANCE


def test_p16_a_timeout_is_looked_up_by_its_reference_and_not_repeated() -> None:
    rig = released()
    rig.world.outcome = CallOutcome.UNKNOWN
    rig.work_until_idle()
    for reference in ("WB-7-1-1", "WB-7-1-2"):
        assert rig.world.calls.count(f"perform {reference}") == 1
        assert rig.world.calls.count(f"look up {reference}") == 1
        assert rig.world.effects_of(reference) == 1


def test_p16_a_call_that_never_left_is_not_verified_but_tried_again_later() -> None:
    rig = released()
    rig.world.outcome = CallOutcome.NOT_SENT
    rig.visit()
    assert rig.desk.stage is Stage.EXECUTING
    assert rig.world.calls == ["read", "lease", "perform WB-7-1-1", "release lease"]
    rig.world.outcome = CallOutcome.ANSWERED
    rig.desk.pass_time(seconds=6)
    rig.work_until_idle()
    assert len(rig.world.ledger) == 2


def test_p16_nothing_new_starts_while_an_outcome_is_unknown() -> None:
    rig = released()
    rig.desk.set_effect(101, EffectState.UNKNOWN)
    rig.visit()
    assert rig.world.calls[0] == "look up WB-7-1-1"


def test_p16_a_target_that_cannot_be_read_back_blocks_instead_of_counting_as_absent() -> None:
    rig = released()

    def goes_dark() -> None:
        rig.world.is_unreadable = True

    rig.world.on_effect = goes_dark
    rig.visit()
    assert rig.desk.stage is Stage.BLOCKED
    assert rig.desk.effects[101].state is EffectState.ANSWERED


@pytest.mark.parametrize("moment", ["on_read", "on_lease"])
def test_p18_a_worker_that_lost_its_lease_makes_no_further_call(moment: str) -> None:
    rig = released()
    setattr(rig.world, moment, rig.desk.take_over)
    assert rig.visit() is Visit.LEASE_LOST
    last = {"on_read": "read", "on_lease": "lease"}[moment]
    assert rig.world.calls[-1] == last
    assert rig.desk.worker == "another worker"


def test_p18_the_lease_is_prolonged_before_every_step_of_a_slow_visit() -> None:
    rig = released()
    rig.world.on_read = rig.world.on_lease = lambda: rig.desk.pass_time(seconds=10)
    assert rig.visit() is Visit.PAUSED
    assert len(rig.world.ledger) == 2


def test_p18_a_worker_that_froze_past_its_lease_makes_no_further_call() -> None:
    rig = released()
    rig.world.on_read = lambda: rig.desk.pass_time(seconds=LEASE_SECONDS)
    assert rig.visit() is Visit.LEASE_LOST
    assert rig.world.calls == ["read"]
    assert rig.world.ledger == []


class DiesAfterRecordingThePlan(DeskTwin):
    """Its process is killed right after the planner's answer was committed."""

    dies: bool = True

    def record_plan(self, *, grant: Grant, request_id: int, answer: dict[str, Any]) -> None:
        """See `Desk.record_plan`."""
        super().record_plan(grant=grant, request_id=request_id, answer=answer)
        if self.dies:
            self.dies = False
            raise ProcessDied


@pytest.mark.parametrize("keeps_checkpoint", [True, False])
def test_p03_a_kill_after_the_planners_answer_does_not_ask_it_again(
    keeps_checkpoint: bool,
) -> None:
    rig = Rig(desk=DiesAfterRecordingThePlan())
    with pytest.raises(ProcessDied):
        rig.visit()
    if not keeps_checkpoint:
        rig.checkpoints = MemoryCheckpoints()
    rig.desk.pass_time(seconds=LEASE_SECONDS)
    rig.work_until_idle()
    assert rig.planner.asked == 1
    assert len(rig.desk.proposals) == 1


class DiesBeforeComparing(DeskTwin):
    """Its process is killed at 17:00, after the reading and before it was weighed."""

    dies: bool = False

    def compare_with_now(self, *, grant: Grant) -> Comparison:
        """See `Desk.compare_with_now`."""
        if self.dies:
            self.dies = False
            raise ProcessDied
        return super().compare_with_now(grant=grant)


def test_p12_what_was_read_before_a_night_long_stop_is_not_weighed_as_fresh() -> None:
    desk = DiesBeforeComparing()
    rig = Rig(desk=desk)
    rig.work_until_idle()
    rig.desk.pass_time(hours=8)
    desk.dies = True
    with pytest.raises(ProcessDied):
        rig.visit()
    rig.world.change(carrier_assignment=OAKLINE)
    rig.desk.pass_time(hours=7)
    rig.work_until_idle()
    assert rig.desk.count("compared: retain") == 0
    assert [p.state for p in rig.desk.proposals] == ["stale", "ready"]


def test_p18_a_late_write_of_a_lost_worker_raises_in_the_twin_as_in_the_record() -> None:
    rig = Rig()
    grant = rig.desk.claim(case_id=7, worker="old", lease=rig.desk.now - rig.desk.now)
    assert grant is not None
    with pytest.raises(LeaseLost):
        rig.desk.record_readings(grant=grant, readings=[], asked_at=rig.desk.now)

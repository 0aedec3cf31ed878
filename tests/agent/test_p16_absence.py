"""P16, P18, P19: that something did not happen is only believed behind a fence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest

from agent.sources.base import Permit, TargetLease
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import Capabilities, EffectState, EffectWork, Grant, TargetLook
from tests.agent.rig import MemoryCheckpoints, Rig
from tests.agent.twin import DeskTwin
from tests.agent.world import ProcessDied, World, nothing

LEASE_SECONDS = 61


def died() -> None:
    """Kill the process."""
    raise ProcessDied


def killed_before_its_call(world: World | None = None) -> Rig:
    """A released case whose worker ended between the committed attempt and its call."""
    rig = Rig(world=world or World())
    rig.work_until_idle()
    rig.desk.release(1)
    rig.world.on_call = died
    with pytest.raises(ProcessDied):
        rig.visit()
    rig.world.on_call = lambda: None
    rig.checkpoints = MemoryCheckpoints()  # so that the record alone says where to go on
    rig.desk.pass_time(seconds=LEASE_SECONDS)
    rig.world.calls.clear()
    return rig


def test_p16_an_absence_counts_only_when_it_was_seen_under_a_new_lease_of_the_target() -> None:
    rig = killed_before_its_call()
    rig.visit()
    looked = rig.world.calls.index("look up WB-7-1-1")
    assert rig.world.calls[looked : looked + 4] == [
        "look up WB-7-1-1",
        "lease",
        "look up WB-7-1-1",
        "release lease",
    ]
    assert rig.world.effects_of("WB-7-1-1") == 1


@dataclass(kw_only=True)
class Slow(World):
    """Its answers, and giving back its lease, take seconds each."""

    later: Callable[[], None] = nothing

    def look_up(self, *, effect: EffectWork, permit: Permit) -> TargetLook:
        """See `Source.look_up`."""
        look = super().look_up(effect=effect, permit=permit)
        self.later()
        return look

    def release_lease(self, lease: TargetLease, *, permit: Permit) -> None:
        """See `Source.release_lease`."""
        super().release_lease(lease, permit=permit)
        self.later()


@dataclass(kw_only=True)
class Asking(DeskTwin):
    """Keeps the looks it is told of, and when that is."""

    told: list[tuple[datetime, datetime | None]] = field(default_factory=list)

    def record_looks(
        self, *, grant: Grant, looks: Sequence[TargetLook], capabilities: Capabilities
    ) -> bool:
        """See `Desk.record_looks`."""
        self.told += [(self.now, look.asked_at) for look in looks]
        return super().record_looks(grant=grant, looks=looks, capabilities=capabilities)


def test_p16_a_look_is_as_old_as_its_question_not_as_its_record() -> None:
    """4 s for each answer and 4 s for the lease: the fenced look is 8 s older."""
    world = Slow()
    rig = killed_before_its_call(world)
    rig.desk = Asking(**vars(rig.desk))
    world.later = lambda: rig.desk.pass_time(seconds=4)
    rig.visit()
    told_at, asked_at = rig.desk.told[0]
    assert asked_at is not None
    assert told_at - asked_at == timedelta(seconds=8)


def test_p18_an_effect_that_arrives_before_the_fence_is_found_and_not_called_absent() -> None:
    rig = killed_before_its_call()
    effect = rig.desk.effects[101]

    def late_call_arrives() -> None:
        rig.world.ledger.append({"key": effect.key, "reference": effect.reference})
        rig.world.on_lease = lambda: None

    rig.world.on_lease = late_call_arrives
    rig.visit()
    assert "looks: [True]" in rig.desk.events
    assert "looks: [False]" not in rig.desk.events
    assert rig.world.calls.count("perform WB-7-1-1") == 0


def test_p19_nothing_is_called_absent_while_someone_else_holds_the_resource() -> None:
    rig = killed_before_its_call()
    rig.world.held_by = "dispatch-bot"
    rig.visit()
    assert rig.desk.count("backed off: dispatch-bot is changing S-318.") == 1
    assert rig.desk.count("looks") == 0
    assert (rig.desk.stage, rig.desk.effects[101].state) == (
        Stage.RECONCILING,
        EffectState.UNKNOWN,
    )
    assert not rig.desk.is_free()
    rig.world.held_by = ""
    rig.desk.pass_time(seconds=31)
    rig.work_until_idle()
    assert rig.world.effects_of("WB-7-1-1") == 1


def test_p16_what_is_found_needs_no_lease() -> None:
    rig = killed_before_its_call()
    effect = rig.desk.effects[101]
    rig.world.ledger.append({"key": effect.key, "reference": effect.reference})
    rig.world.held_by = "dispatch-bot"
    rig.visit()
    assert "looks: [True]" in rig.desk.events


def test_p12_what_cannot_be_read_back_takes_no_lease_either() -> None:
    rig = killed_before_its_call()
    rig.world.is_unreadable = True
    rig.visit()
    assert rig.desk.stage is Stage.BLOCKED
    assert "lease" not in rig.world.calls


@dataclass(kw_only=True)
class WithoutLeases(World):
    """A transport system that knows no leases."""

    @property
    def capabilities(self) -> Capabilities:
        """See `Source.capabilities`."""
        return replace(super().capabilities, leases=False, fencing=False)


def test_p17_a_source_without_leases_is_looked_at_once() -> None:
    rig = killed_before_its_call(WithoutLeases())
    rig.visit()
    assert rig.world.calls.count("look up WB-7-1-1") == 2, "absent, then carried out and found"
    assert "lease" not in rig.world.calls

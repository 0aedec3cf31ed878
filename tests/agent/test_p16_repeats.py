"""P16, P17: where nothing can be looked up, the same call under its key tells what happened."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

from agent.sources.base import Permit
from cases.vocabulary.lanes import Lane
from cases.vocabulary.work import (
    CallOutcome,
    Capabilities,
    EffectState,
    EffectWork,
    Grant,
    TargetLook,
)
from tests.agent.rig import Rig
from tests.agent.twin import DeskTwin
from tests.agent.world import World


@dataclass(kw_only=True)
class WithoutSearch(World):
    """A transport system that finds a record only by the id it gave it."""

    @property
    def capabilities(self) -> Capabilities:
        """See `Source.capabilities`."""
        return replace(super().capabilities, lookup_by_reference=False)

    def look_up(self, *, effect: EffectWork, permit: Permit) -> TargetLook:
        """See `Source.look_up`."""
        if effect.state is EffectState.UNKNOWN:
            return TargetLook(effect_id=effect.effect_id, found=False, searchable=False)
        return super().look_up(effect=effect, permit=permit)


def unanswered() -> Rig:
    """A released booking whose first call was carried out and never answered."""
    rig = Rig(world=WithoutSearch())
    rig.work_until_idle()
    rig.desk.release(1)
    rig.world.outcome = CallOutcome.UNKNOWN
    rig.world.calls.clear()

    def next_call_is_answered() -> None:
        rig.world.outcome = CallOutcome.ANSWERED
        rig.world.on_lease = lambda: None

    rig.world.on_lease = lambda: setattr(rig.world, "on_lease", next_call_is_answered)
    return rig


def test_p16_a_call_without_an_answer_is_repeated_under_its_key_and_happens_once() -> None:
    rig = unanswered()
    rig.work_until_idle()
    assert rig.world.calls[:8] == [
        "read",
        "lease",
        "perform WB-7-1-1",
        "release lease",
        "read",
        "lease",
        "perform WB-7-1-1",
        "release lease",
    ]
    assert [rig.world.effects_of(f"WB-7-1-{n}") for n in (1, 2)] == [1, 1]


@dataclass(kw_only=True)
class Listening(DeskTwin):
    """Notes in which lane each call was permitted."""

    permitted: list[Lane | None] = field(default_factory=list)

    def permit_call(self, *, grant: Grant, lease: timedelta, lane: Lane | None = None) -> Grant:
        """See `Desk.permit_call`."""
        self.permitted.append(lane)
        return super().permit_call(grant=grant, lease=lease, lane=lane)


def test_p21_a_repeated_change_is_permitted_in_the_lane_of_changes() -> None:
    rig = unanswered()
    rig.desk = Listening(**vars(rig.desk))
    rig.work_until_idle()
    changes = [name.startswith("perform") for name in rig.world.calls]
    assert [lane is Lane.EXECUTION for lane in rig.desk.permitted] == changes
    assert changes.count(True) == 3


def test_p19_nothing_is_repeated_while_someone_else_holds_the_resource() -> None:
    rig = unanswered()
    rig.world.on_effect = lambda: setattr(rig.world, "held_by", "dispatch-bot")
    rig.visit()
    assert rig.desk.count("backed off: dispatch-bot is changing S-318.") == 1
    assert rig.world.calls.count("perform WB-7-1-1") == 1

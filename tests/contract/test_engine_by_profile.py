"""P4, P13, P16, P17, P19: one engine, every kind of target, one effect per released action."""

from dataclasses import replace
from datetime import timedelta

import pytest
from pytest_django import Settings

from agent.runner import LEASE
from agent.sources.transport_profiles import PROFILES
from cases.actions import findings
from cases.clock import business_now
from cases.models import Attempt, Effect, Run
from tests.agent.rig import MemoryCheckpoints
from tests.agent.world import ProcessDied
from tests.cases.builders import Cast, a_cast, events_of
from tests.contract.engine import Engine
from tests.simulator import Simulator

ONE_OF_EACH = ["booking", "message"]


@pytest.fixture
def cast(db: None, settings: Settings) -> Cast:
    """The people and the desk of a test, with a business clock that may move."""
    settings.MOVABLE_CLOCK = True
    return a_cast()


def released(simulator: Simulator, cast: Cast, profile: str, *, searchable: bool = True) -> Engine:
    """S-318 with a released proposal, in a system of that profile."""
    engine = Engine(
        simulator=simulator,
        cast=cast,
        profile=profile,
        capabilities=replace(PROFILES[profile], lookup_by_reference=searchable),
    )
    engine.work_until("waiting_for_review")
    engine.release()
    return engine


def lose_an_answer_and_a_call(simulator: Simulator) -> None:
    """The booking happens unanswered; the first call to tell the customer never arrives."""
    simulator.control.fault("commit_then_timeout", path_prefix="/v1/bookings", times=1, seconds=1.5)
    simulator.control.fault("connection_reset_before_commit", path_prefix="/v1/messages", times=1)


def died() -> None:
    """Kill the process."""
    raise ProcessDied


def outcomes() -> list[str]:
    """How every attempt ended, in order."""
    return list(Attempt.objects.order_by("id").values_list("outcome", flat=True))


@pytest.mark.parametrize("profile", PROFILES)
def test_p04_every_kind_of_target_sees_each_released_action_once(
    simulator: Simulator, cast: Cast, profile: str
) -> None:
    engine = released(simulator, cast, profile)
    lose_an_answer_and_a_call(simulator)
    engine.work_until("waiting_for_acceptance")
    assert [entry.kind for entry in engine.our_effects()] == ONE_OF_EACH
    assert outcomes() == ["answered", "no_effect", "answered"]
    keys = {entry.idempotency_key for entry in engine.our_effects()}
    assert (keys == {None}) is (PROFILES[profile].key_lifetime is None)


def test_p16_where_nothing_can_be_looked_up_the_same_call_under_its_key_tells(
    simulator: Simulator, cast: Cast
) -> None:
    engine = released(simulator, cast, "modern", searchable=False)
    lose_an_answer_and_a_call(simulator)
    engine.work_until("waiting_for_acceptance")
    assert [entry.kind for entry in engine.our_effects()] == ONE_OF_EACH
    assert outcomes() == ["repeated", "answered", "repeated", "answered"]


def test_p04_a_worker_that_dies_after_a_repeated_call_leaves_one_effect(
    simulator: Simulator, cast: Cast
) -> None:
    engine = released(simulator, cast, "modern", searchable=False)
    simulator.control.fault("connection_reset_after_commit", path_prefix="/v1/bookings", times=1)
    engine.visit()
    engine.pass_time(seconds=6)
    with pytest.raises(ProcessDied):
        engine.visit(after_call=died)
    engine.checkpoints = MemoryCheckpoints()  # so that the record alone says where to go on
    engine.pass_time(seconds=LEASE.total_seconds() + 1)
    engine.work_until("waiting_for_acceptance")
    assert [entry.kind for entry in engine.our_effects()] == ONE_OF_EACH
    assert outcomes() == ["repeated", "repeated", "answered", "answered"]


def test_p16_a_repeated_call_that_is_refused_leaves_the_first_one_unknown(
    simulator: Simulator, cast: Cast
) -> None:
    engine = released(simulator, cast, "modern", searchable=False)
    simulator.control.fault("connection_reset_after_commit", path_prefix="/v1/bookings", times=1)
    engine.visit()
    simulator.control.settings(idempotency_keys=False)  # a target that forgot its keys
    engine.work_until("escalated")
    assert [entry.kind for entry in engine.our_effects()] == ["booking"]
    effect = Effect.objects.get(proposed_action__position=1)
    assert effect.state == "unknown"
    assert [attempt.outcome for attempt in effect.attempts.all()] == ["unknown", "refused"]


def test_p16_a_release_that_ran_out_is_not_repeated_though_its_key_lives(
    simulator: Simulator, cast: Cast
) -> None:
    engine = released(simulator, cast, "modern", searchable=False)
    simulator.control.fault("connection_reset_before_commit", path_prefix="/v1/bookings", times=1)
    engine.visit()
    engine.pass_time(seconds=8 * 3600)
    engine.work_until("escalated")
    assert engine.our_effects() == []
    assert "has run out" in engine.case.stage_reason


def test_p16_with_neither_keys_nor_search_a_person_finds_out(
    simulator: Simulator, cast: Cast
) -> None:
    engine = released(simulator, cast, "no_idempotency", searchable=False)
    simulator.control.fault("connection_reset_after_commit", path_prefix="/v1/bookings", times=1)
    engine.work_until("escalated")
    effect = Effect.objects.get(proposed_action__position=1)
    assert (effect.state, effect.attempts.count()) == ("unknown", 1)
    assert "cannot be looked up" in engine.case.stage_reason
    findings.record_finding(
        case_id=engine.case.pk,
        effect_id=effect.pk,
        happened=True,
        note="Rang Bluewater",
        seen=findings.Seen(attempts=1, looks=0),
        by=cast.lead,
        at=business_now(),
    )
    effect.refresh_from_db()
    assert effect.state == "confirmed"
    assert [entry.kind for entry in engine.our_effects()] == ["booking"]


def test_p19_a_shipment_that_an_employee_has_open_is_left_alone_visibly_and_tried_again(
    simulator: Simulator, cast: Cast
) -> None:
    engine = released(simulator, cast, "locked_by_user")
    simulator.control.actor("employee_opens_record", shipment_id="S-318", employee="J. Ortiz")
    engine.visit()
    assert engine.case.stage_reason == "J. Ortiz has S-318 open."
    assert engine.our_effects() == []
    assert "backed_off" in events_of(engine.case)
    simulator.control.actor("employee_closes_record", shipment_id="S-318", employee="J. Ortiz")
    engine.pass_time(seconds=31)
    engine.work_until("waiting_for_acceptance")
    assert [entry.kind for entry in engine.our_effects()] == ONE_OF_EACH


def test_p13_without_versions_a_change_right_before_the_call_still_prevents_it(
    simulator: Simulator, cast: Cast
) -> None:
    """No write can be conditional, so the facts are read once more under the lease."""
    engine = released(simulator, cast, "no_version")
    engine.visit(
        before_lease=lambda: simulator.control.actor(
            "employee_moves_window",
            shipment_id="S-318",
            stop_id="S-318-2",
            start_local="2026-11-25T14:00",
            end_local="2026-11-25T16:00",
            employee="J. Ortiz",
        )
    )
    assert engine.our_effects() == []
    assert engine.case.proposals.get(number=1).state == "stale"


def test_a_target_that_asks_for_peace_gets_it_and_the_case_says_so(
    simulator: Simulator, cast: Cast
) -> None:
    engine = released(simulator, cast, "modern")
    simulator.control.fault("429", path_prefix="/v1/bookings", times=1, seconds=40)
    engine.visit()
    assert "429" in engine.case.stage_reason
    assert outcomes() == ["not_sent"]
    due_at = Run.objects.get(case=engine.case).due_at
    assert due_at is not None
    assert due_at > business_now() + timedelta(seconds=35)
    engine.pass_time(seconds=41)
    engine.work_until("waiting_for_acceptance")
    assert [entry.kind for entry in engine.our_effects()] == ONE_OF_EACH

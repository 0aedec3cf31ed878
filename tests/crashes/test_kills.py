"""P2, P3, P4, P14: a worker killed at the worst moments; the ledger of the target is the oracle."""

import pytest

from cases.models import Attempt, AuditEvent, PlanRequest, ReadBack
from tests.crashes.night_desk import NightDesk

pytestmark = pytest.mark.processes


def recover(night: NightDesk) -> None:
    """The dead worker's lease runs out and a new worker goes on."""
    night.let_lease_run_out()
    night.start_worker("successor")


@pytest.mark.parametrize("trial", range(10))
def test_p04_d04_killed_after_the_effect_and_before_it_is_recorded_leaves_one_effect(
    night: NightDesk, trial: int
) -> None:
    """The booking exists at the carrier and nobody here knows: it is found, never repeated."""
    night.start_worker("first")
    night.wait_for_proposal(1)
    night.nursery.stop("first")
    night.release(1)
    night.start_dying_worker("after:TransportSource.perform")
    night.wait_for_death()
    assert night.our_effects() == ["booking"], f"trial {trial}: the effect had happened"
    assert Attempt.objects.get().outcome == "open"
    recover(night)
    night.wait_for_stage("waiting_for_acceptance")
    assert night.our_effects() == ["booking", "message"]
    assert Attempt.objects.count() == 2


def test_p03_killed_after_the_planners_answer_plans_only_once(night: NightDesk) -> None:
    """The recorded answer becomes the proposal; the planner is not asked again."""
    night.start_dying_worker("after:RecordDesk.record_plan")
    night.wait_for_death()
    assert PlanRequest.objects.get().answer is not None
    recover(night)
    night.wait_for_proposal(1)
    assert night.plans_answered() == 1
    assert PlanRequest.objects.get().times_asked == 1


BEFORE_REVIEW = (
    "after:RecordDesk.claim",
    "before:TransportSource.read",
    "after:RecordDesk.record_readings",
    "after:RecordDesk.compare_with_now",
    "after:RecordDesk.ask_for_plan",
    "before:RecordDesk.propose",
    "after:RecordDesk.propose",
)


@pytest.mark.parametrize("point", BEFORE_REVIEW)
def test_p02_a09_killed_while_preparing_goes_on_from_the_last_step(
    night: NightDesk, point: str
) -> None:
    """Every step before the review is saved or done again without leaving two proposals."""
    night.start_dying_worker(point)
    night.wait_for_death()
    recover(night)
    night.wait_for_proposal(1)
    assert night.case.proposals.count() == 1
    assert night.our_effects() == []


WHILE_ACTING = (
    "after:RecordDesk.clear_to_act",
    "after:TransportSource.take_lease",
    "after:RecordDesk.begin_attempt",
    "before:TransportSource.perform",
    "after:RecordDesk.finish_attempt",
    "before:TransportSource.look_up",
    "after:TransportSource.look_up",
    "after:RecordDesk.record_looks",
)


@pytest.mark.parametrize("point", WHILE_ACTING)
def test_p02_a09_d04_killed_while_acting_leaves_one_effect_of_each_action(
    night: NightDesk, point: str
) -> None:
    """Before, between and after: the attempt is on file before its call."""
    night.start_worker("first")
    night.wait_for_proposal(1)
    night.nursery.stop("first")
    night.release(1)
    night.start_dying_worker(point)
    night.wait_for_death()
    recover(night)
    night.wait_for_stage("waiting_for_acceptance")
    assert night.our_effects() == ["booking", "message"]


def test_p14_an_employee_who_is_faster_by_a_moment_is_not_overwritten(night: NightDesk) -> None:
    """Between our last look and our call the shipment changes: If-Match refuses the booking."""
    night.start_worker("first")
    night.wait_for_proposal(1)
    night.nursery.stop("first")
    night.release(1)
    night.start_dying_worker("before:TransportSource.perform", deed="employee")
    night.wait_for_proposal(2)
    assert night.proposal(1).state == "stale"
    assert night.our_effects() == []
    kept = night.proposal(2).actions.get(position=1)
    assert (kept.action, kept.parameters["scac"]) == ("keep_assigned_carrier", "OAKX")


def test_p15_the_effect_is_read_back_by_a_fresh_read_and_adoption_is_told_apart(
    night: NightDesk,
) -> None:
    """The carrier confirms late: the booking is an effect at once, adopted only then."""
    night.control.settings(booking_confirm_seconds=3600)
    night.start_worker("first")
    night.wait_for_proposal(1)
    night.release(1)
    night.wait_for(
        lambda: ReadBack.objects.filter(matches=True).exists(), "the booking is read back"
    )
    effect = ReadBack.objects.filter(matches=True).earliest("id").effect
    effect.refresh_from_db()
    assert effect.confirmed_at is not None
    assert effect.adopted_at is None
    assert night.case.stage == "verifying"
    assert night.our_effects() == ["booking"]


def test_p16_d11_a_commit_that_timed_out_is_found_and_not_repeated(night: NightDesk) -> None:
    """The target did it and never answered: unknown, looked up, one effect."""
    night.control.fault("commit_then_timeout", path_prefix="/v1/bookings", times=1, seconds=6)
    night.start_worker("first")
    night.wait_for_proposal(1)
    night.release(1)
    night.wait_for_stage("waiting_for_acceptance")
    was_unknown = AuditEvent.objects.filter(event="stage_entered", data__stage="reconciling")
    assert was_unknown.exists()
    assert night.our_effects() == ["booking", "message"]

"""The six rows of the product's interruption table, with real processes."""

import pytest

from cases.actions import decisions
from cases.clock import business_now
from cases.models import AuditEvent, PlanRequest
from cases.vocabulary.errors import DecisionRefused
from tests.crashes.night_desk import NightDesk

pytestmark = pytest.mark.processes


def test_p01_worker_stops_while_waiting_and_case_owner_and_proposal_survive(
    night: NightDesk,
) -> None:
    """Row 1: killed at 17:00, a new process carries out in the evening what was released then."""
    night.start_worker("first")
    night.wait_for_proposal(1)
    night.wait_until_let_go()
    night.nursery.kill("first")
    before = (night.case.owner, night.case.stage, night.proposal(1).digest)
    assert before[:2] == (night.cast.owner, "waiting_for_review")
    night.release(1)
    night.start_worker("second")
    night.wait_for_stage("waiting_for_acceptance")
    assert night.proposal(1).digest == before[2]
    assert night.our_effects() == ["booking", "message"]


def test_a_rate_that_ran_out_in_the_pause_is_replaced_by_a_current_one(night: NightDesk) -> None:
    """Row 2: the old quote is invalid; the new version books one that is still open."""
    night.start_worker("evening")
    night.wait_for_proposal(1)
    night.nursery.stop("evening")
    night.offer_rate("QX-90", amount_minor=195000, expires_at="2026-11-24T20:00:00Z")
    night.set_clocks(night.proposal(1).valid_until or business_now())
    night.start_worker("morning")
    night.wait_for_proposal(2)
    assert night.proposal(1).state in {"expired", "stale"}
    book = night.proposal(2).actions.get(position=1)
    assert book.parameters["quote_id"] == "QX-90"
    assert night.our_effects() == []


def test_p14_an_employees_change_is_shown_and_their_work_preserved(night: NightDesk) -> None:
    """Row 3: version 2 keeps the employee's carrier, and releasing it changes nothing of theirs."""
    night.start_worker("evening")
    night.wait_for_proposal(1)
    night.nursery.stop("evening")
    night.world_moves()
    night.start_worker("morning")
    night.wait_for_proposal(2)
    shown = {change["key"]: change for change in night.proposal(2).changes}
    assert shown["carrier_assignment"]["now"]["set_by"] == "J. Ortiz"
    night.release(2)
    night.wait_for_stage("waiting_for_acceptance")
    assert night.our_effects() == ["message"]
    shipment = night.case.sources.get(record_type="shipment").latest
    assert shipment is not None
    assert shipment.fields["carrier_assignment"]["code"] == "OAKX"


def test_p12_a_refresh_that_fails_blocks_with_owner_and_reason_until_the_source_is_back(
    night: NightDesk,
) -> None:
    """Row 4: the transport system answers 503 all morning, then recovers."""
    night.start_worker("evening")
    night.wait_for_proposal(1)
    night.control.fault("503", path_prefix="/v1/")
    night.world_moves()
    night.wait_for_stage("blocked")
    blocked = night.case
    assert blocked.owner == night.cast.owner
    assert "503" in blocked.blocked_reason
    assert blocked.next_try_at is not None
    with pytest.raises(DecisionRefused):
        night.release(1)
    night.control.clear_faults()
    night.set_clocks(blocked.next_try_at)
    night.wait_for_proposal(2)
    assert night.proposal(1).state == "stale"


def test_p06_an_answer_to_an_outdated_proposal_is_refused_until_the_new_one_is_reviewed(
    night: NightDesk,
) -> None:
    """Row 5: the old page answers first, then the new one."""
    night.start_worker("evening")
    night.wait_for_proposal(1)
    old_page = night.answer(1)
    night.nursery.stop("evening")
    night.world_moves()
    night.start_worker("morning")
    night.wait_for_proposal(2)
    with pytest.raises(DecisionRefused) as refusal:
        decisions.release(answer=old_page, by=night.cast.owner, at=business_now())
    assert refusal.value.current_number == 2
    assert night.our_effects() == []
    night.release(2)
    night.wait_for_stage("waiting_for_acceptance")
    assert night.our_effects() == ["message"]


def test_p05_a_second_worker_on_the_same_case_makes_no_conflicting_transition(
    night: NightDesk,
) -> None:
    """Row 6: two workers and two beats; each step and each effect happens once."""
    night.house.start_beat("another-beat")
    night.start_worker("one", pool="prefork")
    night.start_worker("two", pool="prefork")
    night.wait_for_proposal(1)
    night.release(1)
    night.wait_for_stage("waiting_for_acceptance")
    assert night.our_effects() == ["booking", "message"]
    rounds = PlanRequest.objects.filter(case_id=night.case_id)
    assert [(item.planning_round, item.times_asked) for item in rounds] == [(1, 1)]
    events = list(
        AuditEvent.objects.filter(case_id=night.case_id)
        .order_by("sequence")
        .values_list("event", "data__stage")
    )
    stages = [stage for event, stage in events if event == "stage_entered"]
    assert stages.count("executing") <= 3
    assert stages[-1] == "waiting_for_acceptance"
    assert [event for event, _ in events].count("attempt_started") == 2

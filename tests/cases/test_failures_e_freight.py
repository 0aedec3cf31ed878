"""Failures E6 to E9 and E12: what freight data does to a case, and must not."""

from datetime import timedelta
from typing import Any

import pytest

from cases.actions import decisions, runs
from cases.actions.clock import move_business_clock
from cases.actions.deadlines import escalate_overdue
from cases.actions.events import apply_received_events, receive_event
from cases.clock import business_now
from cases.models import Case, Effect, InboundEvent, SourceRecord
from cases.vocabulary.errors import DecisionRefused
from cases.vocabulary.freight_actions import BOOK_REPLACEMENT_CARRIER
from cases.vocabulary.work import AttemptOrder, Comparison, ReadOutcome, SourceReading
from tests.cases.builders import (
    EVENING_WORLD,
    OAKLINE,
    Cast,
    a_case_waiting_for_review,
    a_grant,
    a_quote,
    a_released_case,
    a_shipment,
    agent_reads,
    agent_starts_attempt,
    an_answer,
    an_open_case,
    audit_of,
    current_proposal,
    events_of,
    stage_of,
    target_answers,
    target_shows,
)
from tests.cases.sender import an_event, as_body

GONE = SourceReading(
    system="transport", record_type="shipment", record_id="S-318", outcome=ReadOutcome.MISSING
)
ENDED = {"cancelled": (a_shipment(42, ended="cancelled"), a_quote()), "split": (GONE, a_quote())}


def tell(event_id: str, reference: str, status: str) -> None:
    """The transport system reports something about a booking of ours."""
    body = as_body(an_event(reference, status=status))
    receive_event(system="transport", event_id=event_id, content=body, at=business_now())


def booked(cast: Cast) -> tuple[Case, AttemptOrder]:
    """The booking's call was answered: a receipt, and nothing more."""
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    target_answers(grant, order)
    runs.let_go(grant=grant)
    return case, order


def look(case: Case, order: AttemptOrder, state: str, **look_says: Any) -> None:
    """One visit of the agent that looks at the target."""
    grant = a_grant(case)
    target_shows(grant, order, state=state, **look_says)
    runs.let_go(grant=grant)


def effect_of(order: AttemptOrder) -> Effect:
    """The effect, read fresh."""
    return Effect.objects.get(pk=order.effect.effect_id)


def test_e06_an_older_state_that_comes_late_moves_no_shipment_back(cast: Cast) -> None:
    """Delivered at version 44; a replica that lags still says 43, on its way."""
    case = a_case_waiting_for_review(cast)
    agent_reads(case, (a_shipment(44, ended="delivered"), a_quote()))
    assert agent_reads(case, (a_shipment(43), a_quote())) is Comparison.BLOCKED
    record = SourceRecord.objects.get(record_type="shipment")
    assert record.highest_version == 44
    case.refresh_from_db()
    assert "went back to version 43 after 44" in case.blocked_reason
    agent_reads(case, (a_shipment(44, ended="delivered"), a_quote()))
    assert stage_of(case) == "escalated"
    seen = [row.data["version"] for row in audit_of(case) if row.event == "source_read"]
    assert [version for version in seen if version > 40] == [41, 44, 43, 44]


def test_e06_a_report_that_comes_before_what_it_is_about_is_kept_and_undoes_nothing(
    cast: Cast,
) -> None:
    """Confirmed is reported before the call that books was answered, and received after it."""
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    tell("msg_2", order.effect.reference, "confirmed")
    target_answers(grant, order)
    runs.let_go(grant=grant)
    assert apply_received_events(limit=10) == 1
    look(case, order, "confirmed")
    tell("msg_1", order.effect.reference, "received")
    assert effect_of(order).state == "adopted"
    states = InboundEvent.objects.order_by("event_id").values_list("state", flat=True)
    assert list(states) == ["applied", "applied"]


def test_e08_a_receipt_is_no_acceptance_and_silence_is_no_yes(cast: Cast) -> None:
    case, order = booked(cast)
    for state in ("received", "acknowledged", "accepted_with_conditions"):
        look(case, order, state)
        assert effect_of(order).adopted_at is None
    move_business_clock(by=(BOOK_REPLACEMENT_CARRIER.adoption_within or timedelta()))
    assert escalate_overdue() == 1
    assert effect_of(order).state == "confirmed"
    assert events_of(case)[-1] == "adoption_overdue"


def test_e08_an_acceptance_on_other_terms_goes_to_a_person(cast: Cast) -> None:
    case, order = booked(cast)
    dearer = {**order.effect.parameters, "amount": {"amount_minor": 199000, "currency": "USD"}}
    fields = {"shipment_id": "S-318", **dearer}
    look(case, order, "confirmed", fields=fields)
    assert (stage_of(case), effect_of(order).adopted_at) == ("escalated", None)


def test_e08_an_acceptance_after_a_refusal_is_shown_and_books_nobody_else(cast: Cast) -> None:
    case, order = booked(cast)
    look(case, order, "declined")
    assert stage_of(case) == "escalated"
    effects = Effect.objects.count()
    tell("msg_9", order.effect.reference, "confirmed")
    theirs = a_shipment(43, carrier_assignment={"code": "BLUX", "name": "BLUX", "set_by": "BLUX"})
    agent_reads(case, (theirs, a_quote(state="used")))
    reported = [row for row in audit_of(case) if row.event == "event_reported"]
    assert [row.data["status"] for row in reported] == ["confirmed"]
    assert (stage_of(case), Effect.objects.count()) == ("escalated", effects)


@pytest.mark.parametrize("how", list(ENDED))
def test_e09_a_shipment_cancelled_or_split_ends_the_release_for_good(cast: Cast, how: str) -> None:
    """A split shows as the shipment being gone; that it comes back revives nothing."""
    case = a_released_case(cast)
    _, order = agent_starts_attempt(case, ENDED[how])
    assert order is None
    assert current_proposal(case).state == "stale"
    grant, order = agent_starts_attempt(case, (a_shipment(43), a_quote()))
    assert order is None
    assert current_proposal(case).state == "stale"
    assert not case.decisions.filter(ended_at=None).exists()


def test_e09_what_is_left_of_a_cancelled_shipment_is_for_a_person_to_say(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    old = an_answer(case)
    agent_reads(case, ENDED["cancelled"])
    case.refresh_from_db()
    assert case.stage == "escalated"
    assert "S-318 is cancelled" in case.stage_reason
    agent_reads(case, (a_shipment(43), a_quote()))
    with pytest.raises(DecisionRefused):
        decisions.release(answer=old, by=cast.owner, at=business_now())
    assert not Effect.objects.exists()


def test_e12_a_carrier_at_first_sight_is_kept_and_named_and_nothing_is_rebooked(
    cast: Cast,
) -> None:
    case = an_open_case(cast)
    seen = (a_shipment(carrier_assignment=OAKLINE), a_quote(expires_at="2030-01-01T00:00:00Z"))
    agent_reads(case, seen)
    proposal = current_proposal(case)
    actions = [row.action for row in proposal.actions.order_by("position")]
    assert actions == ["keep_assigned_carrier", "send_customer_update"]
    assert "J. Ortiz assigned Oakline Freight. That is kept" in proposal.summary

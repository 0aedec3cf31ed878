"""P10: right before acting the facts are read again; anything material stops the action."""

from collections.abc import Sequence

import pytest

from cases.actions import effects, evidence
from cases.clock import business_now
from cases.models import Attempt, Effect, Person, Proposal
from cases.vocabulary.work import SourceReading
from tests.cases.builders import (
    AGENT,
    EVENING_WORLD,
    MORNING,
    OAKLINE,
    TRANSPORT,
    TWO_O_CLOCK,
    Cast,
    a_grant,
    a_quote,
    a_released_case,
    a_shipment,
    agent_starts_attempt,
    at_business_time,
    current_proposal,
    stage_of,
    target_answers,
    target_shows,
    unreadable,
)

MOVED = {
    "delivery window moved": (a_shipment(42, delivery_window=TWO_O_CLOCK), a_quote()),
    "carrier assigned by an employee": (a_shipment(42, carrier_assignment=OAKLINE), a_quote()),
    "amount changed": (a_shipment(), a_quote(amount_minor=179100)),
    "currency-equal amount but other carrier": (a_shipment(), a_quote(code="NRDX")),
    "quote withdrawn": (a_shipment(), a_quote(state="withdrawn")),
    "equipment changed": (a_shipment(42, equipment="dry van"), a_quote()),
    "weight beyond tolerance": (a_shipment(42, weight="18450"), a_quote()),
}


@pytest.mark.parametrize("world", MOVED.values(), ids=MOVED.keys())
def test_p10_a_material_change_after_the_release_stops_the_action(
    cast: Cast, world: Sequence[SourceReading]
) -> None:
    """No attempt starts; the proposal is stale and names what changed, old and new."""
    case = a_released_case(cast)
    _, order = agent_starts_attempt(case, world)
    assert order is None
    proposal = current_proposal(case)
    assert proposal.state == Proposal.State.STALE
    assert proposal.state_reason.startswith("Changed since it was made:")
    assert stage_of(case) == "investigating"
    assert Attempt.objects.count() == 0
    assert set(Effect.objects.values_list("state", flat=True)) == {"not_needed"}


NOT_MATERIAL = {
    "version only": (a_shipment(43), a_quote()),
    "weight within one per cent": (a_shipment(42, weight="18300"), a_quote()),
    "contact's display name": (
        a_shipment(
            42,
            customer_contact={
                "code": "receiving@harborfoods.example",
                "name": "Harbor Foods Inc.",
                "set_by": "",
            },
        ),
        a_quote(),
    ),
}


@pytest.mark.parametrize("world", NOT_MATERIAL.values(), ids=NOT_MATERIAL.keys())
def test_p10_a_change_that_is_not_material_does_not_stop_it(
    cast: Cast, world: Sequence[SourceReading]
) -> None:
    """Otherwise people learn to click through warnings."""
    case = a_released_case(cast)
    _, order = agent_starts_attempt(case, world)
    assert order is not None


def test_p10_an_unreadable_source_stops_it_and_blocks_the_case(cast: Cast) -> None:
    """Unreadable is not unchanged."""
    case = a_released_case(cast)
    _, order = agent_starts_attempt(case, (unreadable(a_shipment()), a_quote()))
    assert order is None
    assert stage_of(case) == "blocked"
    assert Attempt.objects.count() == 0


def test_p10_a_release_that_waited_too_long_is_expired(cast: Cast) -> None:
    """Released at 17:00, the worker comes back in the morning: nothing is carried out."""
    case = a_released_case(cast)
    at_business_time(MORNING)
    _, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is None
    assert current_proposal(case).state == Proposal.State.EXPIRED


def test_p13_an_older_version_at_the_last_look_blocks_instead_of_acting(cast: Cast) -> None:
    """Released on version 41, and a replica answers with 40."""
    case = a_released_case(cast)
    _, order = agent_starts_attempt(case, (a_shipment(40), a_quote()))
    assert order is None
    assert stage_of(case) == "blocked"


def test_p07_a_release_by_someone_who_was_deactivated_since_is_not_carried_out(
    cast: Cast,
) -> None:
    """The right must still be there when the action runs."""
    case = a_released_case(cast)
    Person.objects.filter(pk=cast.owner.pk).update(is_active=False)
    _, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is None
    assert stage_of(case) == "escalated"
    assert Attempt.objects.count() == 0


def test_p10_facts_read_long_before_do_not_allow_an_attempt(cast: Cast) -> None:
    """A worker that froze between its last look and the call must look again."""
    case = a_released_case(cast)
    grant = a_grant(case)
    evidence.record_readings(grant=grant, by=AGENT, readings=EVENING_WORLD, asked_at=business_now())
    assert effects.clear_to_act(grant=grant, by=AGENT)
    case.refresh_from_db()
    assert case.refreshed_at is not None
    case.refreshed_at -= effects.FACTS_ARE_FRESH_FOR * 2
    case.save()
    effect = Effect.objects.order_by("id").first()
    assert effect is not None
    assert (
        effects.begin_attempt(grant=grant, by=AGENT, effect_id=effect.pk, capabilities=TRANSPORT)
        is None
    )
    assert Attempt.objects.count() == 0


def test_p10_our_own_booking_is_not_a_change_for_the_message_after_it(cast: Cast) -> None:
    """The carrier we booked is what the message expects; another carrier is not."""
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    target_answers(grant, order)
    target_shows(grant, order, state="confirmed")
    ours = {"code": "BLUX", "name": "BLUX Lines", "set_by": "watchbill-agent"}
    booked = (a_shipment(42, carrier_assignment=ours), a_quote(state="used"))
    _, message = agent_starts_attempt(case, booked, position=2)
    assert message is not None


def test_p10_another_carrier_after_our_booking_stops_the_message(cast: Cast) -> None:
    """Somebody replaced our booking before the customer was told."""
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    target_answers(grant, order)
    target_shows(grant, order, state="confirmed")
    replaced = (a_shipment(43, carrier_assignment=OAKLINE), a_quote(state="used"))
    _, message = agent_starts_attempt(case, replaced, position=2)
    assert message is None
    assert current_proposal(case).state == Proposal.State.STALE

"""P13: where a source has no numbers, states are told apart by tags, or by facts and time."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cases.actions import decisions
from cases.actions.clock import move_business_clock
from cases.actions.effects import FACTS_ARE_FRESH_FOR, begin_attempt
from cases.clock import business_now
from cases.models import Case, Effect, Observation
from cases.vocabulary.work import Comparison, SourceReading
from tests.cases.builders import (
    AGENT,
    EVENING,
    EVENING_WORLD,
    OAKLINE,
    TRANSPORT,
    TWO_O_CLOCK,
    Cast,
    a_quote,
    a_shipment,
    agent_reads,
    agent_starts_attempt,
    an_answer,
    an_open_case,
    at_business_time,
    current_proposal,
    stage_of,
)


def unnumbered(*readings: SourceReading, etag: str = "") -> tuple[SourceReading, ...]:
    """What a source says that has no version numbers, but perhaps tags."""
    return tuple(replace(reading, version=None, etag=etag) for reading in readings)


def a_released_case_without_versions(cast: Cast, *, etag: str = "") -> Case:
    """Proposal 1 was released by the owner; no reading ever had a number."""
    at_business_time(EVENING)
    case = an_open_case(cast)
    assert agent_reads(case, unnumbered(*EVENING_WORLD, etag=etag)) is Comparison.PLAN
    case.refresh_from_db()
    decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())
    case.refresh_from_db()
    return case


def test_p13_a_case_without_any_version_is_planned_released_and_acted_on(cast: Cast) -> None:
    case = a_released_case_without_versions(cast)
    _, order = agent_starts_attempt(case, unnumbered(*EVENING_WORLD))
    assert order is not None
    assert (order.subject_version, order.subject_etag) == (None, "")


def test_p13_the_tag_of_the_newest_reading_goes_with_the_call(cast: Cast) -> None:
    case = a_released_case_without_versions(cast, etag='"a1"')
    _, order = agent_starts_attempt(case, unnumbered(*EVENING_WORLD, etag='"b2"'))
    assert order is not None
    assert (order.subject_version, order.subject_etag) == (None, '"b2"')


@pytest.mark.parametrize(
    "facts", [{"carrier_assignment": OAKLINE}, {"delivery_window": TWO_O_CLOCK}]
)
def test_p13_other_facts_make_a_release_stale_though_no_version_moved(
    cast: Cast, facts: dict[str, Any]
) -> None:
    case = a_released_case_without_versions(cast)
    _, order = agent_starts_attempt(case, unnumbered(a_shipment(**facts), a_quote()))
    assert order is None
    assert current_proposal(case).state == "stale"


def test_p13_old_facts_that_come_back_do_not_revive_a_stale_release(cast: Cast) -> None:
    case = a_released_case_without_versions(cast)
    moved = unnumbered(a_shipment(delivery_window=TWO_O_CLOCK), a_quote())
    agent_starts_attempt(case, moved)
    assert agent_reads(case, unnumbered(*EVENING_WORLD)) is Comparison.PLAN
    assert [proposal.state for proposal in case.proposals.order_by("number")] == ["stale", "ready"]
    assert stage_of(case) == "waiting_for_review"
    assert not Effect.objects.filter(state=Effect.State.WANTED).exists()


def test_p13_equal_facts_that_were_read_too_long_ago_permit_no_call(cast: Cast) -> None:
    case = a_released_case_without_versions(cast)
    grant, order = agent_starts_attempt(case, unnumbered(*EVENING_WORLD), position=2)
    assert order is None  # it waits for the booking, so nothing was started by that reading
    move_business_clock(by=FACTS_ARE_FRESH_FOR + timedelta(seconds=1))
    booking = Effect.objects.get(decision__case=case, proposed_action__position=1)
    assert (
        begin_attempt(grant=grant, by=AGENT, effect_id=booking.pk, capabilities=TRANSPORT) is None
    )


def test_p13_every_reading_keeps_the_fingerprint_of_its_facts_and_when_it_was_made(
    cast: Cast,
) -> None:
    case = a_released_case_without_versions(cast)
    agent_starts_attempt(case, unnumbered(*EVENING_WORLD))
    moved = unnumbered(a_shipment(delivery_window=TWO_O_CLOCK))
    agent_starts_attempt(case, moved)
    of_shipment = Observation.objects.filter(record__record_type="shipment").order_by("id")
    prints = [observation.fingerprint for observation in of_shipment]
    assert prints[0] == prints[1] != prints[2]
    times = [observation.observed_at for observation in of_shipment]
    assert times == sorted(times)
    assert {observation.version for observation in of_shipment} == {None}

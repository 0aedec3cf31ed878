"""After a release the pages say how far it came, why it ended, and what was really sent."""

import re

from django.test import Client

from cases.actions import decisions, effects, evidence, planning, runs
from cases.clock import business_now
from cases.models import Case
from cases.queries.banner import Axis
from cases.queries.case_page import CasePage, case_page
from cases.queries.record import record_of
from cases.vocabulary.work import CallOutcome, SourceReading
from tests.cases.builders import (
    AGENT,
    EVENING,
    EVENING_WORLD,
    MORNING,
    MORNING_WORLD,
    OAKLINE,
    TWO_O_CLOCK,
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
    at_business_time,
    target_answers,
    target_shows,
)

BOOKED = {"code": "BLUX", "name": "BLUX Lines", "set_by": "agent"}
WORLD_AFTER_BOOKING = (a_shipment(42, carrier_assignment=BOOKED), a_quote(state="used"))


def page_for(case: Case, cast: Cast, *, number: int | None = None) -> CasePage:
    """The page as the owner gets it."""
    return case_page(case_id=case.pk, person=cast.owner, at=business_now(), number=number)


def action_of(case: Case, cast: Cast) -> Axis:
    """The third axis."""
    return page_for(case, cast).axes[2]


def carry_out(case: Case, world: tuple[SourceReading, ...], *, position: int, state: str) -> None:
    """The action at `position` is attempted, answered, and taken up."""
    grant, order = agent_starts_attempt(case, world, position=position)
    assert order is not None
    target_answers(grant, order)
    target_shows(grant, order, state=state)
    runs.let_go(grant=grant)


def a_release_that_sends_nothing(cast: Cast) -> Case:
    """Version 1 only keeps the carrier that a colleague assigned; the owner released it."""
    at_business_time(EVENING)
    case = an_open_case(cast)
    grant = a_grant(case)
    world = [a_shipment(42, carrier_assignment=OAKLINE)]
    evidence.record_readings(grant=grant, by=AGENT, readings=world, asked_at=business_now())
    evidence.compare_with_now(grant=grant, by=AGENT)
    question = planning.ask_for_plan(grant=grant, by=AGENT, planner="rules@1")
    keep = {
        "action": "keep_assigned_carrier",
        "parameters": {
            "shipment": "S-318",
            "scac": "OAKX",
            "carrier_name": "Oakline Freight",
            "assigned_by": "J. Ortiz",
        },
    }
    answer = {"kind": "propose", "summary": "Keep Oakline.", "actions": [keep]}
    planning.record_plan(grant=grant, by=AGENT, request_id=question.request_id, answer=answer)
    planning.propose(grant=grant, by=AGENT, request_id=question.request_id)
    runs.let_go(grant=grant)
    case.refresh_from_db()
    decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())
    return case


def test_the_timeline_says_why_an_attempt_ended(cast: Cast) -> None:
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    target_answers(grant, order, CallOutcome.REFUSED)
    client = Client()
    client.force_login(cast.owner)
    page = client.get(f"/cases/{case.pk}/timeline/").content.decode()
    assert "Attempt ended, refused: The target: refused." in page


def test_the_timeline_tells_who_tried_what_and_was_refused(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    client = Client()
    client.force_login(cast.auditor)
    client.post(f"/cases/{case.pk}/close/", {"reason": "No."})
    page = client.get(f"/cases/{case.pk}/timeline/").content.decode()
    assert "Tried to close the case, refused: Auditors cannot decide" in page


def test_a_new_reading_under_the_same_version_is_said_in_plain_words(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    agent_reads(case, (a_shipment(), a_quote(amount_minor=180000)))
    client = Client()
    client.force_login(cast.owner)
    page = client.get(f"/cases/{case.pk}/timeline/").content.decode()
    assert "Read quote QX-71 again, still at version 1: its facts changed." in page


def test_a_release_of_which_one_action_was_never_done_is_partly_carried_out(cast: Cast) -> None:
    case = a_released_case(cast)
    carry_out(case, EVENING_WORLD, position=1, state="confirmed")
    shipment = a_shipment(42, delivery_window=TWO_O_CLOCK, carrier_assignment=BOOKED)
    grant = a_grant(case)
    evidence.record_readings(
        grant=grant, by=AGENT, readings=[shipment, a_quote(state="used")], asked_at=business_now()
    )
    assert not effects.clear_to_act(grant=grant, by=AGENT)
    action = action_of(case, cast)
    assert (action.word, action.tone) == ("Partly carried out", "changed")
    assert action.detail == "1 of 2 effects confirmed"
    decision = page_for(case, cast, number=1).panel.decision
    assert decision is not None
    assert not decision.is_carried_out
    client = Client()
    client.force_login(cast.owner)
    page = client.get(f"/cases/{case.pk}/?proposal=1").content.decode()
    assert re.search(r"Partly carried out, ended .*: Changed since it was made", page)


def test_a_release_is_under_way_between_its_actions_and_adopted_after_the_last(cast: Cast) -> None:
    case = a_released_case(cast)
    assert action_of(case, cast).word == "Released, not attempted yet"
    carry_out(case, EVENING_WORLD, position=1, state="confirmed")
    assert action_of(case, cast).word == "Under way"
    carry_out(case, WORLD_AFTER_BOOKING, position=2, state="delivered")
    action = action_of(case, cast)
    assert (action.word, action.tone) == ("Adopted", "done")
    decision = page_for(case, cast, number=1).panel.decision
    assert decision is not None
    assert decision.is_carried_out


def test_a_release_that_ended_before_anything_was_done_is_not_carried_out(cast: Cast) -> None:
    case = a_released_case(cast)
    at_business_time(MORNING)
    agent_starts_attempt(case, MORNING_WORLD)
    action = action_of(case, cast)
    assert (action.word, action.tone) == ("Not carried out", "none")


def test_a_release_without_outside_effects_that_went_stale_was_not_carried_out(cast: Cast) -> None:
    case = a_release_that_sends_nothing(cast)
    agent_starts_attempt(case, [a_shipment(43, carrier_assignment=None)])
    page = page_for(case, cast, number=1)
    assert (page.axes[2].word, page.axes[2].tone) == ("Not carried out", "none")
    assert page.panel.decision is not None
    assert not page.panel.decision.is_carried_out
    assert page.panel.decision.ended_reason == "Changed since it was made: carrier."


def test_a_release_without_outside_effects_that_held_was_carried_out(cast: Cast) -> None:
    case = a_release_that_sends_nothing(cast)
    assert action_of(case, cast).tone == "waiting"
    agent_starts_attempt(case, [a_shipment(43, carrier_assignment=OAKLINE)])
    page = page_for(case, cast)
    assert (page.axes[2].word, page.axes[2].tone) == ("Nothing had to be sent", "done")
    assert page.panel.decision is not None
    assert page.panel.decision.is_carried_out


def test_the_hint_after_a_release_brings_what_comes_next_by_itself(cast: Cast) -> None:
    case = a_released_case(cast)
    seen = {"seen": case.version, "shown": 1, "outcome": 1}
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    target_answers(grant, order)
    client = Client()
    client.force_login(cast.owner)
    assert 'id="next-work"' in client.get(f"/cases/{case.pk}/").content.decode()
    hint = client.get(f"/cases/{case.pk}/hint/", seen, headers={"HX-Request": "true"})
    words = re.sub(r"\s+", " ", hint.content.decode())
    assert re.search(r'hx-target="#next-work".{0,600}The target is to be read back', words)


def test_the_record_says_that_something_was_sent_whichever_version_asked_for_it(
    cast: Cast,
) -> None:
    case = a_case_waiting_for_review(cast)
    at_business_time(MORNING)
    agent_reads(case, MORNING_WORLD)
    case.refresh_from_db()
    record = record_of(case.pk)
    assert (record["previous_proposal"], record["external_action_performed"]) == (1, False)
    decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())
    assert record_of(case.pk)["external_action_performed"] is False
    effect_at = 2
    grant, order = agent_starts_attempt(case, MORNING_WORLD, position=effect_at)
    assert order is not None
    target_answers(grant, order)
    record = record_of(case.pk)
    assert (record["previous_proposal"], record["external_action_performed"]) == (1, True)

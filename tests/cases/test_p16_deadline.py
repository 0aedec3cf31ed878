"""P16: an unknown outcome has an owner and a deadline; nothing goes on while it is unknown."""

from datetime import timedelta

import pytest
from pytest_django import Settings

from cases.actions import closing, effects, findings, runs
from cases.actions.clock import move_business_clock
from cases.actions.findings import Seen
from cases.clock import business_now
from cases.models import Case, Effect, Person, Proposal, Run
from cases.vocabulary.errors import Conflict, FindingOvertaken
from cases.vocabulary.work import SETTLE_WITHIN, CallOutcome
from tests.cases.builders import (
    AGENT,
    EVENING_WORLD,
    Cast,
    a_grant,
    a_released_case,
    a_shipment,
    agent_reads,
    agent_starts_attempt,
    events_of,
    stage_of,
    target_answers,
    target_shows,
    unreadable,
)
from tests.cases.doubts import a_case_given_up, a_case_in_doubt, all_of, target_cannot_be_asked
from tests.cases.sender import KEY, Sender, an_event


def past_the_deadline() -> None:
    """A little later than an unknown outcome should stay unknown."""
    move_business_clock(by=SETTLE_WITHIN + timedelta(minutes=1))


def test_p16_before_the_deadline_a_failed_look_is_tried_again(cast: Cast) -> None:
    case, grant, order = a_case_in_doubt(cast)
    target_cannot_be_asked(grant, order)
    assert stage_of(case) == "blocked"


def test_p16_after_the_deadline_a_failed_look_asks_a_person(cast: Cast) -> None:
    case, effect = a_case_given_up(cast)
    assert stage_of(case) == "escalated"
    assert "could not be found out within 15 minutes" in case.stage_reason
    assert (effect.state, effect.decision.ended_at is not None) == ("unknown", True)


def test_p16_after_the_deadline_a_source_that_cannot_be_read_asks_a_person(cast: Cast) -> None:
    case, grant, order = a_case_in_doubt(cast)
    target_cannot_be_asked(grant, order)
    past_the_deadline()
    agent_reads(case, (unreadable(a_shipment()), *EVENING_WORLD[1:]))
    assert stage_of(case) == "escalated"


def test_p16_after_the_deadline_somebody_elses_lease_asks_a_person(cast: Cast) -> None:
    case, _, _ = a_case_in_doubt(cast)
    past_the_deadline()
    effects.back_off(
        grant=a_grant(case), by=AGENT, reason="J. Ortiz holds it.", delay=timedelta(seconds=5)
    )
    assert stage_of(case) == "escalated"


def test_p16_after_the_deadline_a_visit_that_fails_asks_a_person(cast: Cast) -> None:
    case, _, _ = a_case_in_doubt(cast)
    past_the_deadline()
    runs.block(grant=a_grant(case), by=AGENT, reason="The agent's visit failed: odd answer")
    assert stage_of(case) == "escalated"


def test_p16_long_after_the_deadline_a_look_still_settles_it(cast: Cast) -> None:
    """Every worker was away for the night: nobody is asked what a look can tell."""
    case, _, order = a_case_in_doubt(cast)
    move_business_clock(by=timedelta(hours=12))
    target_shows(a_grant(case), order, state="", found=False)
    assert stage_of(case) == "reconciling"
    target_shows(a_grant(case), order, state="confirmed")
    assert Effect.objects.get(pk=order.effect.effect_id).state == Effect.State.ADOPTED


def test_p16_an_unknown_outcome_gets_an_owner(cast: Cast) -> None:
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    Case.objects.filter(pk=case.pk).update(owner=None)
    target_answers(grant, order, CallOutcome.UNKNOWN)
    case.refresh_from_db()
    assert case.owner == cast.lead


def test_p16_nothing_is_planned_while_an_outcome_is_unknown(cast: Cast) -> None:
    """Another plan could book a second truck."""
    case, _ = a_case_given_up(cast)
    with pytest.raises(Conflict, match="is unknown"):
        closing.ask_for_plan(
            case_id=case.pk, by=cast.lead, at=business_now(), reason="Just book another"
        )
    assert stage_of(case) == "escalated"


@pytest.mark.parametrize("happened", [True, False])
def test_p16_after_a_finding_another_plan_can_be_asked_for(cast: Cast, happened: bool) -> None:
    case, effect = a_case_given_up(cast)
    findings.record_finding(
        case_id=case.pk,
        effect_id=effect.pk,
        happened=happened,
        note="Asked Bo",
        seen=Seen(attempts=1, looks=0),
        by=cast.lead,
        at=business_now(),
    )
    closing.ask_for_plan(case_id=case.pk, by=cast.lead, at=business_now(), reason="Go on")
    agent_reads(case, EVENING_WORLD)
    assert case.proposals.filter(state=Proposal.State.READY).exists()


def test_p16_a_finding_on_less_than_is_known_now_does_not_count(cast: Cast) -> None:
    case, effect = a_case_given_up(cast)
    with pytest.raises(FindingOvertaken) as refused:
        findings.record_finding(
            case_id=case.pk,
            effect_id=effect.pk,
            happened=True,
            note="Asked Bo",
            seen=Seen(attempts=0, looks=0),
            by=cast.lead,
            at=business_now(),
        )
    assert refused.value.differences == (("Attempts", "0", "1"),)
    assert events_of(case)[-1] == "act_refused"


def test_p16_a_carrier_that_declines_leaves_nothing_unknown(cast: Cast) -> None:
    """The call timed out, but it arrived: the other party said no."""
    case, grant, order = a_case_in_doubt(cast)
    target_shows(grant, order, state="declined")
    effect = Effect.objects.get(pk=order.effect.effect_id)
    assert (effect.state, effect.attempts.get().outcome) == ("refused", "answered")
    closing.ask_for_plan(case_id=case.pk, by=cast.lead, at=business_now(), reason="Another one")


def findings_refused(case: Case, effect: Effect, by: Person, seen: Seen) -> FindingOvertaken:
    """They say that it did not happen, and are told what they had not seen."""
    with pytest.raises(FindingOvertaken) as refused:
        findings.record_finding(
            case_id=case.pk,
            effect_id=effect.pk,
            happened=False,
            note="Nobody knows of it",
            seen=seen,
            by=by,
            at=business_now(),
        )
    return refused.value


def test_p16_a_finding_without_having_seen_a_later_report_does_not_count(
    cast: Cast, settings: Settings
) -> None:
    """The page was open when the target reported a booking on the shipment."""
    settings.WEBHOOK_KEYS = {"transport": (KEY,)}
    case, effect = a_case_given_up(cast)
    seen = all_of(effect)
    Run.objects.update(lease_until=None, worker="")
    assert Sender().send(an_event(None)) == 202
    refused = findings_refused(case, effect, cast.owner, seen)
    assert refused.differences == (("Reports from outside", "0", "1"),)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("refused", "It was refused. Bluewater declined."),
        ("not_needed", "It did not happen. Bluewater declined."),
        ("confirmed", "It happened. Bluewater declined."),
    ],
)
def test_p16_what_is_known_by_now_is_said_as_it_is(cast: Cast, state: str, words: str) -> None:
    case, effect = a_case_given_up(cast)
    Effect.objects.filter(pk=effect.pk).update(
        state=state, state_reason="Bluewater declined.", confirmed_at=business_now()
    )
    refused = findings_refused(case, effect, cast.owner, all_of(effect))
    assert refused.differences == (("Outcome", "unknown", words),)

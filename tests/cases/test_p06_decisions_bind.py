"""P6: a decision counts only for the proposal version and digest the person saw."""

from dataclasses import replace
from uuid import uuid4

import pytest

from cases.actions import decisions
from cases.clock import business_now
from cases.models import Decision, Effect, Proposal
from cases.vocabulary.errors import DecisionRefused, InvalidInput, NotFound, Refused
from tests.cases.builders import (
    MORNING,
    MORNING_WORLD,
    Cast,
    a_case_waiting_for_review,
    agent_reads,
    an_answer,
    at_business_time,
    audit_of,
    current_proposal,
    decisions_of,
    stage_of,
)


def test_p06_an_answer_to_an_old_version_never_releases_the_new_one(cast: Cast) -> None:
    """Version 1 is on the screen when version 2 is made; the answer to 1 is refused."""
    case = a_case_waiting_for_review(cast)
    old = an_answer(case)
    at_business_time(MORNING)
    agent_reads(case, MORNING_WORLD)
    with pytest.raises(DecisionRefused) as refusal:
        decisions.release(answer=old, by=cast.owner, at=business_now())
    assert refusal.value.reason_code == "stale"
    assert refusal.value.current_number == 2
    assert [change["key"] for change in refusal.value.changes] == [
        "delivery_window",
        "rate_expiry",
        "carrier_assignment",
    ]
    assert decisions_of(case) == []
    assert Effect.objects.count() == 0
    assert current_proposal(case).state == Proposal.State.READY


def test_p06_the_old_digest_with_the_new_number_is_refused(cast: Cast) -> None:
    """Changing only the number in an old form does not help."""
    case = a_case_waiting_for_review(cast)
    old = an_answer(case)
    at_business_time(MORNING)
    agent_reads(case, MORNING_WORLD)
    with pytest.raises(DecisionRefused) as refusal:
        decisions.release(answer=replace(old, proposal_number=2), by=cast.owner, at=business_now())
    assert refusal.value.reason_code == "digest_mismatch"
    assert stage_of(case) == "waiting_for_review"


def test_p06_equal_content_in_a_new_version_has_another_digest(cast: Cast) -> None:
    """A version is released once: its digest covers its number, not only its content."""
    case = a_case_waiting_for_review(cast)
    other = a_case_waiting_for_review(cast, subject="S-319")
    assert current_proposal(case).digest != current_proposal(other).digest


def test_p06_a_refusal_is_kept_in_the_audit_with_the_typed_reason(cast: Cast) -> None:
    """The next shift sees that someone tried, what they typed, and why it did not count."""
    case = a_case_waiting_for_review(cast)
    old = an_answer(case, reason="Rate looks fine")
    at_business_time(MORNING)
    agent_reads(case, MORNING_WORLD)
    with pytest.raises(DecisionRefused):
        decisions.release(answer=old, by=cast.owner, at=business_now())
    refused = audit_of(case)[-1]
    assert refused.event == "decision_refused"
    assert refused.actor_name == "Marta Ortega"
    assert refused.data["reason_code"] == "stale"
    assert refused.data["typed_reason"] == "Rate looks fine"


def test_p06_the_same_form_posted_twice_is_one_decision(cast: Cast) -> None:
    """A double click is answered with the decision it already made."""
    case = a_case_waiting_for_review(cast)
    answer = an_answer(case)
    first = decisions.release(answer=answer, by=cast.owner, at=business_now())
    second = decisions.release(answer=answer, by=cast.owner, at=business_now())
    assert (first.replayed, second.replayed) == (False, True)
    assert decisions_of(case) == ["release"]
    assert Effect.objects.count() == 2


def test_p06_a_second_person_is_told_who_was_first(cast: Cast) -> None:
    """Two people decide on one version: one wins, the other reads the winner's name."""
    case = a_case_waiting_for_review(cast)
    decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())
    with pytest.raises(DecisionRefused, match="already released by Marta Ortega") as refusal:
        decisions.reject(answer=an_answer(case, reason="No"), by=cast.colleague, at=business_now())
    assert refusal.value.reason_code == "already_decided"
    assert decisions_of(case) == ["release"]


def test_p06_a_rate_that_ran_out_cannot_be_released_even_before_the_refresh(cast: Cast) -> None:
    """At 00:01 nothing was read again yet, but the proposal's own time is over."""
    case = a_case_waiting_for_review(cast)
    at_business_time(MORNING)
    with pytest.raises(DecisionRefused) as refusal:
        decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())
    assert refusal.value.reason_code == "expired"


@pytest.mark.parametrize("who", ["admin", "auditor", "gone"])
def test_p06_only_active_operators_and_leads_decide(cast: Cast, who: str) -> None:
    """Admins, auditors and deactivated people are refused with a sentence."""
    case = a_case_waiting_for_review(cast)
    with pytest.raises(Refused):
        decisions.release(answer=an_answer(case), by=getattr(cast, who), at=business_now())
    assert Decision.objects.count() == 0
    assert audit_of(case)[-1].event == "decision_refused"


def test_p06_a_refusal_or_send_back_needs_a_reason(cast: Cast) -> None:
    """Without a reason the next plan would know nothing."""
    case = a_case_waiting_for_review(cast)
    with pytest.raises(InvalidInput):
        decisions.send_back(answer=an_answer(case, reason="  "), by=cast.owner, at=business_now())
    assert stage_of(case) == "waiting_for_review"


def test_p06_a_number_that_never_existed_is_not_found(cast: Cast) -> None:
    """Proposal 9 of a case with one proposal."""
    case = a_case_waiting_for_review(cast)
    with pytest.raises(NotFound):
        decisions.release(
            answer=replace(an_answer(case), proposal_number=9, nonce=uuid4()),
            by=cast.owner,
            at=business_now(),
        )

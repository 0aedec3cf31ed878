"""P13: a lead may trust a source again that went back; no stale answer comes back with it."""

import pytest

from cases.actions import decisions, effects, evidence, trust
from cases.clock import business_now
from cases.models import Attempt, Case, Decision, Proposal, SourceRecord
from cases.vocabulary.errors import Conflict, DecisionRefused, NotFound, Refused
from tests.cases.builders import (
    AGENT,
    Cast,
    a_case_waiting_for_review,
    a_grant,
    a_quote,
    a_shipment,
    agent_reads,
    an_answer,
    audit_of,
    current_proposal,
    stage_of,
)

AT_43 = (a_shipment(43), a_quote())
AT_41 = (a_shipment(41), a_quote())


def a_case_of_a_restored_source(cast: Cast) -> Case:
    """A proposal stood on version 43; the source was restored and says 41, with the same facts."""
    case = a_case_waiting_for_review(cast)
    agent_reads(case, AT_43)
    agent_reads(case, AT_41)
    assert stage_of(case) == "blocked"
    case.refresh_from_db()
    return case


def shipment_of(case: Case) -> SourceRecord:
    """The case's shipment, read fresh."""
    return case.sources.get(record_type="shipment")


def lead_trusts(cast: Cast, case: Case, **changes: object) -> None:
    """The lead says that version 41 is right."""
    asked = {"record_id": shipment_of(case).pk, "seen_version": 41, "by": cast.lead} | changes
    trust.trust_source(
        case_id=case.pk,
        reason="IT restored the TMS",
        at=business_now(),
        **asked,  # type: ignore[arg-type]
    )


def test_p13_trusted_again_the_source_is_read_and_its_order_starts_anew(cast: Cast) -> None:
    case = a_case_of_a_restored_source(cast)
    lead_trusts(cast, case)
    assert shipment_of(case).highest_version == 41
    event = audit_of(case)[-1]
    assert (event.event, event.data["version_before"], event.data["version"]) == (
        "source_trusted",
        43,
        41,
    )
    agent_reads(case, AT_41)
    assert stage_of(case) == "waiting_for_review"
    agent_reads(case, (a_shipment(40), a_quote()))
    assert stage_of(case) == "blocked"


def test_p13_a_proposal_made_on_the_forgotten_version_does_not_come_back(cast: Cast) -> None:
    """Its facts are as they were; it was bound to version 43, which nobody knows any more."""
    case = a_case_of_a_restored_source(cast)
    before = an_answer(case)
    lead_trusts(cast, case)
    agent_reads(case, AT_41)
    assert case.proposals.get(number=1).state == Proposal.State.STALE
    assert current_proposal(case).number == 2
    with pytest.raises(DecisionRefused):
        decisions.release(answer=before, by=cast.owner, at=business_now())


def test_p13_a_release_made_on_the_forgotten_version_is_not_carried_out(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    agent_reads(case, AT_43)
    case.refresh_from_db()
    decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())
    agent_reads(case, AT_41)
    lead_trusts(cast, case)
    grant = a_grant(case)
    evidence.record_readings(grant=grant, by=AGENT, readings=AT_41, asked_at=business_now())
    evidence.compare_with_now(grant=grant, by=AGENT)
    assert not effects.clear_to_act(grant=grant, by=AGENT)
    assert Decision.objects.get().ended_at is not None
    assert Attempt.objects.count() == 0


@pytest.mark.parametrize("who", ["owner", "admin", "auditor"])
def test_p13_only_a_lead_trusts_a_source_again(cast: Cast, who: str) -> None:
    case = a_case_of_a_restored_source(cast)
    with pytest.raises(Refused):
        lead_trusts(cast, case, by=getattr(cast, who))
    assert shipment_of(case).highest_version == 43


def test_p13_what_was_seen_is_what_is_trusted(cast: Cast) -> None:
    """The source moved on between the look and the click."""
    case = a_case_of_a_restored_source(cast)
    with pytest.raises(Conflict, match="now it stands at 41"):
        lead_trusts(cast, case, seen_version=40)
    with pytest.raises(NotFound):
        lead_trusts(cast, case, record_id=999_999)
    assert audit_of(case)[-1].event == "act_refused"


def test_p13_a_source_in_order_needs_no_trust(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    with pytest.raises(Conflict, match="is not blocked"):
        lead_trusts(cast, case)

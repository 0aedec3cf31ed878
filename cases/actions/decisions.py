"""Release, reject, send back: by a named person, bound to the version and digest they saw.

A refused decision changes nothing, but the refusal itself is kept in the audit.
"""

import hmac
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError

from cases import policies
from cases.actions.change import Change, actor_for, changing, keep_refusal
from cases.actions.conditions import what_holds
from cases.actions.evidence import material_changes, set_next_refresh
from cases.models import Decision, Effect, Person, Proposal
from cases.queries.sheets import sheet_of
from cases.vocabulary.errors import (
    Busy,
    Conflict,
    DecisionRefused,
    NotFound,
    Refused,
    WatchbillError,
)
from cases.vocabulary.playbooks import playbook_of
from cases.vocabulary.stages import Stage
from cases.vocabulary.texts import LONGEST_REASON, plain_text, reason_given


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a person decided on, exactly as their page showed it.

    `nonce` belongs to one showing of the form: the same form posted twice is one decision.
    """

    case_id: int
    case_version: int
    proposal_number: int
    digest: str
    nonce: UUID
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class DecisionMade:
    """The decision that stands; `replayed` when this very form had already been counted."""

    kind: str
    proposal_number: int
    by_name: str
    at: datetime
    replayed: bool


def release(*, answer: Answer, by: Person, at: datetime, request_id: str = "") -> DecisionMade:
    """Release exactly the version and digest in `answer`; its effects become wanted.

    Raises `DecisionRefused` when that is no longer what would happen, `Refused` for the wrong
    person, `InvalidInput` and `NotFound` for what cannot be meant.
    """
    return _decide(Decision.Kind.RELEASE, answer=answer, by=by, at=at, request_id=request_id)


def reject(*, answer: Answer, by: Person, at: datetime, request_id: str = "") -> DecisionMade:
    """Reject the version; a person then decides what happens. A reason is required."""
    return _decide(Decision.Kind.REJECT, answer=answer, by=by, at=at, request_id=request_id)


def send_back(*, answer: Answer, by: Person, at: datetime, request_id: str = "") -> DecisionMade:
    """Send the version back for another plan. A reason is required and reaches the planner."""
    return _decide(Decision.Kind.SEND_BACK, answer=answer, by=by, at=at, request_id=request_id)


def _decide(
    kind: Decision.Kind, *, answer: Answer, by: Person, at: datetime, request_id: str
) -> DecisionMade:
    try:
        with changing(
            case_id=answer.case_id, by=actor_for(by), at=at, request_id=request_id
        ) as change:
            earlier = Decision.objects.filter(nonce=answer.nonce).first()
            if earlier is not None:
                return _replay(change, earlier, kind, by)
            proposal = _answered_proposal(change, answer)
            _check(change, kind, answer, proposal, by)
            return _count(change, kind, answer, proposal, by)
    except Busy:
        raise  # nothing was refused
    except (Refused, Conflict) as error:
        _keep_refusal(error, kind, answer=answer, by=by, at=at)
        raise
    except IntegrityError as error:
        refusal = _second_decision(error)
        _keep_refusal(refusal, kind, answer=answer, by=by, at=at)
        raise refusal from error


def _second_decision(error: IntegrityError) -> DecisionRefused:
    """What a constraint kept apart when two decisions came together after all."""
    if "nonce" not in str(error) and "one_decision_per_proposal" not in str(error):
        raise error
    return DecisionRefused(
        "This was decided a moment ago. Reload the case to see by whom.",
        reason_code="already_decided",
    )


def _answered_proposal(change: Change, answer: Answer) -> Proposal:
    proposal = change.case.proposals.filter(number=answer.proposal_number).first()
    if proposal is None:
        raise NotFound(f"This case has no proposal {answer.proposal_number}.")
    return proposal


def _replay(change: Change, earlier: Decision, kind: Decision.Kind, by: Person) -> DecisionMade:
    change.nothing_to_do()
    if (earlier.case_id, earlier.kind, earlier.by_id) != (change.case.pk, kind, by.pk):
        raise DecisionRefused(
            "This form was already used for another decision. Reload the case.",
            reason_code="already_decided",
        )
    return _made(earlier, replayed=True)


def _made(decision: Decision, *, replayed: bool) -> DecisionMade:
    return DecisionMade(
        kind=decision.kind,
        proposal_number=decision.proposal.number,
        by_name=decision.by_name,
        at=decision.at,
        replayed=replayed,
    )


def _check(
    change: Change, kind: Decision.Kind, answer: Answer, proposal: Proposal, by: Person
) -> None:
    policies.check_may_decide(person=by)
    current = change.case.proposals.order_by("-number").first() or proposal
    try:
        standing = proposal.decisions.first()
        policies.check_proposal_is_ready(proposal=proposal, standing=standing)
        policies.check_case_waits_for_review(case=change.case)
        if kind is Decision.Kind.RELEASE:
            policies.check_not_own_work(person=by, proposal=proposal)
            policies.check_still_valid(proposal=proposal, at=change.at)
            policies.check_nothing_holds_releases(condition=what_holds(change.case))
        if not hmac.compare_digest(answer.digest.encode(), proposal.digest.encode()):
            raise DecisionRefused(
                "The page you answered from does not show what is stored. Reload the case.",
                reason_code="digest_mismatch",
            )
    except DecisionRefused as error:
        changes = material_changes(case=change.case, proposal=proposal, sheet=sheet_of(change.case))
        raise DecisionRefused(
            str(error),
            reason_code=error.reason_code,
            changes=[item.as_value() for item in changes],
            current_number=current.number if current.number > proposal.number else None,
        ) from error
    if kind is Decision.Kind.RELEASE:
        plain_text(answer.reason)
    else:
        reason_given(
            answer.reason, missing="Say why in a few words; the next plan is made with your reason."
        )


def _count(
    change: Change, kind: Decision.Kind, answer: Answer, proposal: Proposal, by: Person
) -> DecisionMade:
    valid_for = playbook_of(change.case.kind).release_valid_for
    ends = [change.at + valid_for]
    if proposal.valid_until is not None:
        ends.append(proposal.valid_until)
    decision = Decision.objects.create(
        case=change.case,
        proposal=proposal,
        kind=kind,
        by=by,
        by_name=str(by),
        at=change.at,
        reason=answer.reason.strip(),
        digest=proposal.digest,
        seen_case_version=answer.case_version,
        nonce=answer.nonce,
        valid_until=min(ends) if kind is Decision.Kind.RELEASE else None,
    )
    {
        Decision.Kind.RELEASE: _released,
        Decision.Kind.REJECT: _rejected,
        Decision.Kind.SEND_BACK: _sent_back,
    }[kind](change, decision)
    return _made(decision, replayed=False)


def _set_state(change: Change, proposal: Proposal, state: Proposal.State, reason: str) -> None:
    proposal.state, proposal.state_since, proposal.state_reason = state, change.at, reason
    proposal.save(update_fields=("state", "state_since", "state_reason"))


def _released(change: Change, decision: Decision) -> None:
    proposal = decision.proposal
    _set_state(change, proposal, Proposal.State.RELEASED, f"Released by {decision.by_name}.")
    playbook = playbook_of(change.case.kind)
    for planned in proposal.actions.all():
        if playbook.action(planned.action).changes_the_outside:
            Effect.objects.create(
                decision=decision,
                proposed_action=planned,
                reference=f"WB-{change.case.pk}-{proposal.number}-{planned.position}",
                state_since=change.at,
            )
    change.record(
        "released",
        number=proposal.number,
        digest=proposal.digest,
        seen_case_version=decision.seen_case_version,
        reason=decision.reason,
    )
    change.enter(Stage.EXECUTING, reason=f"Proposal {proposal.number} was released.")
    change.due(change.at, reason="A release is to be carried out.")


def _rejected(change: Change, decision: Decision) -> None:
    _set_state(change, decision.proposal, Proposal.State.REJECTED, decision.reason)
    change.record("rejected", number=decision.proposal.number, reason=decision.reason)
    change.enter(
        Stage.ESCALATED, reason=f"{decision.by_name} rejected proposal {decision.proposal.number}."
    )
    set_next_refresh(change)


def _sent_back(change: Change, decision: Decision) -> None:
    _set_state(change, decision.proposal, Proposal.State.SENT_BACK, decision.reason)
    change.record("sent_back", number=decision.proposal.number, reason=decision.reason)
    change.enter(
        Stage.INVESTIGATING,
        reason=f"{decision.by_name} sent proposal {decision.proposal.number} back.",
    )
    change.due(change.at, reason="A person asked for another plan.")


def _keep_refusal(
    error: WatchbillError, kind: Decision.Kind, *, answer: Answer, by: Person, at: datetime
) -> None:
    keep_refusal(
        case_id=answer.case_id,
        by=actor_for(by),
        at=at,
        event="decision_refused",
        error=error,
        decision=kind.value,
        number=answer.proposal_number,
        digest=answer.digest[:64],
        typed_reason=answer.reason[:LONGEST_REASON].replace("\x00", "\N{REPLACEMENT CHARACTER}"),
    )

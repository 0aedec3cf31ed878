"""How a case ends or goes on when a person says so."""

from datetime import datetime

from cases import policies
from cases.actions.change import Change, actor_for, changing
from cases.actions.releases import release_in_force
from cases.models import Person, Proposal
from cases.vocabulary.errors import Conflict, InvalidInput
from cases.vocabulary.stages import Stage

LONGEST_REASON = 2000


def _reason(text: str, *, missing: str) -> str:
    reason = text.strip()
    if not reason:
        raise InvalidInput(missing)
    if len(reason) > LONGEST_REASON or "\x00" in reason:
        raise InvalidInput(f"A reason is at most {LONGEST_REASON} characters of plain text.")
    return reason


def accept_outcome(*, case_id: int, by: Person, at: datetime, note: str = "") -> None:
    """The owner, or a lead, says that the job is done; the case closes."""
    with changing(case_id=case_id, by=actor_for(by), at=at) as change:
        policies.check_may_accept(person=by, case=change.case)
        change.record("outcome_accepted", reason=note.strip()[:LONGEST_REASON])
        _close(change, by, "The outcome was accepted.")


def close_without_action(*, case_id: int, by: Person, at: datetime, reason: str) -> None:
    """Close a case although nothing was released; the reason is required.

    Raises `Conflict` while a release is in force: its effects must be settled first.
    """
    said = _reason(reason, missing="Say why nothing has to be done; the next shift reads it.")
    policies.check_may_decide(person=by)
    with changing(case_id=case_id, by=actor_for(by), at=at) as change:
        if release_in_force(change.case) is not None:
            raise Conflict("A release is in force. Wait until it is settled, then close.")
        for ready in change.case.proposals.filter(state=Proposal.State.READY):
            ready.state, ready.state_since = Proposal.State.WITHDRAWN, at
            ready.state_reason = f"{by} closed the case: {said}"
            ready.save(update_fields=("state", "state_since", "state_reason"))
            change.record("proposal_withdrawn", number=ready.number, reason=ready.state_reason)
        _close(change, by, said)


def _close(change: Change, by: Person, reason: str) -> None:
    change.enter(Stage.CLOSED, reason=reason)
    change.case.closed_at, change.case.closed_by = change.at, str(by)
    change.case.refresh_due_at = None
    change.record("case_closed", reason=reason)
    change.due(change.at, reason="The agent's saved state is to be cleared.")


def ask_for_plan(*, case_id: int, by: Person, at: datetime, reason: str) -> None:
    """Send an escalated case back to the agent for a plan, with the reason."""
    said = _reason(reason, missing="Say what has changed, so that another plan makes sense.")
    policies.check_may_decide(person=by)
    with changing(case_id=case_id, by=actor_for(by), at=at) as change:
        if change.case.current_stage is not Stage.ESCALATED:
            raise Conflict("The case is not escalated, so a plan is already under way.")
        change.record("plan_requested", reason=said)
        change.enter(Stage.INVESTIGATING, reason=f"{by} asked for a plan: {said}")
        change.due(at, reason="A person asked for a plan.")


def refresh_now(*, case_id: int, by: Person, at: datetime) -> None:
    """Ask the agent to read the sources again now."""
    policies.check_may_decide(person=by)
    with changing(case_id=case_id, by=actor_for(by), at=at) as change:
        if change.case.current_stage is Stage.CLOSED:
            raise Conflict("The case is closed; nothing about it is read any more.")
        change.record("refresh_requested", reason="A person asked to read the sources again.")
        change.case.refresh_due_at = at
        if change.case.current_stage is Stage.BLOCKED:
            change.case.next_try_at = at
        change.due(at, reason="A person asked to read the sources again.")

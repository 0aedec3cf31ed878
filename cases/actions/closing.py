"""How a case ends or goes on when a person says so."""

from collections.abc import Mapping
from datetime import datetime

from cases import policies
from cases.actions.attempts import check_nothing_unknown
from cases.actions.change import Change, by_person
from cases.actions.goals import check_goals_settled, drop_goals
from cases.actions.releases import release_in_force, withdraw
from cases.models import Person, Proposal
from cases.vocabulary.errors import Conflict
from cases.vocabulary.stages import Stage
from cases.vocabulary.texts import plain_text, reason_given

NO_DROPS: Mapping[str, str] = {}


def accept_outcome(
    *,
    case_id: int,
    by: Person,
    at: datetime,
    note: str = "",
    drops: Mapping[str, str] = NO_DROPS,
) -> None:
    """The owner, or a lead, says that the job is done; the case closes.

    `drops` are goals dropped by the same act: reference to reason. Raises `Conflict` while a goal
    is neither achieved nor dropped by a person.
    """
    said = plain_text(note)
    with by_person(case_id=case_id, by=by, at=at, act="accept the outcome") as change:
        policies.check_may_accept(person=by, case=change.case)
        drop_goals(change, drops=drops, by=by)
        check_goals_settled(change.case)
        change.record("outcome_accepted", reason=said)
        _close(change, by, "The outcome was accepted.")


def close_without_action(
    *,
    case_id: int,
    by: Person,
    at: datetime,
    reason: str,
    drops: Mapping[str, str] = NO_DROPS,
) -> None:
    """Close a case although nothing was released; the reason is required.

    `drops` are goals dropped by the same act: reference to reason. Raises `Conflict` while a
    release is in force, since its effects must be settled first, and while a goal is neither
    achieved nor dropped by a person.
    """
    said = reason_given(reason, missing="Say why nothing has to be done; the next shift reads it.")
    with by_person(case_id=case_id, by=by, at=at, act="close the case") as change:
        policies.check_may_decide(person=by)
        if release_in_force(change.case) is not None:
            raise Conflict("A release is in force. Wait until it is settled, then close.")
        check_nothing_unknown(change.case)
        drop_goals(change, drops=drops, by=by)
        check_goals_settled(change.case)
        for ready in change.case.proposals.filter(state=Proposal.State.READY):
            withdraw(change, proposal=ready, reason=f"{by} closed the case: {said}")
        _close(change, by, said)


def _close(change: Change, by: Person, reason: str) -> None:
    change.enter(Stage.CLOSED, reason=reason)
    change.case.closed_at, change.case.closed_by = change.at, str(by)
    change.case.refresh_due_at = None
    change.record("case_closed", reason=reason)
    change.due(change.at, reason="The agent's saved state is to be cleared.")


def ask_for_plan(*, case_id: int, by: Person, at: datetime, reason: str) -> None:
    """Send a case that a person has back to the agent for a plan, with the reason."""
    said = reason_given(reason, missing="Say what has changed, so that another plan makes sense.")
    with by_person(case_id=case_id, by=by, at=at, act="ask for a plan") as change:
        policies.check_may_decide(person=by)
        if change.case.current_stage is Stage.BLOCKED:
            raise Conflict(
                f"The case is blocked: {change.case.blocked_reason} A plan can be asked for once "
                "it is not; until then the case can be closed with a reason."
            )
        if change.case.current_stage not in {Stage.ESCALATED, Stage.WAITING_FOR_ACCEPTANCE}:
            raise Conflict("A plan is already under way. Reload the case to see where it stands.")
        check_nothing_unknown(change.case)  # else it could be planned and sent a second time
        change.record("plan_requested", reason=said)
        change.enter(Stage.INVESTIGATING, reason=f"{by} asked for a plan: {said}")
        change.due(change.at, reason="A person asked for a plan.")


def refresh_now(*, case_id: int, by: Person, at: datetime) -> None:
    """Ask the agent to read the sources again now."""
    with by_person(case_id=case_id, by=by, at=at, act="read the sources again") as change:
        policies.check_may_decide(person=by)
        policies.check_agent_may_go_on(case=change.case)
        change.record("refresh_requested", reason="A person asked to read the sources again.")
        change.case.refresh_due_at = change.at
        if change.case.current_stage is Stage.BLOCKED:
            change.case.next_try_at = change.at
        change.due(change.at, reason="A person asked to read the sources again.")

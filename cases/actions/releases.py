"""The release in force, and how it ends: carried out, or overtaken by the world."""

from collections.abc import Sequence
from datetime import timedelta

from django.db.models import QuerySet

from cases.actions.boundaries import rest_until_boundary
from cases.actions.change import LONGEST_RETRY, Change
from cases.models import Case, Decision, Effect, Proposal
from cases.vocabulary.facts import FactChange
from cases.vocabulary.stages import Stage

AT_THE_TARGET = frozenset({Stage.VERIFYING, Stage.RECONCILING})
UNSETTLED = frozenset({Effect.State.UNKNOWN, Effect.State.ANSWERED, Effect.State.CONFIRMED})
"""Attempted, and not yet taken up: nobody can say that it is done, or that it was not."""


def release_in_force(case: Case) -> Decision | None:
    """The one release that stands for this case, or None."""
    return (
        case.decisions.select_related("proposal")
        .filter(kind=Decision.Kind.RELEASE, ended_at=None)
        .first()
    )


def effects_in_force(case: Case) -> QuerySet[Effect]:
    """The effects of the release in force, in order; empty without one."""
    return Effect.objects.filter(
        decision__case=case, decision__kind=Decision.Kind.RELEASE, decision__ended_at=None
    ).select_related("proposed_action")


def effects_at_the_target(case: Case) -> QuerySet[Effect]:
    """The effects whose targets are looked at: those of the release in force.

    Where none is in force, a case stands at its target only after a late report: then it is the
    release that ended last. Nothing of it is carried out any more.
    """
    if release_in_force(case) is not None or case.current_stage not in AT_THE_TARGET:
        return effects_in_force(case)
    ended = case.decisions.filter(kind=Decision.Kind.RELEASE).order_by("-pk")
    return Effect.objects.filter(decision=ended.first()).select_related("proposed_action")


def withdraw(change: Change, *, proposal: Proposal, reason: str) -> None:
    """A ready proposal is no longer needed."""
    proposal.state, proposal.state_since = Proposal.State.WITHDRAWN, change.at
    proposal.state_reason = reason
    change.keep(proposal, "state", "state_since", "state_reason")
    change.record("proposal_withdrawn", number=proposal.number, reason=reason)


def finish_release(change: Change, *, decision: Decision) -> None:
    """Everything that was released has been done and taken up."""
    decision.carried_out = True
    end_release(change, decision=decision, reason="Carried out.")
    change.enter(Stage.WAITING_FOR_ACCEPTANCE, reason="Everything released is done.")


def end_release(change: Change, *, decision: Decision, reason: str) -> None:
    """End a release; effects that were never attempted are recorded as not carried out.

    One that was answered and never seen in the target is unknown: nobody looks for it any more, so
    a person finds out before anything else is planned.
    """
    decision.ended_at, decision.ended_reason = change.at, reason[:200]
    decision.save(update_fields=("ended_at", "ended_reason", "carried_out"))
    decision.effects.filter(state=Effect.State.WANTED).update(
        state=Effect.State.NOT_NEEDED, state_since=change.at, state_reason=reason
    )
    decision.effects.filter(state=Effect.State.ANSWERED).update(
        state=Effect.State.UNKNOWN, state_since=change.at, state_reason=reason
    )
    change.record("release_ended", number=decision.proposal.number, reason=reason)


def hand_over(change: Change, decision: Decision | None, reason: str) -> None:
    """End a release that cannot go on, unless it ended before, and hand the case to a person."""
    if decision is not None:
        end_release(change, decision=decision, reason=reason)
    change.record("case_escalated", reason=reason)
    change.enter(Stage.ESCALATED, reason=reason)
    rest_until_boundary(change)


def put_off(change: Change, *, delay: timedelta, reason: str) -> timedelta:
    """The agent goes on after `delay`; returns how long that is.

    It is never more than ten minutes, whatever the target asks for, and never past the end of the
    release: then it has run out, and that must be seen.
    """
    delay = min(delay, LONGEST_RETRY)
    decision = release_in_force(change.case)
    ends = None if decision is None else decision.valid_until
    if ends is not None and ends > change.at:
        delay = min(delay, ends - change.at)
    change.due(change.at + delay, reason=reason)
    return delay


def plan_anew(
    change: Change,
    *,
    proposal: Proposal,
    changes: Sequence[FactChange],
    expired: bool,
    said: str = "",
) -> None:
    """Mark a proposal stale or expired, end its release if any, and make a new plan due.

    `said` explains it when the target refused before any change was read.
    """
    ran_out = expired or any(item.ran_out for item in changes)
    only_expired = ran_out and all(item.ran_out for item in changes)
    was_released = proposal.state == Proposal.State.RELEASED
    proposal.state = Proposal.State.EXPIRED if only_expired else Proposal.State.STALE
    named = ", ".join(item.label.lower() for item in changes)
    reason = f"Changed since it was made: {named}." if changes else said
    if only_expired:
        reason = "Its time ran out."
    proposal.state_since, proposal.state_reason = change.at, reason
    change.keep(proposal, "state", "state_since", "state_reason")
    change.record(
        "proposal_expired" if only_expired else "proposal_stale",
        number=proposal.number,
        reason=reason,
        changes=[item.as_value() for item in changes],
    )
    decision = release_in_force(change.case) if was_released else None
    if decision is not None:
        end_release(change, decision=decision, reason=f"Stopped: {reason}")
    change.enter(Stage.INVESTIGATING, reason=f"Proposal {proposal.number} no longer holds.")
    change.due(change.at, reason="A revised proposal is to be prepared.")

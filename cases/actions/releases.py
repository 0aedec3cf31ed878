"""The release in force, and how it ends: carried out, or overtaken by the world."""

from collections.abc import Sequence

from django.db.models import QuerySet

from cases.actions.change import Change
from cases.models import Case, Decision, Effect, Proposal
from cases.vocabulary.facts import FactChange
from cases.vocabulary.stages import Stage


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


def end_release(change: Change, *, decision: Decision, reason: str) -> None:
    """End a release; effects that were never attempted are recorded as not carried out."""
    decision.ended_at, decision.ended_reason = change.at, reason[:200]
    decision.save(update_fields=("ended_at", "ended_reason"))
    decision.effects.filter(state=Effect.State.WANTED).update(
        state=Effect.State.NOT_NEEDED, state_since=change.at, state_reason=reason
    )
    change.record("release_ended", number=decision.proposal.number, reason=reason)


def plan_anew(
    change: Change, *, proposal: Proposal, changes: Sequence[FactChange], expired: bool
) -> None:
    """Mark a proposal stale or expired, end its release if any, and make a new plan due."""
    ran_out = expired or any(item.ran_out for item in changes)
    only_expired = ran_out and all(item.ran_out for item in changes)
    proposal.state = Proposal.State.EXPIRED if only_expired else Proposal.State.STALE
    named = ", ".join(item.label.lower() for item in changes)
    reason = "Its time ran out." if only_expired else f"Changed since it was made: {named}."
    proposal.state_since, proposal.state_reason = change.at, reason
    proposal.save(update_fields=("state", "state_since", "state_reason"))
    change.record(
        "proposal_expired" if only_expired else "proposal_stale",
        number=proposal.number,
        reason=reason,
        changes=[item.as_value() for item in changes],
    )
    decision = release_in_force(change.case)
    if decision is not None:
        end_release(change, decision=decision, reason=f"Not carried out: {reason}")
    change.enter(Stage.INVESTIGATING, reason=f"Proposal {proposal.number} no longer holds.")
    change.due(change.at, reason="A revised proposal is to be prepared.")

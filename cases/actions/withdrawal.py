"""Taking a release back before anything was sent: the person's last word counts (P9)."""

from datetime import datetime

from cases import policies
from cases.actions.boundaries import rest_until_boundary
from cases.actions.change import by_person
from cases.actions.releases import (
    UNSETTLED,
    effects_in_force,
    end_release,
    release_in_force,
    withdraw,
)
from cases.models import Attempt, Person
from cases.vocabulary.errors import Conflict
from cases.vocabulary.stages import Stage
from cases.vocabulary.texts import reason_given


def withdraw_release(*, case_id: int, by: Person, at: datetime, reason: str) -> None:
    """End the release in force, as far as it was not carried out; a person then decides.

    Raises `Conflict` when no release stands, or when an attempt has begun and is not settled: what
    may have happened can no longer be taken back here.
    """
    said = reason_given(reason, missing="Say why; whoever decides next reads it.")
    with by_person(case_id=case_id, by=by, at=at, act="withdraw the release") as change:
        policies.check_may_decide(person=by)
        decision = release_in_force(change.case)
        if decision is None:
            raise Conflict("No release stands, so there is nothing to withdraw.")
        effects = effects_in_force(change.case)
        open_attempts = Attempt.objects.filter(effect__in=effects, outcome=Attempt.Outcome.OPEN)
        if effects.filter(state__in=UNSETTLED).exists() or open_attempts.exists():
            raise Conflict(
                "An attempt has begun. Wait until it is settled, then decide about the rest."
            )
        change.record("release_withdrawn", number=decision.proposal.number, reason=said)
        end_release(change, decision=decision, reason=f"Withdrawn by {by}: {said}")
        withdraw(change, proposal=decision.proposal, reason=f"{by} withdrew the release: {said}")
        change.enter(Stage.ESCALATED, reason=f"{by} withdrew the release: {said}")
        rest_until_boundary(change)

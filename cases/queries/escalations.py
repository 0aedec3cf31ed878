"""Escalations that are under way: what did not come in time, and who it was put before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from cases.models import Case, Escalation


@dataclass(frozen=True, kw_only=True)
class EscalationView:
    """Before whom a case was put, since when, why, and what can be done."""

    to: str
    since: datetime
    reason: str
    next_step: str


NEXT_STEPS = {
    Escalation.Cause.NOT_DECIDED: "The owner or the lead can still decide.",
    Escalation.Cause.NOT_ADOPTED: "The agent keeps looking; ask the other party what holds it up.",
}


def escalation_of(case: Case) -> EscalationView | None:
    """The escalation of a case that is under way, or None; one query."""
    return escalations_of([case.pk]).get(case.pk)


def escalations_of(ids: Sequence[int]) -> Mapping[int, EscalationView]:
    """Case to its escalation under way; one query."""
    running = Escalation.objects.filter(case_id__in=ids, ended_at=None).select_related("to")
    return {
        row.case_id: EscalationView(
            to=str(row.to),
            since=row.started_at,
            reason=row.reason,
            next_step=NEXT_STEPS[Escalation.Cause(row.cause)],
        )
        for row in running
    }

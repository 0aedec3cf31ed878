"""Escalations that are under way: what was not decided in time, and who it was put before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from cases.models import Case, Escalation


@dataclass(frozen=True, kw_only=True)
class EscalationView:
    """Before whom a case was put, since when, and why."""

    to: str
    since: datetime
    reason: str


def escalation_of(case: Case) -> EscalationView | None:
    """The escalation of a case that is under way, or None; one query."""
    return escalations_of([case.pk]).get(case.pk)


def escalations_of(ids: Sequence[int]) -> Mapping[int, EscalationView]:
    """Case to its escalation under way; one query."""
    running = Escalation.objects.filter(case_id__in=ids, ended_at=None).select_related("to")
    return {
        row.case_id: EscalationView(to=str(row.to), since=row.started_at, reason=row.reason)
        for row in running
    }

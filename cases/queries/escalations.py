"""Escalations that are under way: why, before whom a case was put, and who is called next."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from cases.models import Escalation

CAUSES = {
    Escalation.Cause.NO_OWNER: "nobody available",
    Escalation.Cause.NOT_DECIDED: "overdue",
    Escalation.Cause.NOT_ADOPTED: "not taken up",
    Escalation.Cause.BY_PERSON: "asked for",
    Escalation.Cause.OFF_SHIFT: "owner off shift",
}
"""The word for each cause, the most urgent first."""


@dataclass(frozen=True, kw_only=True)
class EscalationView:
    """Before whom a case was put, since when, why, and who is called at which time if they stay."""

    cause: str
    word: str
    to: str
    since: datetime
    reason: str
    next_to: str
    next_at: datetime | None
    next_step: str


NEXT_STEPS = {
    Escalation.Cause.NOT_DECIDED: "The owner or the lead can still decide.",
    Escalation.Cause.NOT_ADOPTED: "The agent keeps looking; ask the other party what holds it up.",
}


def escalations_of(ids: Sequence[int]) -> Mapping[int, tuple[EscalationView, ...]]:
    """Case to its escalations under way, the most urgent first; one query."""
    running = Escalation.objects.filter(case_id__in=ids, ended_at=None)
    found: dict[int, list[Escalation]] = {}
    for row in running.select_related("to", "next_to"):
        found.setdefault(row.case_id, []).append(row)
    return {case_id: escalations_in_order(rows) for case_id, rows in found.items()}


def escalations_in_order(rows: Iterable[Escalation]) -> tuple[EscalationView, ...]:
    """Escalations under way, the most urgent first; each knows its people."""
    return tuple(map(_view, sorted(rows, key=_urgency)))


def _urgency(row: Escalation) -> tuple[int, datetime, int]:
    return list(CAUSES).index(Escalation.Cause(row.cause)), row.started_at, row.pk


def _view(row: Escalation) -> EscalationView:
    return EscalationView(
        cause=row.cause,
        word=CAUSES[Escalation.Cause(row.cause)],
        to=str(row.to),
        since=row.started_at,
        reason=row.reason,
        next_to="" if row.next_to is None else str(row.next_to),
        next_at=row.next_at,
        next_step=NEXT_STEPS.get(Escalation.Cause(row.cause), ""),
    )

"""Shift boundaries: when a case that rests is read again by itself."""

from datetime import datetime

from cases.actions.change import Change
from cases.models import Case
from cases.queries.duty import starts_of
from cases.vocabulary.shifts import next_boundary

HANDOVER = "Shift handover: facts are read again."


def rest_until_boundary(change: Change) -> None:
    """Without a fresh reading: due at the next shift boundary from now."""
    change.case.refresh_due_at = boundary_after(change.case, change.at)
    change.due(change.case.refresh_due_at, reason=HANDOVER)


def boundary_after(case: Case, moment: datetime) -> datetime:
    """The first shift boundary of the case's desk after `moment`."""
    return next_boundary(after=moment, zone=case.desk.zone, starts=starts_of(case.desk))

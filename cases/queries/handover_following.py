"""What comes after the sheet that is shown: a newer one, or one that is due and not open yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cases.actions.handovers import REFRESH_BEFORE
from cases.models import Case, Desk, Handover
from cases.models.case import open_cases
from cases.queries.handover import present_handover
from cases.vocabulary.shifts import ShiftStart, shift_at


@dataclass(frozen=True, kw_only=True)
class FollowingSheet:
    """The sheet of a later boundary; `handover_id` is None while it is not open yet."""

    handover_id: int | None
    boundary: datetime


def following_sheet(
    *, handover: Handover, starts: Sequence[ShiftStart], at: datetime
) -> FollowingSheet | None:
    """What has taken this sheet's place, or is about to; None while it is the one. Desk loaded.

    A sheet is due from the start of its refresh on, where the desk has something to hand over.
    """
    present = present_handover(handover.desk_id)
    if present is not None and present.pk != handover.pk:
        return FollowingSheet(handover_id=present.pk, boundary=present.boundary)
    due = _due_boundary(handover.desk, starts, at)
    handed_over = open_cases(Case.objects.filter(desk=handover.desk, opened_at__lt=due))
    if due <= handover.boundary or not handed_over.exists():
        return None
    return FollowingSheet(handover_id=None, boundary=due)


def _due_boundary(desk: Desk, starts: Sequence[ShiftStart], at: datetime) -> datetime:
    """The newest boundary whose sheet should be open."""
    shift = shift_at(at, zone=desk.zone, starts=starts)
    return shift.ends_at if shift.ends_at - at <= REFRESH_BEFORE else shift.starts_at

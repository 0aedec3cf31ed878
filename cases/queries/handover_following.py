"""What comes after the sheet that is shown: a newer one, or one that is due and not open yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cases.models import Handover
from cases.queries.handover import had_cases, present_handover
from cases.vocabulary.handover_sheet import due_boundaries
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
    shift = shift_at(at, zone=handover.desk.zone, starts=starts)
    due = due_boundaries(shift, at=at)[-1]
    if due <= handover.boundary or not had_cases(handover.desk, due):
        return None
    return FollowingSheet(handover_id=None, boundary=due)

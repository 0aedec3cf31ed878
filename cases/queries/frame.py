"""What stands around every page: the desk, its clock, the counts, the demo's passing night."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time

from cases.models import ClockRequest, Desk, Pause, Person, StandingCondition
from cases.queries.acts import View, counts_for
from cases.queries.conditions import StandingRow, standing_row
from cases.queries.desks import desks_of
from cases.queries.pauses import PauseRow, pause_row
from cases.queries.together import together
from cases.vocabulary.shifts import EVERY_DAY, ShiftStart, next_boundary

MORNING = (ShiftStart(name="Morning", at=time(8), days=EVERY_DAY),)
DESK_ZONE_WITHOUT_A_DESK = "UTC"


@dataclass(frozen=True, kw_only=True)
class DeskFrame:
    """A person's desk and its IANA zone, the business instant, the counts, what stands or rests.

    `desks` are all there are, number to name.
    """

    desk: str
    zone: str
    at: datetime
    counts: Mapping[View, int]
    pauses: Sequence[PauseRow]
    conditions: Sequence[StandingRow]
    desks: Mapping[int, str]


@dataclass(frozen=True, kw_only=True)
class ClockStrip:
    """The movable clock of the demo: the next morning, and how far a passing night has come.

    `under_way` is the end of the open request, `asked_by` whose it is; `progress` its newest
    sentence.
    """

    zone: str
    at: datetime
    morning: datetime
    under_way: datetime | None
    asked_by: str
    progress: str


def frame_for(*, person: Person, at: datetime) -> DeskFrame:
    """The frame of a page for this person; two queries."""
    desks, pauses, conditions = together(
        desks_of(person, at=at),
        Pause.objects.filter(lifted_at=None),
        StandingCondition.objects.standing(),
    )
    desk = desks[0] if desks else None
    named = {each.pk: each for each in desks}
    for condition in conditions:
        condition.desk = None if condition.desk_id is None else named[condition.desk_id]
    return DeskFrame(
        desk="No desk yet" if desk is None else desk.name,
        zone=DESK_ZONE_WITHOUT_A_DESK if desk is None else desk.zone,
        at=at,
        counts=counts_for(person),
        pauses=[pause_row(pause) for pause in pauses],
        conditions=[standing_row(condition, at=at) for condition in conditions],
        desks={number: named[number].name for number in sorted(named)},
    )


def clock_strip(*, at: datetime) -> ClockStrip:
    """Where the movable clock stands; two queries."""
    desk = Desk.objects.order_by("id").first()
    zone = DESK_ZONE_WITHOUT_A_DESK if desk is None else desk.zone
    request = ClockRequest.objects.filter(done_at=None).first()
    return ClockStrip(
        zone=zone,
        at=at,
        morning=next_boundary(after=at, zone=zone, starts=MORNING),
        under_way=None if request is None else request.until,
        asked_by="" if request is None else request.asked_by,
        progress="" if request is None else request.progress,
    )

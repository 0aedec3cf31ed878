"""What stands around every page: the desk, its clock, the counts, the demo's passing night."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time

from cases.models import ClockRequest, Desk, Person
from cases.queries.acts import View, counts_for
from cases.queries.conditions import StandingRow, open_conditions
from cases.queries.pauses import PauseRow, standing_pauses
from cases.vocabulary.shifts import EVERY_DAY, ShiftStart, next_boundary

MORNING = (ShiftStart(name="Morning", at=time(8), days=EVERY_DAY),)
DESK_ZONE_WITHOUT_A_DESK = "UTC"


@dataclass(frozen=True, kw_only=True)
class DeskFrame:
    """The desk's name and IANA zone, the business instant, the counts, and what stands or rests."""

    desk: str
    zone: str
    at: datetime
    counts: Mapping[View, int]
    pauses: Sequence[PauseRow]
    conditions: Sequence[StandingRow]


@dataclass(frozen=True, kw_only=True)
class ClockStrip:
    """The movable clock of the demo: the next morning, and how far a passing night has come.

    `under_way` is the end of the open request; `progress` its newest sentence.
    """

    zone: str
    at: datetime
    morning: datetime
    under_way: datetime | None
    progress: str


def frame_for(*, person: Person, at: datetime) -> DeskFrame:
    """The frame of a page for this person; four queries."""
    desk = Desk.objects.order_by("id").first()
    return DeskFrame(
        desk="No desk yet" if desk is None else desk.name,
        zone=DESK_ZONE_WITHOUT_A_DESK if desk is None else desk.zone,
        at=at,
        counts=counts_for(person),
        pauses=standing_pauses(),
        conditions=open_conditions(at=at),
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
        progress="" if request is None else request.progress,
    )

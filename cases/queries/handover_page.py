"""What a person may do on a handover sheet, who can get a case there, and the list of sheets."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.db.models import Count, Q

from cases import policies
from cases.models import Case, Desk, Handover, Person, RowAnswer
from cases.queries.duty import Roster, starts_of
from cases.queries.handover_shapes import Sheet
from cases.vocabulary.shifts import next_boundary

LATEST = 60


@dataclass(frozen=True, kw_only=True)
class Receiver:
    """Somebody who is there, in the incoming shift too, and can get a case."""

    person_id: int
    name: str


@dataclass(frozen=True, kw_only=True)
class SheetControls:
    """Sentences against each act, empty where the person may, and who can get a case.

    `answer` is against anything that can be said to a row, `take` against what only the incoming
    shift says. `present` is the number of the desk's newer sheet, where there is one: nothing is
    done on this one any more.
    """

    answer: str
    take: str
    note: str
    publish: str
    sign: str
    receivers: tuple[Receiver, ...]
    present: int | None


@dataclass(frozen=True, kw_only=True)
class SheetLink:
    """One handover in the list; `answered` counts rows with an answer."""

    handover_id: int
    boundary: datetime
    from_shift: str
    to_shift: str
    rows: int
    answered: int
    published_by: str
    signed_by: str
    signed_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Handovers:
    """The handovers of a desk, newest first; `following` is when the next shift begins."""

    desk_id: int
    desk: str
    zone: str
    following: datetime
    links: Sequence[SheetLink]


def controls_on(
    *, handover: Handover, sheet: Sheet, person: Person, roster: Roster, present: int | None
) -> SheetControls:
    """What this person may do on the sheet as shown; the same rules are asked when they do it.

    `present` is the number of the desk's newer sheet, None while this is the newest.
    """
    if present is not None:
        return _over(present)
    at = sheet.at
    sides, now = roster.sides_at(handover.boundary), roster.duty_at(at)
    coming = roster.duty_at(max(at, handover.boundary))
    against = partial(policies.reason_against, person=person)
    may_sign = against(policies.check_may_sign, handover=handover, sides=sides, at=at)
    return SheetControls(
        answer=against(policies.check_may_own)
        or against(policies.check_may_keep_sheet, sides=sides),
        take=against(policies.check_may_take_over, sides=sides),
        note=against(policies.check_may_keep_sheet, sides=sides),
        publish=against(policies.check_may_hand_over, sides=sides),
        sign=may_sign or _what_is_open(sheet),
        receivers=tuple(
            Receiver(person_id=number, name=str(coming.people[number]))
            for number in coming.present
            if not now.absence_of(number)
        ),
        present=None,
    )


def _what_is_open(sheet: Sheet) -> str:
    if sheet.missing:
        return "Put the missing cases on the sheet first."
    return "Every row needs an answer first." if sheet.unanswered else ""


def _over(present: int) -> SheetControls:
    over = "This sheet is over; work goes on on the present one."
    return SheetControls(
        answer=over,
        take=over,
        note=over,
        publish=over,
        sign=over,
        receivers=(),
        present=present,
    )


def handovers_of(desk: Desk, *, at: datetime) -> Handovers:
    """The newest handovers of the desk."""
    answered = Count("rows", filter=Q(rows__answers__isnull=False), distinct=True)
    found = Handover.objects.filter(desk=desk).annotate(
        on_it=Count("rows", distinct=True), answered=answered
    )
    found = found.order_by("-boundary")  # grouping drops the model's own order
    return Handovers(
        desk_id=desk.pk,
        desk=desk.name,
        zone=desk.zone,
        following=next_boundary(after=at, zone=desk.zone, starts=starts_of(desk)),
        links=tuple(
            SheetLink(
                handover_id=row.pk,
                boundary=row.boundary,
                from_shift=row.from_shift,
                to_shift=row.to_shift,
                rows=row.on_it,
                answered=row.answered,
                published_by=row.published_by,
                signed_by=row.signed_by,
                signed_at=row.signed_at,
            )
            for row in found[:LATEST]
        ),
    )


def rows_changed_since(*, handover_id: int, since: datetime) -> int:
    """How many rows changed, or were answered, after `since`: cheap enough to ask often."""
    touched = Q(changed_at__gt=since) | Q(
        pk__in=RowAnswer.objects.filter(row__handover=handover_id, at__gt=since).values("row__case")
    )
    return Case.objects.filter(touched, handover_rows__handover=handover_id).distinct().count()

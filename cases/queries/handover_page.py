"""What a person may do on a handover sheet, who can get a case there, and the list of sheets."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q

from cases import policies
from cases.models import Case, Desk, Handover, Person, RowAnswer
from cases.queries.duty import roster_of, starts_of
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
    """Sentences against each act, empty where the person may, and who can get a case."""

    answer: str
    note: str
    publish: str
    sign: str
    receivers: tuple[Receiver, ...]


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

    desk: str
    zone: str
    following: datetime | None
    links: Sequence[SheetLink]


def controls_on(*, handover: Handover, sheet: Sheet, person: Person, at: datetime) -> SheetControls:
    """What this person may do there now."""
    against = policies.reason_against
    just_before = handover.boundary - timedelta.resolution
    roster = roster_of(handover.desk, since=min(at, just_before))
    before, now = roster.duty_at(just_before), roster.duty_at(at)
    coming = roster.duty_at(max(at, handover.boundary))
    waiting = sheet.missing or any(
        row.needs_answer and row.answer is None for part in sheet.sections for row in part.rows
    )
    may_sign = against(
        policies.check_may_sign,
        person=person,
        primary=coming.crew.primary,
        published_by=handover.published_by,
    )
    return SheetControls(
        answer=against(policies.check_may_own, person=person),
        note=against(policies.check_may_write, person=person),
        publish=against(policies.check_may_hand_over, person=person, outgoing=before.crew.people),
        sign=may_sign or ("Every row needs an answer first." if waiting else ""),
        receivers=tuple(
            Receiver(person_id=number, name=str(coming.people[number]))
            for number in coming.present
            if not now.absence_of(number)
        ),
    )


def the_desk() -> Desk | None:
    """The desk whose sheet the pages show."""
    return Desk.objects.order_by("id").first()


def current_handover() -> int | None:
    """The number of the desk's newest handover."""
    return Handover.objects.filter(desk=the_desk()).values_list("pk", flat=True).first()


def handovers_of_the_desk(*, at: datetime) -> Handovers:
    """The newest handovers of the desk."""
    desk = the_desk()
    if desk is None:
        return Handovers(desk="No desk yet", zone="UTC", following=None, links=())
    answered = Count("rows", filter=Q(rows__answers__isnull=False), distinct=True)
    found = Handover.objects.filter(desk=desk).annotate(
        on_it=Count("rows", distinct=True), answered=answered
    )
    return Handovers(
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

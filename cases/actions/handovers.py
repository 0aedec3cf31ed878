"""Opening handovers: which boundary has none yet is asked from the record, so none is missed.

Any number of processes may ask; a desk has one handover per boundary.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max

from cases import audit
from cases.clock import business_now
from cases.models import Case, Desk, Handover, HandoverRow, Person, Proposal, SourceFeed
from cases.models.case import open_cases
from cases.queries.catalogue import playbook_for
from cases.queries.duty import duty_at, starts_of
from cases.queries.handover_facts import published_form
from cases.queries.sources import sources_of_many
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.clocks import iso
from cases.vocabulary.rosters import Crewed
from cases.vocabulary.shifts import shift_at

REFRESH_BEFORE = timedelta(minutes=30)
ROWS_AT_ONCE = 1000


def open_handovers() -> int:
    """Open the handover of every boundary that has none and needs one; says how many.

    Such are the newest boundary that passed, and the next one from 30 minutes before it. A desk
    that had no open case by then hands nothing over.
    """
    return sum(_open_at(desk) for desk in Desk.objects.order_by("id"))


def _open_at(desk: Desk) -> int:
    now = business_now()
    shift = shift_at(now, zone=desk.zone, starts=starts_of(desk))
    boundaries = [shift.starts_at]
    if shift.ends_at - now <= REFRESH_BEFORE:
        boundaries.append(shift.ends_at)
    known = desk.handovers.aggregate(newest=Max("boundary"))["newest"]
    return sum(
        _open(desk, boundary, now)
        for boundary in boundaries
        if (known is None or boundary > known) and _had_cases(desk, boundary)
    )


def _had_cases(desk: Desk, boundary: datetime) -> bool:
    return open_cases(Case.objects.filter(desk=desk, opened_at__lt=boundary)).exists()


def _open(desk: Desk, boundary: datetime, at: datetime) -> bool:
    """Whether it was opened here, and not by somebody else at the same time."""
    before = duty_at(desk=desk, at=boundary - boundary.resolution)
    after = duty_at(desk=desk, at=boundary)
    with transaction.atomic():
        handover, is_new = Handover.objects.get_or_create(
            desk=desk,
            boundary=boundary,
            defaults={
                "from_shift": before.shift.name,
                "to_shift": after.shift.name,
                "opened_at": at,
                "outgoing": _primary(before.crew, before.people),
                "incoming": _primary(after.crew, after.people),
            },
        )
        if is_new:
            SourceFeed.objects.update(next_read_at=None)  # it is read at once
            rows = add_rows(handover, at=at)
            audit.append_to_house(
                by=SYSTEM,
                at=at,
                event="handover_opened",
                data={"desk": desk.name, "boundary": iso(boundary), "cases": rows},
            )
    return is_new


def _primary(crew: Crewed, people: Mapping[int, Person]) -> Person | None:
    return None if crew.primary is None else people.get(crew.primary)


def add_rows(handover: Handover, *, at: datetime) -> int:
    """Put every open case of the desk on the sheet that is not on it yet; says how many."""
    cases = open_cases(Case.objects.filter(desk=handover.desk)).exclude(
        handover_rows__handover=handover
    )
    missing = list(cases.order_by("id"))
    for start in range(0, len(missing), ROWS_AT_ONCE):
        some = missing[start : start + ROWS_AT_ONCE]
        published = published_of(some)
        HandoverRow.objects.bulk_create(
            [
                HandoverRow(
                    handover=handover,
                    case=case,
                    added_at=at,
                    published=published[case.pk],
                    owner_before_id=case.owner_id,
                )
                for case in some
            ],
            ignore_conflicts=True,
        )
    return len(missing)


def published_of(cases: Sequence[Case]) -> dict[int, dict[str, object]]:
    """Case to what its row refers to, as of now; two queries."""
    sources = sources_of_many([case.pk for case in cases])
    newest = dict(
        Proposal.objects.filter(case__in=cases)
        .values("case_id")
        .annotate(number=Max("number"))
        .values_list("case_id", "number")
    )
    return {
        case.pk: published_form(
            playbook=playbook_for(case.kind),
            sources=sources.get(case.pk, ()),
            proposal=newest.get(case.pk),
        )
        for case in cases
    }

"""Opening handovers: which boundary has none yet is asked from the record, so none is missed.

Any number of processes may ask; a desk has one handover per boundary. When people change the
shifts, a sheet that was opened for a boundary ahead goes with it.
"""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from cases import audit
from cases.clock import business_now
from cases.models import Case, Desk, Handover, HandoverRow, Proposal, SourceFeed
from cases.models.case import open_cases
from cases.queries.catalogue import playbook_for
from cases.queries.duty import starts_of
from cases.queries.handover import had_cases
from cases.queries.handover_facts import published_form
from cases.queries.sources import sources_of_many
from cases.vocabulary.actors import SYSTEM, Actor
from cases.vocabulary.clocks import iso
from cases.vocabulary.handover_sheet import REFRESH_BEFORE, due_boundaries
from cases.vocabulary.shifts import Shift, shift_at

ROWS_AT_ONCE = 1000


def open_handovers() -> int:
    """Open the handover of every boundary that has none and needs one; says how many.

    Such are the newest boundary that passed, and the next one from 30 minutes before it. A desk
    that had no open case by then hands nothing over.
    """
    return sum(_open_at(desk) for desk in Desk.objects.order_by("id"))


def _open_at(desk: Desk) -> int:
    now, starts = business_now(), starts_of(desk)
    shift = shift_at(now, zone=desk.zone, starts=starts)
    newest = desk.handovers.first()
    if newest is not None and newest.boundary > now:
        newest = _follow_boundary(newest, desk, shift, now)
    return sum(
        _open(desk, boundary, now)
        for boundary in due_boundaries(shift, at=now)
        if (newest is None or boundary > newest.boundary) and had_cases(desk, boundary)
    )


def _follow_boundary(newest: Handover, desk: Desk, shift: Shift, now: datetime) -> Handover:
    """Let a sheet whose boundary lies ahead go with it when people change the shifts.

    Opened long before where its boundary lies now, it is opened anew: what was read by then does
    not count. A sheet that somebody has locked is left for the next time.
    """
    if newest.boundary == shift.ends_at and not _is_early(newest, now):
        return newest
    with transaction.atomic():
        as_seen = {"boundary": newest.boundary, "opened_at": newest.opened_at, "signed_at": None}
        same = Handover.objects.filter(pk=newest.pk, **as_seen)
        found = same.select_for_update(no_key=True, skip_locked=True).first()
        if found is None:
            return newest
        before, found.boundary = found.boundary, _boundary_of(found, desk, shift)
        found.from_shift, found.to_shift = _shifts_around(desk, found.boundary)
        if _is_early(found, now):
            found.opened_at, found.refreshed_at = now, None
            SourceFeed.objects.update(next_read_at=None)
        found.save(
            update_fields=("boundary", "from_shift", "to_shift", "opened_at", "refreshed_at")
        )
        data = {"desk": desk.name, "boundary": iso(found.boundary), "before": iso(before)}
        event = "handover_opened_anew" if found.boundary == before else "handover_moved"
        audit.append_to_house(by=SYSTEM, at=now, event=event, data=data)
    return found


def _boundary_of(handover: Handover, desk: Desk, shift: Shift) -> datetime:
    """Where a sheet belongs: at the start of the shift if that got no handover, else at its end."""
    before = desk.handovers.exclude(pk=handover.pk).first()
    is_over = before is not None and before.boundary >= shift.starts_at
    is_late = not is_over and had_cases(desk, shift.starts_at)
    return shift.starts_at if is_late else shift.ends_at


def _is_early(handover: Handover, now: datetime) -> bool:
    """Whether its refresh, which begins by now, was begun for another boundary."""
    return handover.opened_at < handover.boundary - REFRESH_BEFORE <= now


def _shifts_around(desk: Desk, boundary: datetime) -> tuple[str, str]:
    """The names of the shifts before and after a boundary."""
    starts = starts_of(desk)
    before, after = (
        shift_at(moment, zone=desk.zone, starts=starts)
        for moment in (boundary - boundary.resolution, boundary)
    )
    return before.name, after.name


def _open(desk: Desk, boundary: datetime, at: datetime) -> bool:
    """Whether it was opened here, and not by somebody else at the same time."""
    before, after = _shifts_around(desk, boundary)
    with transaction.atomic():
        handover, is_new = Handover.objects.get_or_create(
            desk=desk,
            boundary=boundary,
            defaults={"from_shift": before, "to_shift": after, "opened_at": at},
        )
        if is_new:
            SourceFeed.objects.update(next_read_at=None)  # it is read at once
            rows = _put_missing(handover, at=at)
            audit.append_to_house(
                by=SYSTEM,
                at=at,
                event="handover_opened",
                data={"desk": desk.name, "boundary": iso(boundary), "cases": rows},
            )
    return is_new


def add_rows(handover: Handover, *, by: Actor, at: datetime) -> int:
    """Put every open case of the desk on the sheet that is not on it yet; says how many.

    The caller holds the lock of the handover, whose desk is loaded.
    """
    rows = _put_missing(handover, at=at)
    if rows:
        about = {"desk": handover.desk.name, "boundary": iso(handover.boundary)}
        data = {**about, "cases": rows}
        audit.append_to_house(by=by, at=at, event="handover_rows_added", data=data)
    return rows


def _put_missing(handover: Handover, *, at: datetime) -> int:
    cases = open_cases(Case.objects.filter(desk=handover.desk_id)).exclude(
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

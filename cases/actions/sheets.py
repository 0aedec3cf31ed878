"""The handover sheet as people keep it: rows, notes, publishing, and the signature that seals it.

Answers to rows are in `cases.actions.sheet_answers`. Only the newest sheet of a desk is kept, and a
signed one never changes; the database refuses it too.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime

from django.db import transaction

from cases import audit, policies
from cases.actions.change import actor_for, busy_is_a_conflict, by_person
from cases.actions.handovers import ROWS_AT_ONCE, add_rows, published_of
from cases.actions.house import keeping_refusals
from cases.clock import business_now
from cases.models import Case, Handover, HandoverRow, Person
from cases.queries.duty import roster_of
from cases.queries.handover import find_row, present_handover, row_of, sheet_of
from cases.queries.handover_seen import moved_since
from cases.queries.handover_shapes import Sheet, SheetRow
from cases.queries.handover_snapshot import plain
from cases.vocabulary.clocks import iso, local_text
from cases.vocabulary.digest import digest_of
from cases.vocabulary.errors import Conflict, NotFound, RowOvertaken, SheetOvertaken
from cases.vocabulary.handover_sheet import differences
from cases.vocabulary.rosters import Sides
from cases.vocabulary.texts import plain_text


def add_missing_rows(*, handover_id: int, by: Person, at: datetime) -> int:
    """Put every open case of the desk that is not on the sheet yet on it; says how many."""
    with _whole(handover_id, by=by, at=at, act="add cases to a handover sheet") as (sheet, moment):
        policies.check_may_keep_sheet(person=by, sides=sides_of(sheet))
        return add_rows(sheet, by=actor_for(by), at=moment)


def locked_sheet(handover_id: int) -> Handover:
    """The handover with its desk and people, locked until the transaction ends.

    Raises `Conflict` once it is signed, and `SheetOvertaken` when the desk has a newer one.
    """
    found = (
        Handover.objects.select_related("desk__lead", "desk__manager", "outgoing", "incoming")
        .select_for_update(of=("self",), no_key=True)
        .filter(pk=handover_id)
        .first()
    )
    if found is None:
        raise NotFound(f"There is no handover {handover_id}.")
    if found.signed_at is not None:
        raise Conflict(
            f"{found.signed_by} signed this sheet; nothing on it changes any more. Work on the "
            "cases themselves, or on the next sheet."
        )
    _check_present(found)
    return found


def _check_present(handover: Handover) -> None:
    present = present_handover(handover.desk_id)
    if present is not None and present.pk != handover.pk:
        boundary = local_text(present.boundary, zone=present.desk.zone)
        raise SheetOvertaken(
            f"This sheet is over. The present one of {present.desk} is {present.from_shift} → "
            f"{present.to_shift}, {boundary}. Go on there.",
            present=present.pk,
        )


def sides_of(handover: Handover) -> Sides:
    """Who hands its desk over, and who takes it; its desk is loaded."""
    return roster_of(handover.desk, since=handover.boundary).sides_at(handover.boundary)


def write_note(*, row_id: int, text: str, seen: str, by: Person, at: datetime) -> None:
    """Leave a note on a row for the next shift; `seen` is the note that stood on the page.

    Raises `RowOvertaken` when somebody else wrote one meanwhile.
    """
    said, found = plain_text(text), find_row(row_id)
    with by_person(case_id=found.case_id, by=by, at=at, act="leave a handover note") as change:
        handover = locked_sheet(found.handover_id)
        policies.check_may_keep_sheet(person=by, sides=sides_of(handover))
        row = HandoverRow.objects.get(pk=row_id)
        if row.note != seen:
            raise RowOvertaken(
                f"{row.note_by} wrote a note meanwhile. Yours is kept below; put both together.",
                differences=[("Note", seen or "none", row.note)],
            )
        row.note, row.note_by, row.note_at = said, str(by), change.at
        row.save(update_fields=("note", "note_by", "note_at"))
        change.record("handover_note", note=said, before=seen)


def take_current(*, row_id: int, seen: Mapping[str, str], by: Person, at: datetime) -> None:
    """Repair a row: let it refer to the current proposal and facts, as the page showed them.

    Raises `RowOvertaken` with the difference when they moved on since.
    """
    found = find_row(row_id)
    with by_person(case_id=found.case_id, by=by, at=at, act="repair a handover row") as change:
        handover = locked_sheet(found.handover_id)
        policies.check_may_keep_sheet(person=by, sides=sides_of(handover))
        before = row_of(row_id=row_id, at=change.at)
        check_row_as_seen(before, seen)
        row = HandoverRow.objects.get(pk=row_id)
        row.published = published_of([change.case])[row.case_id]
        row.save(update_fields=("published",))
        change.record("handover_row_repaired", reason=" ".join(one.says for one in before.broken))


def check_row_as_seen(row: SheetRow, seen: Mapping[str, str]) -> None:
    """Raise `RowOvertaken` with the difference when the row is not as it was seen."""
    moved = differences(seen=seen, now=row.seen)
    if moved:
        raise RowOvertaken(
            f"{row.subject} changed since you looked. Look at it as it stands first.",
            differences=moved,
        )


def publish(*, handover_id: int, seen: Mapping[str, str], by: Person, at: datetime) -> None:
    """The outgoing person hands the sheet over: its rows refer to what holds now.

    `seen` is what the page showed, as `seen_of` tells it; raises `RowOvertaken` where that moved.
    """
    act = "publish a handover sheet"
    with _whole(handover_id, by=by, at=at, act=act) as (handover, moment):
        policies.check_may_hand_over(person=by, sides=sides_of(handover))
        if handover.published_at is not None:
            raise Conflict(f"{handover.published_by} published this sheet already.")
        _check_as_seen(sheet_of(handover=handover, at=moment), seen, then="publish")
        handover.outgoing, handover.published_by, handover.published_at = by, str(by), moment
        handover.save(update_fields=("outgoing", "published_by", "published_at"))
        rows = list(handover.rows.select_related("case"))
        published = published_of([row.case for row in rows])
        for row in rows:
            row.published = published[row.case_id]
        HandoverRow.objects.bulk_update(rows, ("published",), batch_size=ROWS_AT_ONCE)
        _record(by, moment, "handover_published", handover)


def sign(*, handover_id: int, seen: Mapping[str, str], by: Person, at: datetime) -> str:
    """Sign the sheet: what it says is kept as it is, under the digest that is returned.

    `seen` is what the page showed, as `seen_of` tells it. Raises `RowOvertaken` naming what changed
    since, `Conflict` before it is published and the next shift has begun, and while a row has no
    answer or a case is missing.
    """
    with _whole(handover_id, by=by, at=at, act="sign a handover sheet") as (handover, moment):
        policies.check_may_sign(person=by, handover=handover, sides=sides_of(handover), at=moment)
        handover.incoming, handover.signed_by, handover.signed_at = by, str(by), moment
        sheet = sheet_of(handover=handover, at=moment)
        _check_complete(sheet)
        _check_as_seen(sheet, seen, then="sign")
        handover.snapshot = {**plain(sheet), "signed_by": str(by), "signed_at": plain(moment)}
        handover.digest = digest_of(handover.snapshot)
        handover.save(update_fields=("incoming", "snapshot", "digest", "signed_by", "signed_at"))
        _record(by, moment, "handover_signed", handover, digest=handover.digest)
    return handover.digest


def _check_complete(sheet: Sheet) -> None:
    if sheet.missing:
        raise Conflict(f"{sheet.missing} open cases are not on the sheet yet. Add them first.")
    if open_rows := [row.subject for row in sheet.unanswered]:
        raise Conflict(f"Still without an answer: {', '.join(open_rows)}. Answer each, then sign.")


def _check_as_seen(sheet: Sheet, seen: Mapping[str, str], *, then: str) -> None:
    if moved := moved_since(sheet=sheet, seen=seen):
        raise RowOvertaken(
            f"The sheet changed since you looked. Look at what changed, then {then}.",
            differences=moved,
        )


@contextmanager
def _whole(
    handover_id: int, *, by: Person, at: datetime, act: str
) -> Iterator[tuple[Handover, datetime]]:
    """A change of the sheet as a whole, and its instant; a refusal is kept in the house's audit.

    Its cases are locked, so that none of them changes between one look at it and the next.
    """
    with (
        keeping_refusals(by=by, at=at, act=act),
        busy_is_a_conflict("this sheet"),
        transaction.atomic(),
    ):
        _lock_cases(handover_id)
        yield locked_sheet(handover_id), max(at, business_now())


def _lock_cases(handover_id: int) -> None:
    """Every case on the sheet; cases are always locked before anything else."""
    on_it = HandoverRow.objects.filter(handover=handover_id).values("case")
    cases = Case.objects.filter(pk__in=on_it).order_by("pk")
    list(cases.select_for_update(no_key=True).values_list("pk", flat=True))


def _record(by: Person, at: datetime, event: str, handover: Handover, **data: object) -> None:
    about = {"desk": str(handover.desk), "boundary": iso(handover.boundary)}
    audit.append_to_house(by=actor_for(by), at=at, event=event, data={**about, **data})

"""The handover sheet as people keep it: rows, notes, publishing, and the signature that seals it.

Answers to rows are in `cases.actions.sheet_answers`. A signed sheet never changes; the database
refuses it too.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime

from django.db import transaction

from cases import audit, policies
from cases.actions.change import actor_for, busy_is_a_conflict, by_person
from cases.actions.handovers import ROWS_AT_ONCE, add_rows, published_of
from cases.clock import business_now
from cases.models import Handover, HandoverRow, Person
from cases.queries.duty import duty_at
from cases.queries.handover import (
    find_handover,
    find_row,
    row_of,
    sheet_of,
)
from cases.queries.handover_shapes import Sheet
from cases.queries.handover_snapshot import plain
from cases.vocabulary.clocks import iso
from cases.vocabulary.digest import digest_of
from cases.vocabulary.errors import Conflict, NotFound, Refused, RowOvertaken
from cases.vocabulary.texts import plain_text


def add_missing_rows(*, handover_id: int, at: datetime) -> int:
    """Put every open case of the desk that is not on the sheet yet on it; says how many."""
    with busy_is_a_conflict(), transaction.atomic():
        handover = locked_unsigned(handover_id)
        return add_rows(handover, at=at)


def locked_unsigned(handover_id: int) -> Handover:
    """The handover, locked until the transaction ends; raises `Conflict` once it is signed."""
    found = Handover.objects.select_for_update(no_key=True).filter(pk=handover_id).first()
    if found is None:
        raise NotFound(f"There is no handover {handover_id}.")
    if found.signed_at is not None:
        raise Conflict(
            f"{found.signed_by} signed this sheet; nothing on it changes any more. Work on the "
            "cases themselves, or on the next sheet."
        )
    return found


def write_note(*, row_id: int, text: str, seen: str, by: Person, at: datetime) -> None:
    """Leave a note on a row for the next shift; `seen` is the note that stood on the page.

    Raises `RowOvertaken` when somebody else wrote one meanwhile.
    """
    said, found = plain_text(text), find_row(row_id)
    with by_person(case_id=found.case_id, by=by, at=at, act="leave a handover note") as change:
        policies.check_may_write(person=by)
        locked_unsigned(found.handover_id)
        row = HandoverRow.objects.get(pk=row_id)
        if row.note != seen:
            raise RowOvertaken(
                f"{row.note_by} wrote a note meanwhile. Yours is kept below; put both together.",
                differences=[("Note", seen or "none", row.note)],
            )
        row.note, row.note_by, row.note_at = said, str(by), change.at
        row.save(update_fields=("note", "note_by", "note_at"))
        change.record("handover_note", note=said, before=seen)


def take_current(*, row_id: int, by: Person, at: datetime) -> None:
    """Repair a row: let it refer to the current proposal and facts."""
    found = find_row(row_id)
    with by_person(case_id=found.case_id, by=by, at=at, act="repair a handover row") as change:
        policies.check_may_write(person=by)
        locked_unsigned(found.handover_id)
        before = row_of(row_id=row_id, at=change.at)
        row = HandoverRow.objects.get(pk=row_id)
        row.published = published_of([change.case])[row.case_id]
        row.save(update_fields=("published",))
        change.record("handover_row_repaired", reason=" ".join(one.says for one in before.broken))


def publish(*, handover_id: int, by: Person, at: datetime) -> None:
    """The outgoing person hands the sheet over: its rows refer to what holds now."""
    with _in_house(by=by, at=at, act="publish a handover sheet") as moment:
        handover = locked_unsigned(handover_id)
        outgoing = duty_at(desk=handover.desk, at=handover.boundary - datetime.resolution)
        policies.check_may_hand_over(person=by, outgoing=outgoing.crew.people)
        if handover.published_at is not None:
            raise Conflict(f"{handover.published_by} published this sheet already.")
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

    `seen` maps each row to the digest of what the page showed of it. Raises `RowOvertaken` naming
    rows that changed since, `Conflict` while a row has no answer or a case is missing.
    """
    with _in_house(by=by, at=at, act="sign a handover sheet") as moment:
        locked_unsigned(handover_id)
        handover = find_handover(handover_id)
        primary = duty_at(desk=handover.desk, at=handover.boundary).crew.primary
        policies.check_may_sign(person=by, primary=primary, published_by=handover.published_by)
        handover.incoming = by
        sheet = sheet_of(handover=handover, at=moment)
        _check_complete(sheet)
        _check_as_seen(sheet, seen)
        handover.snapshot = {**plain(sheet), "signed_by": str(by), "signed_at": plain(moment)}
        handover.digest = digest_of(handover.snapshot)
        handover.signed_by, handover.signed_at = str(by), moment
        handover.save(update_fields=("incoming", "snapshot", "digest", "signed_by", "signed_at"))
        _record(by, moment, "handover_signed", handover, digest=handover.digest)
    return handover.digest


def seen_of(sheet: Sheet) -> dict[str, str]:
    """What a signature is bound to: each row with the digest of what the page shows of it."""
    return {
        str(row.row_id): digest_of(dict(row.seen))[:16]
        for section in sheet.sections
        for row in section.rows
    }


def _check_complete(sheet: Sheet) -> None:
    if sheet.missing:
        raise Conflict(f"{sheet.missing} open cases are not on the sheet yet. Add them first.")
    rows = [row for section in sheet.sections for row in section.rows]
    open_rows = [row.subject for row in rows if row.needs_answer and row.answer is None]
    if open_rows:
        raise Conflict(f"Still without an answer: {', '.join(open_rows)}. Answer each, then sign.")


def _check_as_seen(sheet: Sheet, seen: Mapping[str, str]) -> None:
    now = seen_of(sheet)
    moved = {row_id for row_id, digest in now.items() if seen.get(row_id) != digest}
    changed = [
        (
            row.subject,
            "as you saw it",
            "; ".join(f"{what}: {is_}" for what, is_ in row.seen.items()),
        )
        for section in sheet.sections
        for row in section.rows
        if str(row.row_id) in moved
    ]
    if changed:
        raise RowOvertaken(
            "Rows changed since you looked. Look at them, then sign.", differences=changed
        )


@contextmanager
def _in_house(*, by: Person, at: datetime, act: str) -> Iterator[datetime]:
    """A change of the sheet as a whole; a refusal is kept in the audit of the house."""
    actor = actor_for(by)
    try:
        with busy_is_a_conflict(), transaction.atomic():
            yield max(at, business_now())
    except (Refused, Conflict) as error:
        with transaction.atomic():
            data = {"act": act, "reason": str(error), "reason_code": error.code}
            audit.append_to_house(by=actor, at=at, event="act_refused", data=data)
        raise


def _record(by: Person, at: datetime, event: str, handover: Handover, **data: object) -> None:
    about = {"desk": str(handover.desk), "boundary": iso(handover.boundary)}
    audit.append_to_house(by=actor_for(by), at=at, event=event, data={**about, **data})

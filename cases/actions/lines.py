"""Lines of a case: promises, if … then, do not, waiting on, next step, notes."""

from dataclasses import dataclass
from datetime import datetime

from cases import policies
from cases.actions.change import by_person
from cases.models import CaseLine, Person
from cases.vocabulary.clocks import iso
from cases.vocabulary.errors import Conflict, InvalidInput, NotFound
from cases.vocabulary.shifts import WallTime, chosen_instant
from cases.vocabulary.texts import plain_text, reason_given

LONGEST_PARTY = 200
ABOUT_SOMEBODY = {
    CaseLine.Sort.PROMISE: "Say to whom it was promised.",
    CaseLine.Sort.WAITING_ON: "Say on whom the case waits.",
}
"""Sorts of lines that mean nothing without a party."""


@dataclass(frozen=True, kw_only=True)
class NewLine:
    """A line as it was written; `due` is when it falls due, None when it does not."""

    sort: str
    text: str
    party: str = ""
    due: WallTime | None = None


def write_line(*, case_id: int, line: NewLine, by: Person, at: datetime) -> None:
    """Write a line on an open case; it stands until somebody ends it.

    Raises `AmbiguousTime` for a due time that occurs twice, until one of the two is chosen, and
    `InvalidInput` for one that does not occur, and for a line that says too little.
    """
    if line.sort not in CaseLine.Sort:
        raise InvalidInput("Choose what kind of line it is.")
    sort = CaseLine.Sort(line.sort)
    text = reason_given(line.text, missing="Write something down; the next shift reads it.")
    party = plain_text(line.party)
    if len(party) > LONGEST_PARTY:
        raise InvalidInput(f"A name is at most {LONGEST_PARTY} characters.")
    if not party and sort in ABOUT_SOMEBODY:
        raise InvalidInput(ABOUT_SOMEBODY[sort])
    due_at = None if line.due is None else chosen_instant(line.due)
    with by_person(case_id=case_id, by=by, at=at, act="write a line") as change:
        policies.check_may_write(person=by)
        CaseLine.objects.create(
            case=change.case,
            sort=sort,
            text=text,
            party=party,
            due_at=due_at,
            due_zone="" if line.due is None else line.due.zone,
            written_by=by,
            written_by_name=str(by),
            written_at=change.at,
        )
        change.record(
            "line_written",
            sort=sort.value,
            text=text,
            party=party,
            due=None if due_at is None else iso(due_at),
        )


def end_line(*, case_id: int, line_id: int, by: Person, at: datetime, reason: str = "") -> None:
    """End a line: done, kept, or no longer so. It stays in the record.

    Raises `Conflict`, naming who, when it was ended before.
    """
    said = plain_text(reason)
    if len(said) > LONGEST_PARTY:
        raise InvalidInput(f"Say it in at most {LONGEST_PARTY} characters.")
    with by_person(case_id=case_id, by=by, at=at, act="end a line") as change:
        policies.check_may_write(person=by)
        line = CaseLine.objects.filter(pk=line_id, case=change.case).first()
        if line is None:
            raise NotFound("This case has no such line.")
        if line.ended_at is not None:
            raise Conflict(f"{line.ended_by} ended this line already.")
        line.ended_by, line.ended_at, line.ended_reason = str(by), change.at, said
        line.save(update_fields=("ended_by", "ended_at", "ended_reason"))
        change.record("line_ended", sort=line.sort, text=line.text, reason=said)

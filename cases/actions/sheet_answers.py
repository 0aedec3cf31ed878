"""Answers to the rows of a handover sheet. Ownership moves with the answer, then and there.

An answer is bound to what the page showed. Whoever takes an urgent case over reads its critical
facts back, and what was not read at the source is taken over as blocked or not at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from cases import policies
from cases.actions.change import Change, by_person
from cases.actions.ownership import move_to, put_before_lead
from cases.actions.sheets import check_row_as_seen, locked_sheet
from cases.models import Handover, Person, RowAnswer
from cases.queries.duty import Roster, roster_of
from cases.queries.handover import find_row, row_of
from cases.queries.handover_shapes import SheetRow
from cases.queries.handover_words import since_words
from cases.vocabulary.errors import Conflict, InvalidInput, ReadBackDiffers
from cases.vocabulary.handover_sheet import (
    QUICKEST_READING,
    ReadBackFact,
    can_have_read,
    read_back_mismatches,
)
from cases.vocabulary.rosters import Sides
from cases.vocabulary.texts import plain_text, reason_given

Kind = RowAnswer.Kind
MOVES = frozenset({Kind.ACCEPT, Kind.ASSIGN})
OF_BOTH = frozenset({Kind.ESCALATE, Kind.QUESTION})
"""What the outgoing shift may say too; the rest is for who takes the desk over."""
MISSING = {
    Kind.ESCALATE: "Say what the lead is to do.",
    Kind.QUESTION: "Say what you want to know.",
    Kind.REFUSE: "Say why you do not take it over.",
}


@dataclass(frozen=True, kw_only=True)
class GivenAnswer:
    """What somebody answered to a row.

    `seen` is what the page showed of the row (label to value) and `shown_at` when; `to` who gets
    the case when it is assigned; `read_back` fact key to the value read back.
    """

    row_id: int
    kind: Kind
    seen: Mapping[str, str]
    shown_at: datetime
    reason: str = ""
    to: Person | None = None
    as_blocked: bool = False
    read_back: Mapping[str, str] = field(default_factory=dict)


def answer_row(*, given: GivenAnswer, by: Person, at: datetime) -> None:
    """Answer a row; accepting and assigning give the case its new owner at this instant.

    Raises `Refused` for who has no place there, `ReadBackDiffers` and `RowOvertaken` with the
    difference, `Conflict` where a reference is broken, the case was not read, nobody can have read
    the row that fast, or the sheet is not the present one.
    """
    found = find_row(given.row_id)
    with by_person(case_id=found.case_id, by=by, at=at, act=_act(given)) as change:
        policies.check_may_own(person=by)
        handover = locked_sheet(found.handover_id)
        roster = roster_of(handover.desk, since=min(change.at, handover.boundary))
        _check_may_answer(given.kind, by, roster.sides_at(handover.boundary))
        row = row_of(row_id=given.row_id, at=change.at)
        said = _said(given)
        if given.kind in MOVES:
            _check_read_back(given, row, handover)
        check_row_as_seen(row, given.seen)
        to = _new_owner(given, by)
        if to is not None:
            _check_may_move(given, row, handover, to, roster=roster, by=by, at=change.at)
        _keep(given, row, change, by=by, to=to, said=said)
        if to is not None:
            move_to(change, to, reason=_why(handover, by, to))
        elif given.kind is Kind.ESCALATE:
            put_before_lead(change, by=by, said=said)


def _check_may_answer(kind: Kind, by: Person, sides: Sides) -> None:
    if kind in OF_BOTH:
        policies.check_may_keep_sheet(person=by, sides=sides)
    else:
        policies.check_may_take_over(person=by, sides=sides)


def _act(given: GivenAnswer) -> str:
    return {
        Kind.ACCEPT: "accept a row of the handover",
        Kind.ASSIGN: f"assign a row of the handover to {given.to}",
        Kind.ESCALATE: "escalate a row of the handover",
        Kind.QUESTION: "ask about a row of the handover",
        Kind.REFUSE: "refuse a row of the handover",
    }[given.kind]


def _said(given: GivenAnswer) -> str:
    missing = MISSING.get(given.kind)
    if missing is None:
        return plain_text(given.reason)
    return reason_given(given.reason, missing=missing)


def _new_owner(given: GivenAnswer, by: Person) -> Person | None:
    if given.kind is Kind.ACCEPT:
        return by
    if given.kind is not Kind.ASSIGN:
        return None
    if given.to is None:
        raise InvalidInput("Choose who gets the case.")
    policies.check_may_own(person=given.to)
    return given.to


def _check_read_back(given: GivenAnswer, row: SheetRow, handover: Handover) -> None:
    """The critical facts of an urgent row are read back as they are now."""
    if not row.must_read_back:
        return
    wanted = [ReadBackFact(key=f.key, label=f.label, shown=f.shown) for f in row.facts]
    wrong = {fact.key for fact in read_back_mismatches(wanted=wanted, given=given.read_back)}
    facts = [fact for fact in row.facts if fact.key in wrong]
    if not facts:
        return
    since = f" (changed since {since_words(handover)})"
    told = [
        f"{fact.label} was read back as “{given.read_back.get(fact.key, '').strip() or 'nothing'}”"
        f" and is “{fact.shown}”" + (since if fact.has_changed else "")
        for fact in facts
    ]
    raise ReadBackDiffers(
        f"{'; '.join(told)}. The case stays with {row.owner or 'nobody'} until it is read back.",
        differences=[
            (fact.label, given.read_back.get(fact.key, "").strip() or "nothing", fact.shown)
            for fact in facts
        ],
    )


def _check_may_move(
    given: GivenAnswer,
    row: SheetRow,
    handover: Handover,
    to: Person,
    *,
    roster: Roster,
    by: Person,
    at: datetime,
) -> None:
    """What must hold before a case goes to its new owner."""
    if not row.needs_answer:
        raise Conflict("The case is closed; nobody has to take it over.")
    if row.must_repair:
        raise Conflict(f"Repair the row first: {' '.join(one.says for one in row.broken)}")
    if row.only_as_blocked and not given.as_blocked:
        raise Conflict(
            f"{row.subject} was not read for this handover. Have it read again, or take it over "
            "as blocked."
        )
    for moment in (at, max(at, handover.boundary)):
        if absence := roster.duty_at(moment).absence_of(to.pk):
            when = "" if moment == at else " when the next shift begins"
            raise Conflict(f"{to} is {absence}{when}. Somebody who is there takes the case.")
    taken = RowAnswer.objects.filter(row__handover=handover, by=by, kind__in=MOVES)
    last_at = taken.order_by("-at").values_list("at", flat=True).first()
    if not can_have_read(shown_at=given.shown_at, last_at=last_at, at=at):
        seconds = round(QUICKEST_READING.total_seconds())
        raise Conflict(
            f"Nobody reads a case that fast. Read the row for {seconds} seconds, then answer again."
        )


def _keep(
    given: GivenAnswer,
    row: SheetRow,
    change: Change,
    *,
    by: Person,
    to: Person | None,
    said: str,
) -> None:
    facts = {
        fact.key: {"read_back": given.read_back.get(fact.key, ""), "now": fact.shown}
        for fact in row.facts
        if row.must_read_back and given.kind in MOVES
    }
    as_blocked = row.only_as_blocked and to is not None
    RowAnswer.objects.create(
        row_id=row.row_id,
        kind=given.kind,
        by=by,
        by_name=str(by),
        at=change.at,
        to=to,
        reason=said,
        as_blocked=as_blocked,
        read_back=facts,
    )
    change.record(
        "handover_answered",
        answer=given.kind.value,
        to="" if to is None else str(to),
        reason=said,
        as_blocked=as_blocked,
        read_back=[one["read_back"] for one in facts.values()],
    )


def _why(handover: Handover, by: Person, to: Person) -> str:
    shifts = f"{handover.from_shift} → {handover.to_shift}"
    how = "Accepted" if to == by else f"Assigned by {by}"
    return f"{how} at the handover {shifts}."

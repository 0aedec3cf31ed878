"""The handover sheet as pages show it and as a signature keeps it: plain values only."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from cases.models import CaseLine, Escalation, HandoverRow, RowAnswer
from cases.queries.conditions import StandingRow
from cases.queries.handover_facts import SheetFact
from cases.queries.lines import PromiseView, due_word_of
from cases.vocabulary.actors import SYSTEM


@dataclass(frozen=True, kw_only=True)
class SheetLine:
    """Something people wrote down about the case; `due_at` is shown in `zone` after `due_word`."""

    text: str
    party: str
    by: str
    at: datetime
    due_word: str
    due_at: datetime | None
    zone: str


@dataclass(frozen=True, kw_only=True)
class SheetProposal:
    """The newest version: what it would do, by when, and which number the row was published with.

    `does` and the times are empty unless it waits for a decision.
    """

    number: int
    published: int | None
    state: str
    label: str
    does: str
    changes: tuple[str, ...]
    decide_by: datetime | None
    valid_until: datetime | None


@dataclass(frozen=True, kw_only=True)
class SheetCall:
    """Before whom the case was put, why, and who is called next and when."""

    to: str
    since: datetime
    reason: str
    next_to: str
    next_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class SheetWait:
    """On whom the case waits by its stage, since when, and what happens next by itself."""

    on: str
    since: datetime
    following: str
    following_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class SheetNote:
    """What the outgoing person leaves, and what the agent drafted from the record."""

    text: str
    by: str
    at: datetime | None
    draft: str


@dataclass(frozen=True, kw_only=True)
class Broken:
    """A reference of the row that does not hold, and the one act that repairs it."""

    says: str
    repair: str


@dataclass(frozen=True, kw_only=True)
class SheetAnswer:
    """The newest answer to a row."""

    kind: str
    label: str
    by: str
    at: datetime
    to: str
    reason: str
    as_blocked: bool


@dataclass(frozen=True, kw_only=True)
class SheetRow:
    """One case on the sheet.

    `repairs` are the acts that repair what is `broken`; `must_repair` says that it can be taken
    over only after one. `must_read_back` says that whoever takes it over reads the facts back;
    `was_read` that its sources were read for this handover; `only_as_blocked` that it is not fresh.
    `needs_answer` is false for a closed case. `lines` are by sort. `seen` is what an answer is
    bound to: label and value of everything that may not move under it.
    """

    row_id: int
    case_id: int
    subject: str
    title: str
    type_label: str
    section: str
    condition: str
    sign: str
    stage_label: str
    one_line: str
    may_change: tuple[str, ...]
    facts: tuple[SheetFact, ...]
    proposal: SheetProposal | None
    attempts: tuple[str, ...]
    uncarried: tuple[str, ...]
    wait: SheetWait
    lines: Mapping[str, tuple[SheetLine, ...]]
    note: SheetNote
    owner: str
    owner_before: str
    absence: str
    calls: tuple[SheetCall, ...]
    broken: tuple[Broken, ...]
    repairs: tuple[str, ...]
    must_repair: bool
    must_read_back: bool
    was_read: bool
    only_as_blocked: bool
    needs_answer: bool
    answer: SheetAnswer | None
    ends_at: datetime | None
    seen: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class SheetSection:
    """The rows of one section, ranked, and what an empty one says."""

    key: str
    label: str
    asks_for: str
    empty: str
    rows: tuple[SheetRow, ...]

    @property
    def unanswered(self) -> tuple[SheetRow, ...]:
        """The rows that still need an answer."""
        return tuple(row for row in self.rows if row.needs_answer and row.answer is None)


@dataclass(frozen=True, kw_only=True)
class CallTime:
    """Who is called when nobody has accepted by then."""

    who: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """The sheet of one handover at one instant.

    `to_read` and `read` are the coverage of the refresh; `missing` counts open cases that are not
    on the sheet yet.
    """

    handover_id: int
    desk: str
    zone: str
    from_shift: str
    to_shift: str
    boundary: datetime
    opened_at: datetime
    refreshed_at: datetime | None
    to_read: int
    read: int
    percent_read: int
    outgoing: str
    published_by: str
    published_at: datetime | None
    incoming: str
    calls: tuple[CallTime, ...]
    notices: tuple[StandingRow, ...]
    sections: tuple[SheetSection, ...]
    count: int
    answered: int
    missing: int
    at: datetime

    @property
    def rows(self) -> tuple[SheetRow, ...]:
        """Every row, in the order in which they are read."""
        return tuple(row for section in self.sections for row in section.rows)

    @property
    def unanswered(self) -> tuple[SheetRow, ...]:
        """The rows that still need an answer."""
        return tuple(row for section in self.sections for row in section.unanswered)

    @property
    def next_row(self) -> SheetRow | None:
        """The first row that still needs an answer, in the order in which they are read."""
        return next(iter(self.unanswered), None)


def answer_to(row: HandoverRow) -> SheetAnswer | None:
    """The newest answer to a row whose answers are loaded, or None."""
    answers = list(row.answers.all())
    if not answers:
        return None
    newest = answers[-1]
    return SheetAnswer(
        kind=newest.kind,
        label=str(RowAnswer.Kind(newest.kind).label),
        by=newest.by_name,
        at=newest.at,
        to="" if newest.to is None else str(newest.to),
        reason=newest.reason,
        as_blocked=newest.as_blocked,
    )


def call_from(escalation: Escalation) -> SheetCall:
    """An escalation under way, with its people loaded."""
    return SheetCall(
        to=str(escalation.to),
        since=escalation.started_at,
        reason=escalation.reason,
        next_to="" if escalation.next_to is None else str(escalation.next_to),
        next_at=escalation.next_at,
    )


def lines_from(lines: Iterable[CaseLine]) -> tuple[SheetLine, ...]:
    """What people wrote down, oldest first."""
    return tuple(
        SheetLine(
            text=line.text,
            party=line.party,
            by=line.written_by_name,
            at=line.written_at,
            due_word=due_word_of(CaseLine.Sort(line.sort)),
            due_at=line.due_at,
            zone=line.due_zone,
        )
        for line in lines
    )


def promises_from(promises: Iterable[PromiseView]) -> tuple[SheetLine, ...]:
    """What our own messages promised, though nobody wrote it down."""
    return tuple(
        SheetLine(
            text=f"{promise.what} (our message {promise.reference}, {promise.word})",
            party=promise.to,
            by=SYSTEM.name,
            at=promise.sent_at,
            due_word="until",
            due_at=promise.until,
            zone=promise.zone,
        )
        for promise in promises
    )

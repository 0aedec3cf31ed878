"""A desk between two shifts: who stood in the night, who comes in the morning, and their sheet."""

from datetime import timedelta
from typing import Any

from cases.actions import roster, sheets
from cases.actions.clock import move_business_clock
from cases.actions.handovers import open_handovers
from cases.actions.sheet_answers import GivenAnswer, answer_row
from cases.clock import business_now
from cases.models import Case, Handover, HandoverRow, Person, RowAnswer
from cases.queries.handover import find_handover, row_of, sheet_of
from cases.queries.handover_seen import seen_of
from cases.queries.handover_shapes import Sheet, SheetRow
from cases.vocabulary.rosters import Position
from cases.vocabulary.shifts import USUAL_STARTS
from cases.vocabulary.work import SourceReading
from tests.cases.builders import (
    EVENING,
    MORNING,
    Cast,
    a_case_waiting_for_review,
    a_quote,
    a_shipment,
    agent_reads,
    at_business_time,
)
from tests.cases.duties import stands

Kind = RowAnswer.Kind
BEFORE = MORNING - timedelta(minutes=20)
READING_TIME = timedelta(seconds=3)
AFTER = MORNING + timedelta(minutes=1)
QUOTE = a_quote(expires_at="2026-11-25T06:00:00Z")
LATE_PICKUP = {
    "start": "2026-11-24T22:00:00Z",
    "end": "2026-11-24T23:00:00Z",
    "zone": "America/Chicago",
}


def a_roster(cast: Cast) -> None:
    """Marta stands in the evening, Dana by day."""
    roster.set_shifts(desk=cast.desk, starts=USUAL_STARTS, by=cast.lead, at=EVENING)
    stands(cast, "Evening", Position.PRIMARY, cast.owner)
    stands(cast, "Day", Position.PRIMARY, cast.colleague)


def a_night_case(cast: Cast, subject: str = "S-318") -> Case:
    """Monday evening: a case of Marta's, with a rate that lasts over the next day."""
    at_business_time(EVENING)
    case = a_case_waiting_for_review(cast, subject=subject)
    read_again(case, 42)
    case.refresh_from_db()
    return case


def read_in_the_morning(cast: Cast, *subjects: str) -> tuple[Handover, list[Case]]:
    """Tuesday 07:40: the sheet for the day shift, with Marta's cases as they were read for it."""
    a_roster(cast)
    cases = [a_night_case(cast, subject) for subject in subjects]
    handover = opened(cast)
    for case in cases:
        read_again(case)
        take_in(case, cast.owner)
    return handover, cases


def morning_of(case: Case, version: int = 43, **facts: Any) -> tuple[SourceReading, SourceReading]:
    """What the sources say of a case whose truck is loaded late on Tuesday."""
    facts = {"pickup_window": LATE_PICKUP, **facts}
    return a_shipment(version, subject=case.subject, **facts), QUOTE


def opened(cast: Cast) -> Handover:
    """Tuesday 07:40: the handover to the day shift, as it is opened by itself."""
    at_business_time(BEFORE)
    assert open_handovers() == 1
    return find_handover(Handover.objects.get().pk)


def read_again(case: Case, version: int = 43, **facts: Any) -> None:
    """The sources are read."""
    agent_reads(case, morning_of(case, version, **facts))


def sheet(handover: Handover) -> Sheet:
    """The sheet as it stands now."""
    return sheet_of(handover=find_handover(handover.pk), at=business_now())


def row_for(case: Case) -> SheetRow:
    """The case's row as it stands now."""
    return row_of(row_id=HandoverRow.objects.get(case=case).pk, at=business_now())


def looked_at(case: Case) -> SheetRow:
    """The row as a page showed it in the day shift, long enough ago to have been read."""
    if business_now() < AFTER:
        at_business_time(AFTER)
    row = row_for(case)
    move_business_clock(by=READING_TIME)
    return row


def answer(
    row: SheetRow, kind: Kind, by: Person, *, ago: timedelta = READING_TIME, **said: Any
) -> None:
    """Answer the row as shown; urgent ones are read back as they were shown unless said."""
    given = GivenAnswer(
        row_id=row.row_id,
        kind=kind,
        seen=row.seen,
        shown_at=business_now() - ago,
        **{"read_back": {fact.key: fact.shown for fact in row.facts}, **said},
    )
    answer_row(given=given, by=by, at=business_now())


def take_in(case: Case, by: Person) -> None:
    """Let the row refer to what it shows now."""
    row = row_for(case)
    sheets.take_current(row_id=row.row_id, seen=row.seen, by=by, at=business_now())


def hand_over(handover: Handover, by: Person) -> None:
    """Publish the sheet as it stands now."""
    seen = seen_of(sheet(handover))
    sheets.publish(handover_id=handover.pk, seen=seen, by=by, at=business_now())


def sign(handover: Handover, by: Person) -> str:
    """Sign the sheet as it stands now."""
    seen = seen_of(sheet(handover))
    return sheets.sign(handover_id=handover.pk, seen=seen, by=by, at=business_now())

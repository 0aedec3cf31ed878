"""P27: two receivers, a signature and a refresh at once; a case never has two owners or none."""

import time
from collections.abc import Mapping, Sequence
from functools import partial

import pytest

from cases.actions import sheets
from cases.actions.lines import NewLine, write_line
from cases.clock import business_now
from cases.models import AuditEvent, Case, RowAnswer
from cases.queries import handover as handover_queries
from cases.queries.handover_parts import Parts, parts_of
from cases.queries.handover_seen import seen_of
from cases.vocabulary.errors import Conflict
from tests.cases.builders import Cast, audit_of
from tests.cases.mornings import (
    Kind,
    a_night_case,
    answer,
    hand_over,
    looked_at,
    opened,
    read_again,
    sheet,
    take_in,
)
from tests.races.together import together


def a_fresh_row(cast: Cast, subject: str) -> Case:
    """A case that can be accepted."""
    case = Case.objects.get(subject=subject)
    read_again(case)
    take_in(case, cast.lead)
    return case


def test_p27_of_two_receivers_of_one_row_one_gets_it_and_the_other_is_told(cast: Cast) -> None:
    subjects = [f"S-{number}" for number in range(400, 405)]
    for subject in subjects:
        a_night_case(cast, subject)
    opened(cast)
    for subject in subjects:
        case = a_fresh_row(cast, subject)
        row = looked_at(case)
        results = together(
            [partial(answer, row, Kind.ACCEPT, person) for person in (cast.colleague, cast.lead)]
        )
        lost = [result for result in results if result is not None]
        assert len(lost) == 1 and isinstance(lost[0], Conflict), results
        given = RowAnswer.objects.get(row=row.row_id)
        case.refresh_from_db()
        assert case.owner == given.to
        moved = [
            e
            for e in audit_of(case)
            if e.event == "owner_changed" and "handover" in e.data["reason"]
        ]
        assert len(moved) == 1


def test_p27_an_answer_and_the_signature_at_once_leave_a_sheet_that_agrees(cast: Cast) -> None:
    """Either the answer is on the signed sheet, or it came too late and was refused."""
    a_night_case(cast)
    handover = opened(cast)
    case = a_fresh_row(cast, "S-318")
    hand_over(handover, cast.owner)
    answer(looked_at(case), Kind.REFUSE, cast.colleague, reason="Not ours.")
    row, seen = looked_at(case), seen_of(sheet(handover))
    sign = partial(sheets.sign, handover_id=handover.pk, seen=seen, by=cast.lead, at=business_now())
    signed, answered = together([sign, partial(answer, row, Kind.ACCEPT, cast.colleague)])
    handover.refresh_from_db()
    case.refresh_from_db()
    if handover.signed_at is None:
        assert isinstance(signed, Conflict) and answered is None
        assert case.owner == cast.colleague
        return
    assert isinstance(answered, Conflict)
    assert handover.snapshot is not None
    kept = [kept for part in handover.snapshot["sections"] for kept in part["rows"]]
    assert kept[0]["answer"]["label"] == "Refused"
    assert case.owner == cast.owner


def test_p26_no_case_changes_while_the_sheet_that_lists_it_is_signed(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sheet is read in several statements; what is written meanwhile comes after it."""
    a_night_case(cast)
    handover = opened(cast)
    case = a_fresh_row(cast, "S-318")
    hand_over(handover, cast.owner)
    answer(looked_at(case), Kind.REFUSE, cast.colleague, reason="Not ours.")
    seen = seen_of(sheet(handover))

    def slowly(ids: Sequence[int]) -> Mapping[int, Parts]:
        found = parts_of(ids)
        time.sleep(1)
        return found

    def write() -> None:
        time.sleep(0.5)
        line = NewLine(sort="do_not", text="Do not call the driver.")
        write_line(case_id=case.pk, line=line, by=cast.owner, at=business_now())

    monkeypatch.setattr(handover_queries, "parts_of", slowly)
    sign = partial(sheets.sign, handover_id=handover.pk, seen=seen, by=cast.lead, at=business_now())
    results = together([sign, write])
    assert not any(isinstance(result, Exception) for result in results), results
    order = AuditEvent.objects.filter(event__in=("handover_signed", "line_written")).order_by("id")
    assert [event.event for event in order] == ["handover_signed", "line_written"]

"""P26: who signs a sheet, from when on, and what the signature is bound to and keeps."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.db import DatabaseError, transaction

from cases.actions import goals, sheets
from cases.actions.conditions import NewCondition, open_condition
from cases.actions.lines import NewLine, end_line, write_line
from cases.clock import business_now
from cases.models import (
    AuditEvent,
    Case,
    CaseLine,
    Handover,
    HandoverRow,
    Person,
    Role,
    RowAnswer,
)
from cases.queries.handover import find_handover, roster_for
from cases.queries.handover_page import controls_on
from cases.queries.handover_seen import seen_of
from cases.queries.handover_snapshot import changed_since_signing, is_intact
from cases.vocabulary.errors import Conflict, Refused, RowOvertaken
from cases.vocabulary.rosters import Position
from cases.vocabulary.shifts import WallTime
from tests.cases.builders import MORNING, TWO_O_CLOCK, Cast, at_business_time
from tests.cases.duties import stands
from tests.cases.mornings import (
    AFTER,
    BEFORE,
    Kind,
    a_night_case,
    a_roster,
    answer,
    hand_over,
    looked_at,
    opened,
    read_again,
    sheet,
    sign,
    take_in,
)

MINUTE = timedelta(minutes=1)


@pytest.fixture
def signed(cast: Cast) -> Handover:
    """Two rows, one accepted and one refused; Priya signed."""
    a_roster(cast)
    cases = [a_night_case(cast, subject) for subject in ("S-318", "S-319")]
    handover = opened(cast)
    for case in cases:
        read_again(case)
    hand_over(handover, cast.owner)
    answer(looked_at(cases[0]), Kind.ACCEPT, cast.colleague)
    is_refused(handover, cast.lead, "Still without an answer: S-319")
    answer(looked_at(cases[1]), Kind.REFUSE, cast.colleague, reason="The carrier is unknown to us.")
    sign(handover, cast.lead)
    return find_handover(handover.pk)


def is_refused(handover: Handover, by: Person, words: str) -> None:
    """Signing what stands there now does not count, and the page would say the same."""
    with pytest.raises((Conflict, Refused), match=words) as refused:
        sign(handover, by)
    assert find_handover(handover.pk).signed_by == handover.signed_by
    told = AuditEvent.objects.filter(case_id=0, event="act_refused").latest("sequence")
    assert (told.actor_name, told.data["reason"]) == (str(by), str(refused.value))


def test_p26_a_signed_sheet_is_kept_with_both_names_under_a_digest(signed: Handover) -> None:
    assert (signed.published_by, signed.signed_by) == ("Marta Ortega", "Priya Raman")
    assert is_intact(signed)
    assert signed.snapshot is not None
    rows = [row for part in signed.snapshot["sections"] for row in part["rows"]]
    assert {row["subject"]: row["answer"]["label"] for row in rows} == {
        "S-318": "Accepted",
        "S-319": "Refused",
    }
    told = AuditEvent.objects.get(case_id=0, event="handover_signed")
    assert told.data["digest"] == signed.digest
    signed.snapshot["sections"][3]["rows"][0]["owner"] = "Somebody Else"
    assert not is_intact(signed)


def test_p26_nothing_on_a_signed_sheet_changes_any_more(cast: Cast, signed: Handover) -> None:
    row = HandoverRow.objects.get(case__subject="S-319")
    with pytest.raises(Conflict, match="Priya Raman signed this sheet"):
        answer(looked_at(row.case), Kind.ACCEPT, cast.colleague)
    with pytest.raises(Conflict, match="signed this sheet"):
        sheets.write_note(row_id=row.pk, text="x", seen="", by=cast.owner, at=business_now())
    is_refused(signed, cast.lead, "signed this sheet")


def test_p26_the_database_refuses_to_edit_a_signed_sheet(cast: Cast, signed: Handover) -> None:
    row = HandoverRow.objects.get(case__subject="S-319")
    edits = (
        lambda: Handover.objects.filter(pk=signed.pk).update(signed_by="Somebody Else"),
        lambda: Handover.objects.filter(pk=signed.pk).delete(),
        lambda: HandoverRow.objects.filter(pk=row.pk).update(note="After the fact"),
        lambda: RowAnswer.objects.filter(row=row).update(reason="After the fact"),
        lambda: RowAnswer.objects.create(
            row=row, kind="accept", by=cast.lead, by_name="Priya", at=business_now()
        ),
    )
    for edit in edits:
        with pytest.raises(DatabaseError), transaction.atomic():
            edit()
    assert is_intact(find_handover(signed.pk))


def test_p26_rows_that_changed_since_signing_are_counted_with_the_difference(
    cast: Cast, signed: Handover
) -> None:
    assert changed_since_signing(handover=signed, now=sheet(signed)) == {}
    case = Case.objects.get(subject="S-318")
    read_again(case, 45, delivery_window=TWO_O_CLOCK)
    changed = changed_since_signing(handover=signed, now=sheet(signed))
    assert [what for what, _, _ in changed[HandoverRow.objects.get(case=case).pk]] == [
        "Proposal",
        "Delivery window",
    ]


@pytest.fixture
def ready(cast: Cast) -> Handover:
    """08:01: one row, accepted by Dana; nobody has published the sheet."""
    a_roster(cast)
    case = a_night_case(cast)
    handover = opened(cast)
    due_at(case, cast, hour=16)
    read_again(case)
    take_in(case, cast.owner)
    answer(looked_at(case), Kind.ACCEPT, cast.colleague)
    return handover


def due_at(case: Case, cast: Cast, *, hour: int) -> None:
    """The customer is to be called by then on Tuesday."""
    due = WallTime(wall=MORNING.replace(tzinfo=None, hour=hour), zone="America/Chicago")
    line = NewLine(sort="next_step", text="Call the customer", due=due)
    write_line(case_id=case.pk, line=line, by=cast.owner, at=business_now())


def test_p26_leads_or_the_incoming_primary_sign_but_nobody_their_own(
    cast: Cast, ready: Handover
) -> None:
    hand_over(ready, cast.lead)
    is_refused(ready, cast.owner, "A lead or the primary of the incoming shift")
    is_refused(ready, cast.lead, "You handed this desk over")
    sign(ready, cast.colleague)
    assert find_handover(ready.pk).incoming == cast.colleague


def test_p26_what_nobody_handed_over_is_not_signed(cast: Cast, ready: Handover) -> None:
    is_refused(ready, cast.lead, "Ask the outgoing shift to publish it")
    hand_over(ready, cast.owner)
    sign(ready, cast.lead)


def test_p26_nobody_signs_before_the_next_shift_begins(cast: Cast, ready: Handover) -> None:
    hand_over(ready, cast.owner)
    at_business_time(MORNING - MINUTE)
    is_refused(ready, cast.colleague, "begins Tue 24 Nov 08:00 CST. Sign from then on")
    at_business_time(MORNING)
    sign(ready, cast.colleague)


def test_p26_the_shift_that_leaves_does_not_sign_what_another_of_it_handed_over(
    cast: Cast, ready: Handover
) -> None:
    """Priya leads the desk and stood in the evening."""
    stands(cast, "Evening", Position.LEAD, cast.lead)
    hand_over(ready, cast.owner)
    is_refused(ready, cast.lead, "You stand in the shift that leaves")
    stands(cast, "Day", Position.LEAD, cast.lead)  # and stays
    sign(ready, cast.lead)


def test_p26_a_lead_of_another_desk_does_not_sign(cast: Cast, ready: Handover) -> None:
    stranger = Person.objects.create_user(username="lax", first_name="Lia", role=Role.LEAD)
    hand_over(ready, cast.owner)
    is_refused(ready, stranger, "A lead or the primary of the incoming shift")


@pytest.mark.parametrize("moment", [BEFORE, AFTER])
@pytest.mark.parametrize("is_published", [False, True])
def test_p26_the_page_refuses_a_signature_with_the_words_of_the_record(
    cast: Cast, ready: Handover, moment: datetime, is_published: bool
) -> None:
    if is_published:
        hand_over(ready, cast.owner)
    for person in (cast.owner, cast.auditor, cast.lead):
        at_business_time(moment)
        handover = find_handover(ready.pk)
        says = controls_on(
            handover=handover,
            sheet=sheet(handover),
            person=person,
            roster=roster_for(handover, at=business_now()),
            present=None,
        ).sign
        if says:
            is_refused(ready, person, says)
        else:
            sign(ready, person)
    assert (find_handover(ready.pk).signed_by == "Priya Raman") == (
        is_published and moment == AFTER
    )


def a_condition(cast: Cast, case: Case) -> None:
    """Carriers stop, and releases with them."""
    wanted = NewCondition(
        sort="other", title="Carrier embargo", desk=cast.desk, blocks_releases=True
    )
    open_condition(wanted=wanted, by=cast.lead, at=business_now())


def another_due_time(cast: Cast, case: Case) -> None:
    """The customer is to be called at eleven instead."""
    line = CaseLine.objects.get(case=case)
    end_line(case_id=case.pk, line_id=line.pk, by=cast.owner, at=business_now())
    due_at(case, cast, hour=11)


def another_party(cast: Cast, case: Case) -> None:
    """Something is promised to somebody."""
    line = NewLine(sort="promise", text="Call the customer", party="Harbor Foods")
    write_line(case_id=case.pk, line=line, by=cast.owner, at=business_now())


def less_time(cast: Cast, case: Case) -> None:
    """It is to be decided sooner."""
    Case.objects.filter(pk=case.pk).update(decide_by=MORNING + 307 * MINUTE)


def a_goal(cast: Cast, case: Case) -> None:
    """Somebody adds what no action does."""
    goals.add_goal(case_id=case.pk, label="Tell the dock", by=cast.owner, at=business_now())


type Moves = Callable[[Cast, Case], None]
OF_A_ROW: dict[Moves, str] = {
    another_due_time: "Written down",
    another_party: "Written down",
    less_time: "Proposal",
    a_goal: "No action for",
}


@pytest.mark.parametrize("moves", [a_condition, *OF_A_ROW])
def test_p26_a_signature_covers_everything_that_stood_on_the_sheet(
    cast: Cast, ready: Handover, moves: Moves
) -> None:
    hand_over(ready, cast.owner)
    seen = seen_of(sheet(ready))
    moves(cast, Case.objects.get())
    with pytest.raises(RowOvertaken, match="Look at what changed, then sign") as moved:
        sheets.sign(handover_id=ready.pk, seen=seen, by=cast.lead, at=business_now())
    (what, _, now), *others = moved.value.differences
    assert not others
    assert what == ("Standing conditions" if moves is a_condition else "S-318")
    assert ("Carrier embargo, Releases are stopped" in now) == (moves is a_condition)
    assert find_handover(ready.pk).signed_at is None
    sign(ready, cast.lead)


@pytest.mark.parametrize("moves", OF_A_ROW)
def test_p27_an_answer_covers_everything_that_stood_in_the_row(
    cast: Cast, ready: Handover, moves: Moves
) -> None:
    case = Case.objects.get()
    row = looked_at(case)
    moves(cast, case)
    with pytest.raises(RowOvertaken) as moved:
        answer(row, Kind.REFUSE, cast.lead, reason="Not ours.")
    assert [what for what, _, _ in moved.value.differences] == [OF_A_ROW[moves]]


def test_p26_publishing_and_repairing_count_only_for_what_was_seen(
    cast: Cast, ready: Handover
) -> None:
    case = Case.objects.get()
    row, seen = looked_at(case), seen_of(sheet(ready))
    read_again(case, 44, delivery_window=TWO_O_CLOCK)
    with pytest.raises(RowOvertaken, match="then publish") as moved:
        sheets.publish(handover_id=ready.pk, seen=seen, by=cast.owner, at=business_now())
    assert "14:00–16:00 EST" in moved.value.differences[0][2]
    with pytest.raises(RowOvertaken, match="S-318 changed since you looked"):
        sheets.take_current(row_id=row.row_id, seen=row.seen, by=cast.owner, at=business_now())
    assert find_handover(ready.pk).published_at is None
    take_in(case, cast.owner)
    hand_over(ready, cast.owner)

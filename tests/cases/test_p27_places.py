"""P27: who may do what on a sheet: the two shifts it lies between, and the lead of the desk."""

from collections.abc import Callable
from datetime import date

import pytest

from cases.actions import people, sheets
from cases.clock import business_now
from cases.models import AuditEvent, Case, Handover, HandoverRow, Person, Role, RowAnswer
from cases.queries.handover import find_handover, roster_for
from cases.queries.handover_page import SheetControls, controls_on
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.errors import Refused
from cases.vocabulary.rosters import Position
from tests.cases.builders import Cast, an_open_case, audit_of
from tests.cases.duties import stands
from tests.cases.mornings import (
    Kind,
    a_night_case,
    a_roster,
    answer,
    hand_over,
    looked_at,
    opened,
    read_again,
    row_for,
    sheet,
    sign,
    take_in,
)

OF_THE_INCOMING = (Kind.ACCEPT, Kind.ASSIGN, Kind.REFUSE)
OF_BOTH = (Kind.ESCALATE, Kind.QUESTION)


@pytest.fixture
def case(cast: Cast) -> Case:
    """Tuesday 07:40: Marta's case is on the sheet for Dana, and was read for it."""
    a_roster(cast)
    case = a_night_case(cast)
    opened(cast)
    read_again(case)
    take_in(case, cast.owner)
    return case


@pytest.fixture
def stranger() -> Person:
    """An operator who stands in neither shift."""
    return Person.objects.create_user(username="lia", first_name="Lia", role=Role.OPERATOR)


def say(case: Case, kind: Kind, by: Person, cast: Cast) -> None:
    """Give the row that answer, with whatever it needs."""
    answer(looked_at(case), kind, by, to=cast.colleague, reason="Bo knows.")


def controls(person: Person) -> SheetControls:
    """What the page offers that person."""
    handover = find_handover(Handover.objects.get().pk)
    roster = roster_for(handover, at=business_now())
    shown = sheet(handover)
    return controls_on(handover=handover, sheet=shown, person=person, roster=roster, present=None)


@pytest.mark.parametrize("kind", Kind)
def test_p27_who_stands_in_neither_shift_answers_nothing_and_the_try_is_kept(
    cast: Cast, case: Case, stranger: Person, kind: Kind
) -> None:
    with pytest.raises(Refused, match="Lia stands in neither of the two shifts") as refused:
        say(case, kind, stranger, cast)
    told = audit_of(case)[-1]
    assert (told.event, told.actor_name) == ("act_refused", "Lia")
    assert told.data["reason"] == str(refused.value) == controls(stranger).answer
    assert not RowAnswer.objects.exists()


@pytest.mark.parametrize("kind", OF_THE_INCOMING)
def test_p27_the_outgoing_shift_neither_takes_over_nor_gives_away_nor_refuses(
    cast: Cast, case: Case, kind: Kind
) -> None:
    with pytest.raises(Refused, match="The incoming shift accepts, assigns or refuses") as refused:
        say(case, kind, cast.owner, cast)
    assert controls(cast.owner).take == str(refused.value)
    assert controls(cast.owner).answer == ""
    assert not RowAnswer.objects.exists()


@pytest.mark.parametrize("kind", OF_BOTH)
def test_p27_both_shifts_ask_and_escalate(cast: Cast, case: Case, kind: Kind) -> None:
    say(case, kind, cast.owner, cast)
    assert RowAnswer.objects.get().by == cast.owner


@pytest.mark.parametrize("kind", [*OF_THE_INCOMING, *OF_BOTH])
def test_p27_the_incoming_shift_the_lead_and_the_manager_give_any_answer(
    cast: Cast, case: Case, stranger: Person, kind: Kind
) -> None:
    cast.desk.manager = stranger
    cast.desk.save()
    for number, person in enumerate((cast.colleague, cast.lead, stranger), start=1):
        assert controls(person).take == ""
        say(case, kind, person, cast)
        case.escalations.update(ended_at=business_now(), ended_reason="Settled.")
        assert RowAnswer.objects.count() == number


def test_p27_whoever_is_put_on_watch_for_the_day_has_a_place(
    cast: Cast, case: Case, stranger: Person
) -> None:
    stands(cast, "Day", Position.BACKUP, stranger, first=date(2026, 11, 24))
    say(case, Kind.ACCEPT, stranger, cast)
    case.refresh_from_db()
    assert case.owner == stranger


def test_p27_a_desk_without_a_roster_takes_everybody_for_both_shifts(
    cast: Cast, stranger: Person
) -> None:
    case = a_night_case(cast)
    opened(cast)
    read_again(case)
    take_in(case, stranger)
    say(case, Kind.ACCEPT, stranger, cast)
    case.refresh_from_db()
    assert case.owner == stranger


def a_note(case: Case, by: Person) -> None:
    """Leave one."""
    row = row_for(case)
    sheets.write_note(row_id=row.row_id, text="Ask Bo.", seen="", by=by, at=business_now())


def more_rows(case: Case, by: Person) -> None:
    """Put a new case on the sheet."""
    handover = Handover.objects.get()
    sheets.add_missing_rows(handover_id=handover.pk, by=by, at=business_now())


def publication(case: Case, by: Person) -> None:
    """Hand it over."""
    hand_over(Handover.objects.get(), by)


def signature(case: Case, by: Person) -> None:
    """Take the desk over."""
    sign(Handover.objects.get(), by)


@pytest.mark.parametrize("act", [a_note, take_in, more_rows, publication, signature])
def test_p27_who_has_no_place_keeps_nothing_on_the_sheet(
    cast: Cast, case: Case, stranger: Person, act: Callable[[Case, Person], None]
) -> None:
    an_open_case(cast, subject="S-999")
    before = list(HandoverRow.objects.values()), list(Handover.objects.values())
    for person in (stranger, cast.auditor, cast.admin):
        with pytest.raises(Refused) as refused:
            act(case, person)
        told = AuditEvent.objects.filter(event="act_refused").latest("id")
        assert (told.actor_name, told.data["reason"]) == (str(person), str(refused.value))
    assert (list(HandoverRow.objects.values()), list(Handover.objects.values())) == before


def test_p27_the_lead_of_another_desk_publishes_nothing_here(cast: Cast, case: Case) -> None:
    other = Person.objects.create_user(username="lax", first_name="Lou", role=Role.LEAD)
    at = business_now()
    people.set_up_desk(name="LAX desk", zone="UTC", lead=other, by=SYSTEM, at=at)
    with pytest.raises(Refused, match="Somebody of the outgoing shift publishes"):
        publication(case, other)


def test_p27_who_put_cases_on_the_sheet_is_in_the_audit(cast: Cast, case: Case) -> None:
    an_open_case(cast, subject="S-999")
    more_rows(case, cast.colleague)
    more_rows(case, cast.colleague)  # there is no more
    told = AuditEvent.objects.get(case_id=0, event="handover_rows_added")
    assert (told.actor_name, told.data["cases"]) == ("Dana Wu", 1)
    assert sheet(Handover.objects.get()).missing == 0

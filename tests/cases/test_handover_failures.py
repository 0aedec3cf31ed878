"""How handovers fail elsewhere, each shown not to happen here (domain.md, shift handover)."""

from datetime import timedelta

import pytest
from django.db import DatabaseError, transaction

from cases.actions import lapses, sheets
from cases.actions.clock import move_business_clock
from cases.actions.conditions import NewCondition, close_condition, open_condition
from cases.actions.handovers import open_handovers
from cases.clock import business_now
from cases.models import Case, Escalation, Handover, HandoverRow, Person, RowAnswer
from cases.queries.handover import find_handover
from cases.queries.handover_snapshot import is_intact
from cases.vocabulary.errors import Conflict, ReadBackDiffers, RowOvertaken
from cases.vocabulary.handover_sheet import QUICKEST_READING
from tests.cases.builders import (
    EVENING_WORLD,
    MORNING,
    TWO_O_CLOCK,
    Cast,
    a_grant,
    a_quote,
    a_released_case,
    a_shipment,
    agent_starts_attempt,
    at_business_time,
    target_answers,
    target_shows,
)
from tests.cases.doubts import a_case_in_doubt
from tests.cases.mornings import (
    BEFORE,
    Kind,
    a_night_case,
    a_roster,
    answer,
    hand_over,
    looked_at,
    opened,
    read_again,
    read_in_the_morning,
    row_for,
    sheet,
    sign,
    take_in,
)

MINUTE = timedelta(minutes=1)
THREE_SECONDS = timedelta(seconds=3)


@pytest.fixture
def case(cast: Cast) -> Case:
    """Tuesday 07:40: Marta's case is on the sheet for Dana, and was read for it."""
    _, (case,) = read_in_the_morning(cast, "S-318")
    return case


def owner_of(case: Case) -> Person | None:
    """Who answers for it now."""
    case.refresh_from_db()
    return case.owner


def called_for(case: Case) -> list[Person]:
    """Who is called for it now."""
    running = Escalation.objects.filter(case=case, ended_at=None)
    return [escalation.to for escalation in running]


def test_handover_unowned_gap_there_is_an_owner_at_every_moment_and_a_call_once_they_left(
    cast: Cast, case: Case
) -> None:
    for minutes in (-10, -1, 0, 1, 5, 20, 40, 90):
        at_business_time(MORNING + minutes * MINUTE)
        lapses.keep_owned()
        assert owner_of(case) == cast.owner
        assert bool(called_for(case)) == (minutes >= 0), minutes
    answer(looked_at(case), Kind.ACCEPT, cast.colleague)
    assert (owner_of(case), called_for(case)) == (cast.colleague, [])


def test_handover_double_owner_the_second_to_accept_is_told_who_has_it(
    cast: Cast, case: Case
) -> None:
    shown = looked_at(case)
    answer(shown, Kind.ACCEPT, cast.colleague)
    with pytest.raises(RowOvertaken) as told:
        answer(shown, Kind.ASSIGN, cast.lead, to=cast.lead)
    assert ("Owner", "Marta Ortega", "Dana Wu") in told.value.differences
    assert owner_of(case) == cast.colleague
    assert RowAnswer.objects.filter(kind__in=(Kind.ACCEPT, Kind.ASSIGN)).count() == 1


@pytest.mark.parametrize("is_urgent", [False, True])
def test_handover_stale_fact_accepted_what_moved_after_the_look_is_refused(
    cast: Cast, case: Case, is_urgent: bool
) -> None:
    """Whether the row has to be read back or not."""
    if is_urgent:
        Case.objects.filter(pk=case.pk).update(decide_by=MORNING + 40 * MINUTE)
    shown = looked_at(case)
    assert shown.must_read_back == is_urgent
    read_again(case, 44, delivery_window=TWO_O_CLOCK)
    with pytest.raises((RowOvertaken, ReadBackDiffers)) as refused:
        answer(shown, Kind.ACCEPT, cast.colleague)
    assert "Delivery window" in [what for what, _, _ in refused.value.differences]
    assert owner_of(case) == cast.owner


def test_handover_unlogged_promise_what_our_message_promised_is_on_the_sheet(cast: Cast) -> None:
    """Nobody wrote it down."""
    a_roster(cast)
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    target_answers(grant, order)
    target_shows(grant, order, state="confirmed")
    ours = {"code": "BLUX", "name": "BLUX Lines", "set_by": "watchbill-agent"}
    booked = (a_shipment(42, carrier_assignment=ours), a_quote(state="used"))
    grant, message = agent_starts_attempt(case, booked, position=2)
    assert message is not None
    target_answers(grant, message)
    target_shows(grant, message, state="delivered")
    opened(cast)
    (promise,) = row_for(case).lines["promise"]
    assert (promise.party, promise.by) == ("receiving@harborfoods.example", "Watchbill")
    assert promise.text.startswith("delivery Wed 25 Nov 10:00–12:00 EST (our message ")
    assert promise.text.endswith(", delivered)")


def test_handover_forgotten_override_is_on_every_sheet_until_somebody_closes_it(
    cast: Cast,
) -> None:
    a_roster(cast)
    a_night_case(cast)
    override = open_condition(
        wanted=NewCondition(sort="override", title="Rates typed by hand", desk=cast.desk),
        by=cast.lead,
        at=business_now(),
    )
    for shifts_later in range(4):
        at_business_time(BEFORE + shifts_later * timedelta(hours=24))
        assert open_handovers() >= 1
        newest = Handover.objects.latest("boundary")
        assert [notice.title for notice in sheet(newest).notices] == ["Rates typed by hand"]
    close_condition(
        condition_id=override.pk, reason="The feed is back.", by=cast.lead, at=business_now()
    )
    move_business_clock(by=MINUTE)
    assert sheet(newest).notices == ()


@pytest.mark.parametrize("is_answered", [False, True])
def test_handover_attempt_taken_for_effect_neither_sent_nor_answered_is_done(
    cast: Cast, is_answered: bool
) -> None:
    """The call timed out, or was answered and never seen in the target; accepting settles none."""
    a_roster(cast)
    if is_answered:
        case = a_released_case(cast)
        grant, order = agent_starts_attempt(case, EVENING_WORLD)
        assert order is not None
        target_answers(grant, order)
    else:
        case, grant, order = a_case_in_doubt(cast)
    opened(cast)
    Case.objects.filter(pk=case.pk).update(refreshed_at=business_now())
    row = looked_at(case)
    assert row.section == ("under_way" if is_answered else "unknown_outcome")
    assert len(row.attempts) == (0 if is_answered else 1)
    answer(row, Kind.ACCEPT, cast.colleague, as_blocked=row.only_as_blocked)
    again = row_for(case)
    assert (again.section, again.owner) == (row.section, "Dana Wu")
    target_shows(a_grant(case), order, state="confirmed")
    assert row_for(case).section != "unknown_outcome"


def test_handover_long_unranked_list_comes_by_danger_and_then_by_what_runs_out(
    cast: Cast,
) -> None:
    a_roster(cast)
    cases = [a_night_case(cast, f"S-4{number:02}") for number in range(8)]
    handover = opened(cast)
    for case, hours in zip(cases, (9, 2, 7, 1, 8, 3, 6, 4), strict=True):
        read_again(case)
        Case.objects.filter(pk=case.pk).update(decide_by=business_now() + timedelta(hours=hours))
    Case.objects.filter(subject="S-400").update(owner=None)
    Case.objects.filter(subject="S-404").update(refreshed_at=None)
    rows = [row for section in sheet(handover).sections for row in section.rows]
    assert [row.subject for row in rows] == [
        *("S-400", "S-404"),
        *("S-403", "S-401", "S-405", "S-407", "S-406", "S-402"),
    ]
    assert [row.section for row in rows[:3]] == ["no_owner", "not_refreshed", "stale"]
    assert (rows[0].condition, rows[-1].condition) == ("urgent", "watch")


def test_handover_sheet_edited_after_signature_is_refused_and_would_be_seen(
    cast: Cast, case: Case
) -> None:
    handover = Handover.objects.get()
    hand_over(handover, cast.owner)
    answer(looked_at(case), Kind.ACCEPT, cast.colleague)
    sign(handover, cast.lead)
    row = HandoverRow.objects.get()
    with pytest.raises(Conflict, match="Priya Raman signed this sheet"):
        sheets.write_note(row_id=row.pk, text="Late", seen="", by=cast.owner, at=business_now())
    with pytest.raises(DatabaseError), transaction.atomic():
        HandoverRow.objects.filter(pk=row.pk).update(note="Late")
    signed = find_handover(handover.pk)
    assert is_intact(signed)
    assert signed.snapshot is not None
    signed.snapshot["sections"][0]["label"] = "Nothing to see here"
    assert not is_intact(signed)


def test_handover_acceptance_without_reading_all_within_three_seconds_does_not_count(
    cast: Cast,
) -> None:
    """Neither all at once, nor one after the other faster than they can be read."""
    a_roster(cast)
    cases = [a_night_case(cast, f"S-40{number}") for number in range(3)]
    opened(cast)
    at_business_time(MORNING + MINUTE)
    for case in cases:
        read_again(case)
        take_in(case, cast.owner)
    rows = [row_for(case) for case in cases]
    shown_at = business_now()
    for row in rows:
        with pytest.raises(Conflict, match="Nobody reads a case that fast"):
            answer(row, Kind.ACCEPT, cast.colleague, ago=business_now() - shown_at)
    move_business_clock(by=THREE_SECONDS)
    answer(rows[0], Kind.ACCEPT, cast.colleague, ago=THREE_SECONDS)
    with pytest.raises(Conflict, match="Nobody reads a case that fast"):
        answer(rows[1], Kind.ACCEPT, cast.colleague, ago=THREE_SECONDS)
    assert RowAnswer.objects.count() == 1
    assert QUICKEST_READING == THREE_SECONDS


def test_handover_receiver_absent_the_lead_is_called_after_15_minutes_the_manager_after_30(
    cast: Cast, case: Case
) -> None:
    manager = Person.objects.create_user(username="ruth", first_name="Ruth", role="lead")
    cast.desk.manager = manager
    cast.desk.save()
    at_business_time(MORNING)
    lapses.keep_owned()
    for minutes, person in ((14, cast.colleague), (16, cast.lead), (29, cast.lead), (32, manager)):
        at_business_time(MORNING + minutes * MINUTE)
        lapses.keep_owned()
        assert called_for(case) == [person], minutes
        assert owner_of(case) == cast.owner

"""P27: ownership moves per row, when it is accepted; urgent rows are read back as they are now."""

from datetime import timedelta

import pytest

from cases.actions import lapses
from cases.actions.clock import move_business_clock
from cases.actions.closing import close_without_action
from cases.actions.conditions import NewCondition, open_condition
from cases.clock import business_now
from cases.models import AuditEvent, Case, Escalation, HandoverRow, Person, RowAnswer, SourceRecord
from cases.vocabulary.errors import Conflict, InvalidInput, ReadBackDiffers, Refused, RowOvertaken
from cases.vocabulary.handover_sheet import QUICKEST_READING
from tests.cases.builders import (
    MORNING,
    TWO_O_CLOCK,
    Cast,
    a_shipment,
    agent_reads,
    at_business_time,
    audit_of,
    unreadable,
)
from tests.cases.mornings import (
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
    take_in,
)


@pytest.fixture
def case(cast: Cast) -> Case:
    """Tuesday 07:40: Marta's case is on the sheet for Dana, and was read for it."""
    _, (case,) = read_in_the_morning(cast, "S-318")
    return case


def owner_of(case: Case) -> Person | None:
    """Who answers for it now."""
    case.refresh_from_db()
    return case.owner


def make_urgent(case: Case) -> None:
    """Its time to be decided ends within an hour of the morning."""
    Case.objects.filter(pk=case.pk).update(decide_by=MORNING + timedelta(minutes=45))


def test_p27_ownership_moves_when_the_row_is_accepted_and_not_before(
    cast: Cast, case: Case
) -> None:
    row = looked_at(case)
    assert owner_of(case) == cast.owner
    answer(row, Kind.ACCEPT, cast.colleague)
    assert owner_of(case) == cast.colleague
    moved = [event for event in audit_of(case) if event.event == "owner_changed"][-1]
    given = RowAnswer.objects.get()
    assert (moved.at, moved.data["to"], moved.data["before"]) == (
        given.at,
        "Dana Wu",
        "Marta Ortega",
    )
    assert (given.to, given.by) == (cast.colleague, cast.colleague)


def test_p27_a_row_can_be_assigned_to_somebody_of_the_incoming_shift(
    cast: Cast, case: Case
) -> None:
    answer(looked_at(case), Kind.ASSIGN, cast.lead, to=cast.colleague)
    assert owner_of(case) == cast.colleague
    assert RowAnswer.objects.get().to == cast.colleague


@pytest.mark.parametrize("kind", [Kind.ACCEPT, Kind.ASSIGN])
def test_p27_nobody_gets_a_case_who_is_not_there_now_and_in_the_next_shift(
    cast: Cast, case: Case, kind: Kind
) -> None:
    """At 07:40 Dana has not come yet, and Marta will be gone at 08:00."""
    early = row_for(case)
    move_business_clock(by=timedelta(minutes=1))
    with pytest.raises(Conflict, match="Dana Wu is off shift. Somebody who is there"):
        answer(early, kind, cast.colleague, to=cast.colleague)
    with pytest.raises(Conflict, match="Marta Ortega is off shift when the next shift begins"):
        answer(early, Kind.ASSIGN, cast.lead, to=cast.owner)
    with pytest.raises(Conflict, match="Marta Ortega is off shift"):
        answer(looked_at(case), Kind.ASSIGN, cast.lead, to=cast.owner)
    assert not RowAnswer.objects.exists()


@pytest.mark.parametrize("kind", [Kind.ESCALATE, Kind.QUESTION, Kind.REFUSE])
def test_p27_whoever_asks_escalates_or_refuses_says_why_and_the_owner_stays(
    cast: Cast, case: Case, kind: Kind
) -> None:
    row = looked_at(case)
    with pytest.raises(InvalidInput):
        answer(row, kind, cast.colleague, reason="  ")
    answer(row, kind, cast.colleague, reason="Who called the customer?")
    assert owner_of(case) == cast.owner
    assert RowAnswer.objects.get().reason == "Who called the customer?"
    assert Escalation.objects.filter(case=case).exists() == (kind is Kind.ESCALATE)


def test_p27_auditors_and_admins_accept_nothing_and_the_try_is_kept(cast: Cast, case: Case) -> None:
    for person in (cast.auditor, cast.admin):
        with pytest.raises(Refused):
            answer(looked_at(case), Kind.ACCEPT, person)
        assert audit_of(case)[-1].event == "act_refused"
    assert owner_of(case) == cast.owner


def test_p27_an_urgent_row_is_read_back_or_stays_where_it_is(cast: Cast, case: Case) -> None:
    make_urgent(case)
    row = looked_at(case)
    assert row.must_read_back
    for wrong in ({}, {"delivery_window": "Wed 25 Nov 10:00–12:00 EST", "carrier_assignment": "x"}):
        with pytest.raises(ReadBackDiffers):
            answer(row, Kind.ACCEPT, cast.colleague, read_back=wrong)
    assert owner_of(case) == cast.owner
    typed = {"delivery_window": " wed 25 nov 10:00-12:00 est", "carrier_assignment": "None"}
    answer(row, Kind.ACCEPT, cast.colleague, read_back=typed)
    assert owner_of(case) == cast.colleague
    kept = RowAnswer.objects.get().read_back["delivery_window"]
    assert kept == {
        "read_back": " wed 25 nov 10:00-12:00 est",
        "now": "Wed 25 Nov 10:00–12:00 EST",
    }


def test_scenario_11_a_handover_is_refused_row_by_row(cast: Cast) -> None:
    """10:00 was published, the window became 14:00 at 07:52, the receiver reads back 10:00."""
    a_roster(cast)
    at_business_time(MORNING - timedelta(days=4))
    open_condition(
        wanted=NewCondition(sort="other", title="Customer wants phone not mail", desk=cast.desk),
        by=cast.lead,
        at=business_now(),
    )
    moved, others = a_night_case(cast), [a_night_case(cast, f"S-40{n}") for n in range(3)]
    handover = opened(cast)
    for each in (moved, *others):
        read_again(each)
        make_urgent(each)
    hand_over(handover, cast.owner)
    at_business_time(MORNING - timedelta(minutes=9))
    shown = row_for(moved)
    move_business_clock(by=timedelta(minutes=1))
    read_again(moved, 44, delivery_window=TWO_O_CLOCK)
    make_urgent(moved)
    at_business_time(MORNING + timedelta(minutes=1))
    with pytest.raises(ReadBackDiffers, match=r"10:00.*14:00.*changed since published") as refused:
        answer(shown, Kind.ACCEPT, cast.colleague)
    assert [what for what, _, _ in refused.value.differences] == ["Delivery window"]
    assert "read back as “Wed 25 Nov 10:00" in str(audit_of(moved)[-1].data["reason"])
    for other in others:
        answer(looked_at(other), Kind.ACCEPT, cast.colleague)
    assert [owner_of(each) for each in others] == [cast.colleague] * 3
    assert owner_of(moved) == cast.owner
    lapses.keep_owned()
    at_business_time(MORNING + timedelta(minutes=18))
    lapses.keep_owned()
    assert Escalation.objects.get(case=moved, ended_at=None).to == cast.lead
    assert [notice.title for notice in sheet(handover).notices] == ["Customer wants phone not mail"]


def test_p27_what_changed_since_it_was_published_is_taken_in_before_anyone_accepts(
    cast: Cast, case: Case
) -> None:
    read_again(case, 44, delivery_window=TWO_O_CLOCK)
    row = looked_at(case)
    assert any("10:00–12:00 EST → Wed 25 Nov 14:00–16:00 EST" in one.says for one in row.broken)
    with pytest.raises(Conflict, match="Repair the row first"):
        answer(row, Kind.ACCEPT, cast.colleague)
    take_in(case, cast.colleague)
    answer(looked_at(case), Kind.ACCEPT, cast.colleague)
    assert owner_of(case) == cast.colleague


def test_p27_what_was_not_read_is_taken_over_as_blocked_or_not_at_all(
    cast: Cast, case: Case
) -> None:
    agent_reads(case, (unreadable(a_shipment()),))
    row = looked_at(case)
    assert (row.section, row.only_as_blocked) == ("not_refreshed", True)
    with pytest.raises(Conflict, match="not read for this handover"):
        answer(row, Kind.ACCEPT, cast.colleague)
    answer(row, Kind.ACCEPT, cast.colleague, as_blocked=True)
    assert RowAnswer.objects.get().as_blocked
    assert row_for(case).answer is not None


def test_p27_a_case_nobody_read_since_the_sheet_was_opened_is_not_fresh(cast: Cast) -> None:
    a_roster(cast)
    case = a_night_case(cast)
    opened(cast)
    assert row_for(case).only_as_blocked
    read_again(case)
    assert not row_for(case).only_as_blocked
    SourceRecord.objects.update(named_at=business_now())  # the feed tells of a change
    assert row_for(case).only_as_blocked


def test_p27_an_answer_counts_only_for_the_row_that_was_seen(cast: Cast, case: Case) -> None:
    row = looked_at(case)
    answer(row, Kind.REFUSE, cast.lead, reason="Not ours.")
    with pytest.raises(RowOvertaken) as overtaken:
        answer(row, Kind.ACCEPT, cast.colleague)
    assert overtaken.value.differences == (("Answer", "none", "Refused by Priya Raman"),)
    assert owner_of(case) == cast.owner


@pytest.mark.parametrize("kind", [Kind.ACCEPT, Kind.ASSIGN])
def test_p27_nobody_accepts_faster_than_a_person_reads(cast: Cast, case: Case, kind: Kind) -> None:
    row = looked_at(case)
    too_fast = QUICKEST_READING - timedelta(milliseconds=500)
    with pytest.raises(Conflict, match="that fast"):
        answer(row, kind, cast.lead, to=cast.colleague, ago=too_fast)
    assert audit_of(case)[-1].event == "act_refused"
    assert owner_of(case) == cast.owner


def test_p27_many_rows_in_three_seconds_are_not_read(cast: Cast) -> None:
    """All were shown long ago, but nobody reads one and the next at once."""
    _, cases = read_in_the_morning(cast, "S-400", "S-401", "S-402")
    rows = [row_for(case) for case in cases]
    move_business_clock(by=timedelta(minutes=30))
    answer(rows[0], Kind.ACCEPT, cast.colleague, ago=timedelta(minutes=10))
    for row in rows[1:]:
        with pytest.raises(Conflict, match="that fast"):
            answer(row, Kind.ACCEPT, cast.colleague, ago=timedelta(minutes=10))
    move_business_clock(by=QUICKEST_READING)
    answer(rows[1], Kind.ACCEPT, cast.colleague, ago=timedelta(minutes=10))
    assert RowAnswer.objects.count() == 2


def test_p27_a_case_whose_owner_left_for_good_is_repaired_by_accepting_it(
    cast: Cast, case: Case
) -> None:
    Person.objects.filter(pk=cast.owner.pk).update(is_active=False)
    row = looked_at(case)
    assert (row.section, row.condition, row.repairs) == ("no_owner", "urgent", ("owner",))
    answer(row, Kind.ACCEPT, cast.colleague)
    assert row_for(case).broken == ()


def test_p27_a_closed_case_needs_nobody(cast: Cast, case: Case) -> None:
    cancelled = dict.fromkeys(("carrier", "customer_told"), "Customer cancelled.")
    close_without_action(
        case_id=case.pk,
        by=cast.owner,
        at=business_now(),
        reason="Customer cancelled.",
        drops=cancelled,
    )
    row = looked_at(case)
    assert (row.section, row.needs_answer) == ("done", False)
    with pytest.raises(Conflict, match="closed this case"):
        answer(row, Kind.ACCEPT, cast.colleague)


def test_p27_while_the_receiver_is_absent_the_sheet_says_who_is_called_and_when(
    cast: Cast, case: Case
) -> None:
    manager = Person.objects.create_user(username="ruth", first_name="Ruth", role="lead")
    cast.desk.manager = manager
    cast.desk.save()
    found = sheet(HandoverRow.objects.get().handover)
    assert [(call.who, call.at - MORNING) for call in found.calls] == [
        ("Priya Raman", timedelta(minutes=15)),
        ("Ruth", timedelta(minutes=30)),
    ]
    for minutes, person in ((1, cast.colleague), (17, cast.lead), (33, manager)):
        at_business_time(MORNING + timedelta(minutes=minutes))
        lapses.keep_owned()
        call = row_for(case).calls[0]
        assert (call.to, owner_of(case)) == (str(person), cast.owner)


def test_p27_every_answer_is_in_the_audit_with_what_was_read_back(cast: Cast, case: Case) -> None:
    make_urgent(case)
    answer(looked_at(case), Kind.ACCEPT, cast.colleague, reason="Will call Bo.")
    told = AuditEvent.objects.filter(case_id=case.pk, event="handover_answered").get()
    assert told.actor_name == "Dana Wu"
    assert told.data["read_back"] == ["Wed 25 Nov 10:00–12:00 EST", "none"]
    assert told.data["reason"] == "Will call Bo."

"""P26: the sheet lists every open case in its place, and checks what it refers to."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from cases.actions import evidence, runs, sheets
from cases.actions.handovers import add_rows
from cases.actions.lines import NewLine, write_line
from cases.actions.pauses import set_pause
from cases.clock import business_now
from cases.models import AuditEvent, Case, Handover, HandoverRow
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.errors import Conflict, Refused, RowOvertaken
from cases.vocabulary.shifts import WallTime
from tests.cases.builders import (
    AGENT,
    MORNING,
    MORNING_WORLD,
    TWO_O_CLOCK,
    Cast,
    a_case_waiting_for_review,
    a_grant,
    a_shipment,
    agent_reads,
    an_open_case,
    at_business_time,
    audit_of,
    unreadable,
)
from tests.cases.doubts import a_case_in_doubt
from tests.cases.mornings import (
    AFTER,
    Kind,
    a_night_case,
    a_roster,
    answer,
    hand_over,
    looked_at,
    morning_of,
    opened,
    read_again,
    row_for,
    sheet,
    sign,
    take_in,
)


def subjects(handover: Handover) -> dict[str, list[str]]:
    """Section to the subjects in it, empty sections left out."""
    return {
        section.key: [row.subject for row in section.rows]
        for section in sheet(handover).sections
        if section.rows
    }


@pytest.fixture
def night(cast: Cast) -> Handover:
    """07:40 after a night: one case of nearly every section."""
    a_roster(cast)
    doubt, grant, _ = a_case_in_doubt(cast)
    runs.let_go(grant=grant)
    stale = a_case_waiting_for_review(cast, subject="S-319")
    ready, unread, unowned, new = (a_night_case(cast, f"S-32{n}") for n in range(4))
    handover = opened(cast)
    Case.objects.filter(pk=doubt.pk).update(refreshed_at=business_now())
    read_again(stale, 42)
    for case in (ready, unowned, new):
        read_again(case)
    agent_reads(unread, (unreadable(a_shipment(subject="S-321")),))
    Case.objects.filter(pk=unowned.pk).update(owner=None)
    HandoverRow.objects.filter(case=new).delete()
    return handover


def test_p26_each_open_case_stands_once_in_the_most_dangerous_section(night: Handover) -> None:
    assert subjects(night) == {
        "no_owner": ["S-322"],
        "unknown_outcome": ["S-318"],
        "not_refreshed": ["S-321"],
        "stale": ["S-319", "S-320"],
    }
    found = sheet(night)
    assert (found.read, found.to_read, found.percent_read) == (4, 5, 80)


def test_p26_a_case_that_is_missing_is_counted_added_and_never_signed_over(
    cast: Cast, night: Handover
) -> None:
    assert sheet(night).missing == 1
    hand_over(night, cast.owner)
    at_business_time(AFTER)
    with pytest.raises(Conflict, match="not on the sheet yet"):
        sign(night, cast.lead)
    by = cast.colleague
    assert sheets.add_missing_rows(handover_id=night.pk, by=by, at=business_now()) == 1
    assert sheet(night).missing == 0
    told = AuditEvent.objects.get(case_id=0, event="handover_rows_added")
    assert (told.actor_name, told.data["cases"]) == ("Dana Wu", 1)


def test_p26_an_attempt_in_doubt_is_never_shown_as_done(night: Handover) -> None:
    row = row_for(Case.objects.get(subject="S-318"))
    assert (row.section, row.condition) == ("unknown_outcome", "urgent")
    assert len(row.attempts) == 1
    assert any("is looked up until" in reason for reason in row.may_change)


def test_p26_a_long_list_is_ranked_by_what_runs_out_first(cast: Cast) -> None:
    a_roster(cast)
    cases = [a_night_case(cast, f"S-40{number}") for number in range(4)]
    handover = opened(cast)
    hours = {"S-400": 7, "S-401": 3, "S-402": 5, "S-403": 9}
    for case in cases:
        read_again(case)
        ends = business_now() + timedelta(hours=hours[case.subject])
        Case.objects.filter(pk=case.pk).update(decide_by=ends)
    Case.objects.filter(subject="S-403").update(decide_by=business_now() + timedelta(minutes=5))
    assert subjects(handover)["stale"] == ["S-403", "S-401", "S-402", "S-400"]


def test_p26_promises_and_what_must_not_be_done_are_on_the_row(cast: Cast) -> None:
    a_roster(cast)
    case = a_night_case(cast)
    opened(cast)
    due = WallTime(wall=MORNING.replace(tzinfo=None, hour=9), zone="America/Chicago")
    for line in (
        NewLine(sort="promise", text="Call before noon", party="Harbor Foods", due=due),
        NewLine(sort="do_not", text="Do not call the driver before 06:00"),
        NewLine(sort="if_then", text="If BLUX does not answer by 09:00, then ask OAKX"),
        NewLine(sort="waiting_on", text="Call back", party="Bo of Swift", due=due),
    ):
        write_line(case_id=case.pk, line=line, by=cast.owner, at=business_now())
    row = row_for(case)
    assert [line.party for line in row.lines["promise"]] == ["Harbor Foods"]
    assert row.lines["promise"][0].due_at == MORNING + timedelta(hours=1)
    assert row.lines["do_not"][0].by == "Marta Ortega"
    assert "Bo of Swift is to answer by 09:00 CST." in row.may_change
    assert "Promised to Harbor Foods: Call before noon" in row.note.draft


def test_p26_a_row_that_refers_to_an_older_proposal_is_repaired_by_one_act(cast: Cast) -> None:
    a_roster(cast)
    case = a_case_waiting_for_review(cast)
    opened(cast)
    agent_reads(case, MORNING_WORLD)
    row = looked_at(case)
    assert row.proposal is not None
    assert (row.proposal.published, row.proposal.number) == (1, 2)
    assert row.must_repair
    with pytest.raises(Conflict, match="proposal 1; proposal 2 is current"):
        answer(row, Kind.ACCEPT, cast.colleague)
    take_in(case, cast.colleague)
    assert row_for(case).broken == ()
    assert audit_of(case)[-1].event == "handover_row_repaired"


def test_p26_a_proposal_on_older_evidence_is_read_again_first(cast: Cast) -> None:
    """The facts are newer than the proposal, and nobody has weighed them yet."""
    a_roster(cast)
    case = a_night_case(cast)
    opened(cast)
    read_again(case)
    grant = a_grant(case)
    moved = morning_of(case, 44, delivery_window=TWO_O_CLOCK)
    evidence.record_readings(grant=grant, by=AGENT, readings=moved, asked_at=business_now())
    runs.let_go(grant=grant)
    take_in(case, cast.colleague)
    row = looked_at(case)
    assert row.repairs == ("read",)
    with pytest.raises(Conflict, match="stands on older facts: Delivery window"):
        answer(row, Kind.ACCEPT, cast.colleague)
    read_again(case, 44, delivery_window=TWO_O_CLOCK)
    assert row_for(case).repairs == ("take",)


def test_p26_the_agent_drafts_and_people_write_the_note(cast: Cast) -> None:
    a_roster(cast)
    case = a_night_case(cast)
    opened(cast)
    row = row_for(case)
    assert row.note.text == ""
    assert "Proposal 2 waits for a decision: would book 1 truck" in row.note.draft
    when = business_now()
    sheets.write_note(row_id=row.row_id, text="Ask for Bo.", seen="", by=cast.owner, at=when)
    with pytest.raises(RowOvertaken, match="Marta Ortega wrote a note meanwhile"):
        sheets.write_note(row_id=row.row_id, text="Other", seen="", by=cast.colleague, at=when)
    with pytest.raises(Refused):
        sheets.write_note(row_id=row.row_id, text="x", seen="Ask for Bo.", by=cast.auditor, at=when)
    assert (row_for(case).note.text, row_for(case).note.by) == ("Ask for Bo.", "Marta Ortega")


def test_p26_the_sheet_is_published_once_by_the_outgoing_shift_or_a_lead(
    cast: Cast, night: Handover
) -> None:
    for person in (cast.colleague, cast.admin):
        with pytest.raises(Refused):
            hand_over(night, person)
    hand_over(night, cast.owner)
    with pytest.raises(Conflict, match="Marta Ortega published this sheet already"):
        hand_over(night, cast.lead)
    refused = AuditEvent.objects.filter(case_id=0, event="act_refused")
    assert refused.count() == 3
    assert all(not row.broken or row.repairs == ("owner",) for row in sheet(night).rows)


def test_p26_a_pause_is_on_the_sheet_until_somebody_lifts_it(cast: Cast, night: Handover) -> None:
    set_pause(lane="", kind="", agent="", reason="Storm", by=cast.lead, at=business_now())
    assert [(notice.sort, notice.detail) for notice in sheet(night).notices] == [
        ("Paused", "Storm")
    ]


def test_p26_the_sheet_takes_the_same_queries_for_any_number_of_cases(cast: Cast) -> None:
    a_roster(cast)
    a_night_case(cast)
    handover = opened(cast)
    with CaptureQueriesContext(connection) as few:
        sheet(handover)
    for number in range(400, 406):
        case = an_open_case(cast, subject=f"S-{number}")
        read_again(case)
    add_rows(handover, by=SYSTEM, at=business_now())
    with CaptureQueriesContext(connection) as many:
        assert sheet(handover).count == 7
    assert len(many) == len(few)

"""P27: of a desk's sheets only the newest is kept; an older one that nobody signed is over."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from cases.actions import sheets
from cases.actions.clock import move_business_clock
from cases.actions.handovers import open_handovers
from cases.clock import business_now
from cases.models import AuditEvent, Case, Desk, Handover, HandoverRow, Person, RowAnswer
from cases.queries.handover import row_of
from cases.queries.handover_seen import seen_of
from cases.queries.handover_shapes import SheetRow
from cases.vocabulary.errors import Conflict, SheetOvertaken
from tests.cases.builders import Cast, an_open_case, at_business_time
from tests.cases.mornings import (
    AFTER,
    BEFORE,
    READING_TIME,
    Kind,
    answer,
    hand_over,
    read_in_the_morning,
    sheet,
    sign,
)
from tests.cases.test_pages_handover import client_of, post, token_in

A_DAY = timedelta(days=1)


@pytest.fixture
def old(cast: Cast) -> Handover:
    """Wednesday 08:01: Tuesday's case was read for Tuesday's sheet, which nobody signed."""
    found, _ = read_in_the_morning(cast, "S-318")
    at_business_time(BEFORE + A_DAY)
    assert open_handovers() == 2  # the one of the evening was missed
    at_business_time(AFTER + A_DAY)
    return found


def newest() -> Handover:
    """The present one."""
    return Handover.objects.latest("boundary")


def row_on(handover: Handover) -> SheetRow:
    """The row of the only case as that sheet shows it, long enough ago to have been read."""
    row = row_of(row_id=HandoverRow.objects.get(handover=handover).pk, at=business_now())
    move_business_clock(by=READING_TIME)
    return row


def an_answer(handover: Handover, by: Person) -> None:
    """Ask something."""
    answer(row_on(handover), Kind.QUESTION, by, reason="Where is it?")


def a_note(handover: Handover, by: Person) -> None:
    """Leave one."""
    row_id = row_on(handover).row_id
    sheets.write_note(row_id=row_id, text="Ask Bo.", seen="", by=by, at=business_now())


def a_repair(handover: Handover, by: Person) -> None:
    """Take the facts into the row."""
    row = row_on(handover)
    sheets.take_current(row_id=row.row_id, seen=row.seen, by=by, at=business_now())


def more_rows(handover: Handover, by: Person) -> None:
    """Put what is missing on it."""
    sheets.add_missing_rows(handover_id=handover.pk, by=by, at=business_now())


@pytest.mark.parametrize("act", [an_answer, a_note, a_repair, more_rows, hand_over, sign])
def test_p27_nothing_is_done_on_an_older_sheet_and_the_refusal_names_the_present_one(
    cast: Cast, old: Handover, act: Callable[[Handover, Person], None]
) -> None:
    with pytest.raises(SheetOvertaken, match=r"Evening → Day, Wed 25 Nov 08:00 CST") as refused:
        act(old, cast.lead)
    assert refused.value.present == newest().pk
    told = AuditEvent.objects.filter(event="act_refused").latest("id")
    assert told.data["reason_code"] == "sheet_overtaken"


def test_p27_what_was_read_for_an_older_sheet_is_not_accepted_as_fresh(
    cast: Cast, old: Handover
) -> None:
    case = Case.objects.get()
    for handover in (old, newest()):
        with pytest.raises(Conflict):
            answer(row_on(handover), Kind.ACCEPT, cast.colleague)
    assert not RowAnswer.objects.exists()
    answer(row_on(newest()), Kind.ACCEPT, cast.colleague, as_blocked=True)
    case.refresh_from_db()
    assert case.owner == cast.colleague


def test_p27_a_newer_sheet_of_another_desk_ends_nothing(cast: Cast, old: Handover) -> None:
    other = Desk.objects.create(name="LAX desk", zone="America/Los_Angeles", lead=cast.lead)
    case = an_open_case(cast, subject="S-777")
    Case.objects.filter(pk=case.pk).update(desk=other, opened_at=business_now() - A_DAY)
    present = newest()
    at_business_time(AFTER + A_DAY + timedelta(hours=2))
    assert open_handovers() == 1
    assert newest().desk == other
    an_answer(present, cast.colleague)


def test_p27_the_page_of_an_older_sheet_offers_nothing_and_leads_to_the_present_one(
    cast: Cast, old: Handover
) -> None:
    client = client_of(cast.colleague)
    page = client.get(f"/handover/{old.pk}/").content.decode()
    assert "This sheet is over" in page
    assert f'href="/handover/{newest().pk}/"' in page
    for act in ("answer", "note", "take", "publish", "sign", "add"):
        assert f"/{act}/" not in page
    tab = client.get(f"/handover/{newest().pk}/").content.decode()
    row = HandoverRow.objects.get(handover=newest())
    token = token_in(tab, row)
    at_business_time(BEFORE + 2 * A_DAY)
    assert open_handovers() == 2
    late = post(client, f"rows/{row.pk}/answer", kind="accept", shown=token, as_blocked="yes")
    assert late.status_code == 409
    text = late.content.decode()
    assert "This sheet is over" in text and f'href="/handover/{newest().pk}/"' in text


def test_p27_an_older_sheet_is_still_signed_by_nobody_once_the_present_one_is(
    cast: Cast, old: Handover
) -> None:
    answer(row_on(newest()), Kind.QUESTION, cast.colleague, reason="Why?")
    hand_over(newest(), cast.owner)
    sign(newest(), cast.lead)
    with pytest.raises(SheetOvertaken):
        sheets.sign(handover_id=old.pk, seen=seen_of(sheet(old)), by=cast.lead, at=business_now())

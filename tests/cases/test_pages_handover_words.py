"""What the handover sheet says, and what it leaves out because it stands elsewhere or is empty."""

import re
from datetime import timedelta

import pytest
from django.test import Client

from cases.actions.conditions import NewCondition, open_condition
from cases.actions.handovers import open_handovers
from cases.actions.pauses import set_pause
from cases.actions.roster import set_leave
from cases.clock import business_now
from cases.models import Desk, Handover, Person, Role
from cases.vocabulary.rosters import Position
from tests.cases.builders import (
    MORNING,
    TWO_O_CLOCK,
    Cast,
    at_business_time,
)
from tests.cases.duties import stands
from tests.cases.mornings import AFTER, a_night_case, a_roster, opened, read_again

EVENING_AFTER = MORNING + timedelta(hours=9)
ICE = "Ice on I-20"


@pytest.fixture
def handover(cast: Cast) -> Handover:
    """08:01: one case of Marta's, read for the handover to Dana; its window moved since."""
    a_roster(cast)
    case = a_night_case(cast)
    found = opened(cast)
    read_again(case)
    read_again(case, 44, delivery_window=TWO_O_CLOCK)
    at_business_time(AFTER)
    return found


def text_of(person: Person, address: str) -> str:
    """The main part of the page and what stands above it, without tags."""
    client = Client()
    client.force_login(person)
    answer = client.get(address)
    assert answer.status_code == 200
    above = answer.content.decode().split('class="topbar"')[-1]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", above))


def sheet_text(person: Person, handover: Handover) -> str:
    """The sheet as that person reads it."""
    return text_of(person, f"/handover/{handover.pk}/")


def is_published(handover: Handover) -> None:
    """Marta hands it over, whatever its rows say."""
    Handover.objects.filter(pk=handover.pk).update(
        published_at=business_now(), published_by="Marta Ortega"
    )


def test_p26_what_changed_is_marked_since_the_opening_and_then_since_it_was_published(
    cast: Cast, handover: Handover
) -> None:
    before = sheet_text(cast.colleague, handover)
    assert "Delivery window changed since the sheet was opened:" in before
    assert "~ changed since the sheet was opened" in before
    assert "since published" not in before
    is_published(handover)
    after = sheet_text(cast.colleague, handover)
    assert "Delivery window changed since published:" in after
    assert "~ changed since published" in after
    assert "the sheet was opened" not in after


def test_sections_without_a_case_share_one_line_and_have_no_heading(
    cast: Cast, handover: Handover
) -> None:
    client = Client()
    client.force_login(cast.lead)
    page = client.get(f"/handover/{handover.pk}/").content.decode()
    line = page.split('class="sheet-empty')[1].split("</ul>")[0]
    for said in ("No standing condition.", "No attempt is in doubt.", "Every source was read."):
        assert said in line
        assert page.count(said) == 1
    assert page.count('class="sheet-section"') == 1
    assert page.index('class="sheet-empty') < page.index('class="sheet-section"')


def test_a_condition_stands_once_on_a_live_sheet_and_above_every_other_page(
    cast: Cast, handover: Handover
) -> None:
    wanted = NewCondition(sort="other", title=ICE, desk=cast.desk)
    open_condition(wanted=wanted, by=cast.lead, at=business_now())
    assert sheet_text(cast.lead, handover).count(ICE) == 1
    assert text_of(cast.lead, "/").count(ICE) == 1


def test_p21_a_pause_stands_above_every_page_the_live_sheet_too(
    cast: Cast, handover: Handover
) -> None:
    set_pause(lane="execution", kind="", agent="", reason=ICE, by=cast.lead, at=business_now())
    client = Client()
    client.force_login(cast.lead)
    for address in (f"/handover/{handover.pk}/", "/", "/roster/"):
        above = client.get(address).content.decode().split("<main")[0]
        assert 'aria-label="Paused"' in above, address
        assert ICE in above, address


def test_p28_the_sheet_names_who_is_called_instead_of_a_lead_who_is_away(
    cast: Cast, handover: Handover
) -> None:
    assert f"it goes to {cast.lead}." in sheet_text(cast.colleague, handover)
    ruth = Person.objects.create_user(username="ruth", first_name="Ruth", role=Role.LEAD)
    Desk.objects.filter(pk=cast.desk.pk).update(manager=ruth)
    now = business_now()
    set_leave(
        person=cast.lead,
        starts_at=now,
        ends_at=now + timedelta(days=1),
        reason="Ill",
        by=cast.admin,
        at=now,
    )
    sheet = sheet_text(cast.colleague, handover)
    assert "it goes to Ruth." in sheet
    assert f"it goes to {cast.lead}." not in sheet


def test_p28_where_nobody_is_called_the_sheet_does_not_begin_to_say_who(
    cast: Cast, handover: Handover
) -> None:
    """The lead takes the day herself, and the desk has no manager."""
    assert "While nobody accepts a case" in sheet_text(cast.lead, handover)
    stands(cast, "Day", Position.PRIMARY, cast.lead)
    assert "While nobody accepts a case" not in sheet_text(cast.lead, handover)


def test_while_the_refresh_goes_on_a_row_says_that_it_is_being_read(cast: Cast) -> None:
    a_roster(cast)
    a_night_case(cast)
    found = opened(cast)
    assert "Its facts are being read for this handover" in sheet_text(cast.owner, found)
    Handover.objects.filter(pk=found.pk).update(refreshed_at=business_now())
    assert "Not read for this handover" in sheet_text(cast.owner, found)


def test_the_sheet_of_before_says_what_it_is_until_the_new_one_is_open(
    cast: Cast, handover: Handover
) -> None:
    hint = f"/handover/{handover.pk}/hint/?since={AFTER:%Y-%m-%dT%H:%M:%S}Z"
    assert "sheet of before" not in sheet_text(cast.lead, handover)
    at_business_time(EVENING_AFTER - timedelta(minutes=31))
    assert "sheet of before" not in text_of(cast.lead, hint)
    at_business_time(EVENING_AFTER - timedelta(minutes=29))
    for address in (hint, f"/handover/{handover.pk}/"):
        page = text_of(cast.lead, address)
        assert (
            "This is the sheet of before. The one for Tue 24 Nov 17:00 CST opens by itself" in page
        )
    assert open_handovers() == 1
    newer = Handover.objects.get(boundary=EVENING_AFTER)
    for address in (hint, f"/handover/{handover.pk}/"):
        page = text_of(cast.lead, address)
        assert "The one for Tue 24 Nov 17:00 CST is open. Show" in page
    assert "sheet of before" not in sheet_text(cast.lead, newer)
    listed = text_of(cast.lead, "/handovers/")
    assert listed.index("Day → Evening") < listed.index("Evening → Day")

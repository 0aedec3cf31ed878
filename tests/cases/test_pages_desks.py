"""Several desks: the pages of each lead to those of the others, and people land on their own."""

from datetime import timedelta
from typing import Any

import pytest

from cases.actions import people, roster
from cases.actions.handovers import open_handovers
from cases.clock import business_now
from cases.models import Case, Desk, Handover, Person, Role, ShiftPattern
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.rosters import Position
from cases.vocabulary.shifts import EVERY_DAY
from tests.cases.builders import Cast, an_open_case, at_business_time
from tests.cases.duties import NIGHT, with_a_roster
from tests.cases.test_pages_roster import client_of, text_of

A_DAY = timedelta(days=1)


@pytest.fixture
def other(cast: Cast) -> Desk:
    """A second desk, in Los Angeles, beside the one of the cast."""
    with_a_roster(cast)
    return people.set_up_desk(
        name="LAX desk", zone="America/Los_Angeles", lead=cast.lead, by=SYSTEM, at=NIGHT
    )


def handed_over(cast: Cast, desk: Desk, subject: str) -> Handover:
    """The newest handover of a desk that has a case since yesterday."""
    case = an_open_case(cast, subject=subject)
    Case.objects.filter(pk=case.pk).update(desk=desk, opened_at=business_now() - A_DAY)
    open_handovers()
    return Handover.objects.filter(desk=desk).latest("boundary")


def pages(person: Person, *addresses: str) -> list[str]:
    """What pages contain for a person, redirects followed."""
    client = client_of(person)
    return [client.get(address, follow=True).content.decode() for address in addresses]


def somebody_at(desk: Desk, cast: Cast, *, days: int) -> Person:
    """An operator who has been on the roster of that desk alone, until so many days from now."""
    person = Person.objects.create_user(username="lena", first_name="Lena", role=Role.OPERATOR)
    today = NIGHT.date()
    roster.put_on_watch(
        wanted=roster.NewWatch(
            shift_id=ShiftPattern.objects.get(desk=desk, name="Day").pk,
            position=Position.PRIMARY,
            person=person,
            first_day=today - 30 * A_DAY,
            last_day=today + days * A_DAY,
            days=EVERY_DAY,
        ),
        by=cast.lead,
        at=NIGHT,
    )
    return person


def test_p26_every_desk_has_a_way_to_its_sheet(cast: Cast, other: Desk) -> None:
    """From the sheet of one desk to the newest of the other, and back."""
    first, second = handed_over(cast, cast.desk, "S-318"), handed_over(cast, other, "S-777")
    here, there = pages(cast.owner, "/handover/", f"/handover/?desk={other.pk}")
    assert "S-318" in here and f"/handover/{first.pk}/hint/" in here
    assert "S-777" in there and f"/handover/{second.pk}/hint/" in there
    for page in (here, there):
        assert f'href="/handover/?desk={cast.desk.pk}"' in page
        assert f'href="/handover/?desk={other.pk}"' in page
    assert f'href="/handovers/?desk={other.pk}"' in there, "its own earlier sheets"


def test_every_page_tells_the_name_and_the_time_of_the_readers_own_desk(
    cast: Cast, other: Desk
) -> None:
    """20 November, 18:00 in Chicago is 16:00 in Los Angeles; whoever has no desk sees the first."""
    lena = somebody_at(other, cast, days=2)
    for person, desk, hour in ((lena, "LAX desk", "16:0"), (cast.owner, "DFW desk", "18:0")):
        (page,) = pages(person, "/")
        topbar = page.split('class="topbar-clock"')[1].split("</p>")[0]
        assert desk in topbar and hour in topbar, topbar


def test_p26_each_desk_has_its_own_list_of_sheets(cast: Cast, other: Desk) -> None:
    first, second = handed_over(cast, cast.desk, "S-318"), handed_over(cast, other, "S-777")
    address = "/handovers/?desk={}"
    here, there = pages(cast.owner, address.format(cast.desk.pk), address.format(other.pk))
    assert f'href="/handover/{first.pk}/"' in here and f"/handover/{second.pk}/" not in here
    assert f'href="/handover/{second.pk}/"' in there and f"/handover/{first.pk}/" not in there
    assert f'href="/handovers/?desk={other.pk}"' in here


def test_p26_a_desk_that_has_no_sheet_yet_says_so_and_leads_to_the_others(
    cast: Cast, other: Desk
) -> None:
    (page,) = pages(cast.owner, f"/handover/?desk={other.pk}")
    assert "No sheet yet" in page and "LAX desk ·" in page
    assert f'href="/handovers/?desk={cast.desk.pk}"' in page


@pytest.mark.parametrize("address", ["/handover/", "/handovers/", "/roster/", "/ownership/"])
def test_a_person_of_one_desk_lands_on_it(cast: Cast, other: Desk, address: str) -> None:
    handed_over(cast, cast.desk, "S-318")
    lena = somebody_at(other, cast, days=10)
    for person, name in ((lena, "LAX desk"), (cast.owner, "DFW desk")):
        client = client_of(person)
        page = client.get(address, follow=True).content.decode()
        current = page.split('aria-label="Desks"')[1].split("</ul>")[0].split('aria-current="page"')
        assert current[1].startswith(f">{name}<"), (person, address)


def test_whoever_stood_at_a_desk_once_is_no_longer_of_it(cast: Cast, other: Desk) -> None:
    lena = somebody_at(other, cast, days=-9)
    assert "Roster of DFW desk" in text_of(client_of(lena).get("/roster/"))


def test_whoever_manages_a_desk_lands_on_it(cast: Cast, other: Desk) -> None:
    ruth = Person.objects.create_user(username="ruth", first_name="Ruth", role=Role.LEAD)
    Desk.objects.filter(pk=other.pk).update(manager=ruth)
    assert "Roster of LAX desk" in text_of(client_of(ruth).get("/roster/"))
    assert "Roster of DFW desk" in text_of(client_of(cast.lead).get("/roster/")), "leads both"


def test_one_desk_alone_is_not_to_be_chosen(cast: Cast) -> None:
    with_a_roster(cast)
    for page in pages(cast.lead, "/roster/", "/ownership/", "/handovers/"):
        assert 'aria-label="Desks"' not in page


@pytest.mark.parametrize("address", ["/handover/", "/handovers/", "/roster/"])
def test_a_desk_that_is_not_there_is_said(cast: Cast, other: Desk, address: str) -> None:
    client: Any = client_of(cast.lead)
    for wrong, status in (("999", 404), ("x", 422)):
        answer = client.get(address, {"desk": wrong})
        assert answer.status_code == status
        assert "<h1>" in answer.content.decode()


def test_a_sheet_of_another_time_is_found_from_its_own_desk(cast: Cast, other: Desk) -> None:
    """The desk's clock counts: in Los Angeles the day begins two hours later."""
    handed_over(cast, other, "S-777")
    at_business_time(NIGHT + A_DAY)
    newest = handed_over(cast, other, "S-778")
    assert Handover.objects.filter(desk=other).count() > 1
    assert f"/handover/{newest.pk}/hint/" in pages(cast.lead, f"/handover/?desk={other.pk}")[0]

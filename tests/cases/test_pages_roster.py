"""The roster page: coverage and gaps in words, and what moves before anything is saved (P28)."""

import re
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from cases.actions import roster
from cases.models import AuditEvent, Case, Desk, Leave, Person, RosterEntry, ShiftPattern
from cases.queries.coverage import coverage_of
from cases.queries.duty import roster_of
from cases.vocabulary.rosters import Position
from tests.cases.builders import EVENING, MORNING, Cast, at_business_time
from tests.cases.duties import NIGHT, owned_by, stands, with_a_roster

WEDNESDAY = date(2026, 11, 25)
CLOCKS_GO_BACK = datetime.fromisoformat("2026-10-30T18:00:00Z")


def client_of(person: Person) -> Client:
    """A signed-in browser."""
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def rostered(cast: Cast) -> Cast:
    """Marta works days, Dana evenings; Priya leads, and the clock says Monday 18:00."""
    return with_a_roster(cast)


def text_of(answer: Any) -> str:
    """What a page says, tags left out."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


def posts(by: Person, cast: Cast, act: str, /, **values: Any) -> HttpResponse:
    """A form of the roster page, posted by a person."""
    answer: Any = client_of(by).post(f"/roster/{cast.desk.pk}/{act}/", values)
    return answer  # type: ignore[no-any-return]


def saves(by: Person, cast: Cast, act: str, /, **values: Any) -> Any:
    """The same, looked at and then saved with a reason."""
    shown = posts(by, cast, act, **values)
    seen = re.search(r'name="seen" value="([^"]+)"', shown.content.decode())
    assert seen is not None, text_of(shown)
    return posts(by, cast, act, **{"reason": "Ill", **values, "seen": seen[1], "save": "1"})


def leave_of(person: Person, start: str, end: str) -> dict[str, Any]:
    """A leave as it is typed."""
    return {"person": person.pk, "from": start, "until": end}


def test_e03_a_gap_is_named_with_its_times_and_who_would_be_asked(rostered: Cast) -> None:
    stands(rostered, "Evening", Position.PRIMARY, None, first=WEDNESDAY, last=WEDNESDAY)
    page = text_of(client_of(rostered.auditor).get("/roster/"))
    said = "Wed 25 Nov 17:00–Thu 08:00 CST: nobody is primary; Priya Raman would be asked"
    assert said in page
    assert "95 % of the time has a primary who is there" in page


def test_p28_leave_is_a_gap_only_while_it_lasts(rostered: Cast) -> None:
    roster.set_leave(
        person=rostered.owner,
        starts_at=MORNING + timedelta(hours=2),
        ends_at=MORNING + timedelta(hours=4),
        reason="Dentist",
        by=rostered.lead,
        at=NIGHT,
    )
    gaps = coverage_of(roster_of(rostered.desk, since=NIGHT), at=NIGHT).gaps
    assert list(map(str, gaps)) == [
        "Tue 24 Nov 10:00–12:00 CST: Marta Ortega (primary) is on leave; Priya Raman would be asked"
    ]


def test_scenario_06_the_night_of_the_clock_change_is_shown_as_it_really_is(rostered: Cast) -> None:
    """Denver, Sat 31 Oct to Sun 1 Nov: the night lasts 9 h and is handed over at 06:00 MST."""
    at_business_time(CLOCKS_GO_BACK)
    Desk.objects.filter(pk=rostered.desk.pk).update(zone="America/Denver")
    ShiftPattern.objects.filter(name="Day").update(starts_at="06:00")
    ShiftPattern.objects.filter(name="Evening").update(starts_at="22:00")
    stands(rostered, "Day", Position.PRIMARY, rostered.owner, first=date(2026, 10, 1))
    stands(rostered, "Evening", Position.PRIMARY, None, first=date(2026, 10, 1))
    page = text_of(client_of(rostered.lead).get("/roster/"))
    assert "clocks go back: it lasts 9 h" in page
    assert "Sat 31 Oct 22:00 MDT–Sun 06:00 MST: nobody is primary" in page


def test_p28_what_moves_is_shown_first_and_nothing_is_changed(rostered: Cast) -> None:
    case = owned_by(rostered, rostered.colleague)
    Case.objects.filter(pk=case.pk).update(decide_by=NIGHT + timedelta(hours=1))
    events = AuditEvent.objects.count()
    leave = leave_of(rostered.colleague, "2026-11-23T18:00", "2026-11-24T08:00")
    page = text_of(posts(rostered.lead, rostered, "leave", **leave))
    assert "1 open case of DFW desk at once 1 due today" in page
    assert "Dana Wu Priya Raman Dana Wu is on leave until Tue 24 Nov 08:00 CST" in page
    assert not Leave.objects.exists()
    assert AuditEvent.objects.count() == events
    case.refresh_from_db()
    assert case.owner == rostered.colleague


def test_p28_saving_moves_exactly_what_was_shown(rostered: Cast) -> None:
    case = owned_by(rostered, rostered.colleague)
    leave = leave_of(rostered.colleague, "2026-11-23T18:00", "2026-11-24T08:00")
    assert saves(rostered.lead, rostered, "leave", **leave).status_code == 302
    case.refresh_from_db()
    assert case.owner == rostered.lead
    said = AuditEvent.objects.get(event="leave_set")
    assert (said.actor_name, said.data["reason"]) == ("Priya Raman", "Ill")


def test_p28_a_later_leave_shows_what_moves_when_it_begins(rostered: Cast) -> None:
    owned_by(rostered, rostered.owner)
    leave = leave_of(rostered.owner, "2026-11-24T09:00", "2026-11-24T12:00")
    page = text_of(posts(rostered.lead, rostered, "leave", **leave))
    assert "1 open case of DFW desk Tue 24 Nov 09:00 CST" in page
    assert "Marta Ortega Priya Raman Marta Ortega is on leave until" in page


def test_p28_a_case_that_came_in_between_is_shown_before_it_moves(rostered: Cast) -> None:
    leave = leave_of(rostered.colleague, "2026-11-23T18:00", "2026-11-24T08:00")
    shown = posts(rostered.lead, rostered, "leave", **leave).content.decode()
    seen = re.search(r'name="seen" value="([^"]+)"', shown)
    assert seen is not None
    case = owned_by(rostered, rostered.colleague)
    more = {"seen": seen[1], "save": "1", "reason": "Ill"}
    answer = posts(rostered.lead, rostered, "leave", **leave, **more)
    assert answer.status_code == 409
    assert "What moves is no longer what you saw" in text_of(answer)
    case.refresh_from_db()
    assert case.owner == rostered.colleague


def test_a_change_without_a_reason_is_not_saved_and_stays_typed(rostered: Cast) -> None:
    leave = leave_of(rostered.colleague, "2026-11-23T18:00", "2026-11-24T08:00")
    answer = saves(rostered.lead, rostered, "leave", reason=" ", **leave)
    assert answer.status_code == 422
    assert 'name="until" value="2026-11-24T08:00"' in answer.content.decode()
    assert not Leave.objects.exists()


def test_c04_a_time_that_occurs_twice_is_asked_about_and_then_counts(rostered: Cast) -> None:
    at_business_time(CLOCKS_GO_BACK)
    leave = leave_of(rostered.owner, "2026-11-01T01:30", "2026-11-01T08:00")
    asked = posts(rostered.lead, rostered, "leave", **leave)
    assert asked.status_code == 422
    assert "01:30 CDT, the earlier one" in text_of(asked)
    assert 'value="2026-11-01T01:30"' in asked.content.decode()
    assert saves(rostered.lead, rostered, "leave", **leave, from_which="later").status_code == 302
    assert Leave.objects.get().starts_at.isoformat() == "2026-11-01T07:30:00+00:00"


def test_c04_a_time_that_clocks_skip_is_refused_and_stays_typed(rostered: Cast) -> None:
    leave = leave_of(rostered.owner, "2027-03-14T02:30", "2027-03-14T08:00")
    answer = posts(rostered.lead, rostered, "leave", **leave)
    assert answer.status_code == 422
    assert "02:30 does not exist on Sun 14 Mar" in text_of(answer)
    assert 'value="2027-03-14T02:30"' in answer.content.decode()


def test_a_swap_for_one_day_leaves_the_days_around_it_alone(rostered: Cast) -> None:
    evening = ShiftPattern.objects.get(name="Evening")
    swap = {"shift": evening.pk, "position": "primary", "person": rostered.owner.pk}
    saves(rostered.lead, rostered, "swap", day="2026-11-25", **swap)
    known = roster_of(rostered.desk, since=NIGHT)
    people = [
        known.duty_at(EVENING + timedelta(days=days, hours=1)).crew.primary for days in (1, 2, 3)
    ]
    assert people == [rostered.colleague.pk, rostered.owner.pk, rostered.colleague.pk]


def test_the_shifts_of_the_desk_are_set_with_their_overlap(rostered: Cast) -> None:
    lines = {
        **{"name-0": "Day", "at-0": "06:00", "days-0": list("0123456"), "overlap-0": "30"},
        **{"name-1": "Evening", "at-1": "14:00", "days-1": list("01234"), "overlap-1": "0"},
        **{"name-2": "Night", "at-2": "22:00", "days-2": list("0123456"), "overlap-2": "0"},
    }
    saves(rostered.lead, rostered, "shifts", **lines)
    found = ShiftPattern.objects.values_list("name", "overlap_minutes")
    assert sorted(found) == [("Day", 30), ("Evening", 0), ("Night", 0)]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({"at-0": "25:00"}, "give the time at which it starts"),
        ({"days-0": []}, "choose the days"),
        ({"overlap-0": "999"}, "an overlap lasts from 0 minutes to 4 hours"),
        ({"name-0": "Morning"}, "Day has a roster, so it stays"),
        ({"name-0": "evening"}, "Two shifts are called Evening"),
        ({"name-0": "Da\x00y"}, "characters that can be seen"),
    ],
)
def test_a_week_that_makes_no_sense_is_explained_and_stays_typed(
    rostered: Cast, line: dict[str, Any], why: str
) -> None:
    usual = {"name-0": "Day", "at-0": "08:00", "days-0": list("0123456"), "overlap-0": "0"}
    evening = {"name-1": "Evening", "at-1": "17:00", "days-1": list("0123456"), "overlap-1": "0"}
    answer = posts(rostered.lead, rostered, "shifts", **usual | evening | line)
    assert answer.status_code in {409, 422}
    assert why in text_of(answer)
    assert 'value="17:00"' in answer.content.decode()


def test_no_shift_that_was_typed_is_left_out(rostered: Cast) -> None:
    """Fourteen lines, as many as a form grew to."""
    lines: dict[str, Any] = {}
    for number, name in enumerate(["Day", "Evening", *(f"Extra {n}" for n in range(12))]):
        lines |= {f"name-{number}": name, f"at-{number}": f"{number + 6:02}:00"}
        lines |= {f"days-{number}": list("0123456"), f"overlap-{number}": "0"}
    page = posts(rostered.lead, rostered, "shifts", **lines)
    assert "Extra 10 18:00, Extra 11 19:00" in text_of(page)
    assert saves(rostered.lead, rostered, "shifts", **lines).status_code == 302
    assert ShiftPattern.objects.filter(desk=rostered.desk).count() == 14
    again = posts(rostered.lead, rostered, "shifts", **lines | {"at-13": "25:00"})
    assert again.status_code == 422
    assert 'value="Extra 11"' in again.content.decode(), "all that was typed is still there"


def test_cancelled_leave_brings_the_person_back(rostered: Cast) -> None:
    leave = leave_of(rostered.colleague, "2026-11-23T18:00", "2026-11-24T08:00")
    saves(rostered.lead, rostered, "leave", **leave)
    address = f"leave/{Leave.objects.get().pk}"
    assert saves(rostered.lead, rostered, address).status_code == 302
    assert rostered.colleague.pk in roster_of(rostered.desk, since=NIGHT).duty_at(NIGHT).present
    assert posts(rostered.lead, rostered, address).status_code == 409


@pytest.mark.parametrize("act", ["watch", "swap", "leave", "shifts"])
def test_an_operator_looks_and_changes_nothing(rostered: Cast, act: str) -> None:
    shift = ShiftPattern.objects.get(name="Day").pk
    values = leave_of(rostered.owner, "2026-12-01T08:00", "2026-12-02T08:00")
    values |= {"shift": shift, "position": "primary", "first_day": "2026-12-01"}
    values |= {"day": "2026-12-01", "name-0": "Day", "at-0": "08:00", "days-0": "0"}
    entries = RosterEntry.objects.count()
    answer = posts(rostered.owner, rostered, act, **values)
    assert answer.status_code == 403
    assert "Ask a lead or an admin" in text_of(client_of(rostered.owner).get("/roster/"))
    assert RosterEntry.objects.count() == entries
    assert not Leave.objects.exists()


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"shift": "999", "position": "primary", "first_day": "2026-12-01"},
        {"shift": "1", "position": "captain", "first_day": "2026-12-01"},
        {"shift": "1", "position": "primary", "first_day": "9999-12-31"},
        {"shift": "1", "position": "primary", "first_day": "2026-12-01", "person": "999999"},
        {"shift": "1", "position": "primary", "first_day": "2026-12-01", "days": "9"},
        {
            **{"shift": "1", "position": "primary", "days": "0"},
            **{"first_day": "2026-12-01", "last_day": "2026-12-02"},
        },
        {
            **{"shift": "1", "position": "primary"},
            **{"first_day": "2026-12-02", "last_day": "2026-12-01"},
        },
    ],
)
def test_a_watch_that_cannot_be_is_explained(rostered: Cast, values: dict[str, str]) -> None:
    if values.get("shift") == "1":
        values = values | {"shift": str(ShiftPattern.objects.get(name="Day").pk)}
    answer = posts(rostered.lead, rostered, "watch", **values)
    assert answer.status_code in {404, 422}
    assert "Nothing was changed" in text_of(answer)


def test_a_desk_without_a_roster_says_that_everybody_counts_as_present(cast: Cast) -> None:
    page = text_of(client_of(cast.lead).get("/roster/"))
    assert "This desk has no roster yet" in page

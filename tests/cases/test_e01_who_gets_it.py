"""E01, P28: whoever gets a case at any boundary of two years is there; it needs no database."""

from datetime import UTC, date, datetime, time, timedelta
from random import Random

import pytest

from cases.actions.lapses import lapses
from cases.models import Case, Desk, Person, Role
from cases.queries.duty import Duty, Roster
from cases.vocabulary.rosters import Away, Position, Watch
from cases.vocabulary.shifts import EVERY_DAY, ShiftStart

START, END = datetime(2026, 1, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC)
THREE = (
    ShiftStart(name="Day", at=time(6), days=EVERY_DAY, overlap=timedelta(minutes=30)),
    ShiftStart(name="Evening", at=time(14), days=frozenset(range(5))),
    ShiftStart(name="Night", at=time(22), days=EVERY_DAY),
)
LEAD, MANAGER = 6, 7


def a_watch(number: int, chance: Random) -> Watch:
    """A swap for one day, or a gap."""
    day = START.date() + timedelta(days=chance.randrange(730))
    return Watch(
        entry_id=100 + number,
        shift=chance.choice(THREE).name,
        position=chance.choice(list(Position)),
        person=chance.choice([None, 1, 2, 3, 4, 5]),
        first_day=day,
        last_day=day,
        days=EVERY_DAY,
    )


def a_leave(chance: Random) -> Away:
    """Some hours or days off, of anybody."""
    starts_at = START + timedelta(hours=chance.randrange(730 * 24))
    ends_at = starts_at + timedelta(hours=chance.randrange(1, 120))
    return Away(person=chance.choice(range(1, MANAGER + 1)), starts_at=starts_at, ends_at=ends_at)


def a_roster(zone: str) -> Roster:
    """Two years of swaps, gaps and leave over a roster of three."""
    chance = Random(zone)
    usual = [
        Watch(
            entry_id=number,
            shift=start.name,
            position=Position.PRIMARY,
            person=number,
            first_day=date(2025, 12, 1),
            last_day=None,
            days=EVERY_DAY,
        )
        for number, start in enumerate(THREE, start=1)
    ]
    people = [Person(pk=number, username=str(number)) for number in range(1, MANAGER + 1)]
    people[4].is_active, people[3].role = False, Role.AUDITOR
    return Roster(
        desk=Desk(pk=1, name="Desk", zone=zone, lead=people[5], manager=people[6]),
        starts=THREE,
        watches=(*usual, *(a_watch(number, chance) for number in range(200))),
        people={person.pk: person for person in people},
        leaves=tuple(a_leave(chance) for _ in range(120)),
        rules=(),
    )


def boundaries(roster: Roster) -> list[datetime]:
    """Every start of a shift and of leave, every end of leave and of an overlap."""
    found = set()
    for shift in roster.shifts(start=START, end=END):
        found |= {shift.starts_at, shift.overlap_until}
    for leave in roster.leaves:
        found |= {leave.starts_at, leave.ends_at}
    return sorted(moment for moment in found if START <= moment < END)


def somebody_is_there(duty: Duty) -> bool:
    """Whether anybody of the shift, or the desk's lead or manager, could own a case."""
    asked = {*duty.crew.people, duty.desk.lead_id, duty.desk.manager_id}
    return any(person in asked for person in duty.present)


@pytest.mark.parametrize(
    "zone", ["America/Chicago", "America/Denver", "Europe/London", "Australia/Lord_Howe"]
)
def test_e01_p28_whoever_gets_a_case_is_there_at_every_boundary_of_two_years(zone: str) -> None:
    roster = a_roster(zone)
    cases = [
        Case(pk=number, kind="", case_type="", owner_id=owner)
        for number, owner in enumerate([None, 1, 2, 3, 4, 5, LEAD, MANAGER])
    ]
    moved = waited = 0
    for moment in boundaries(roster):
        duty = roster.duty_at(moment)
        found = {lapse.case.pk: lapse for lapse in lapses(duty=duty, cases=cases)}
        for case in cases:
            lapse = found.get(case.pk)
            if lapse is None:
                assert case.owner_id in duty.present
                continue
            assert (lapse.following is not None) == somebody_is_there(duty), moment
            if lapse.following is not None:
                assert lapse.following.pk in duty.present
            if lapse.moves and lapse.following is not None:
                case.owner_id, moved = lapse.following.pk, moved + 1
            else:
                waited += 1
    assert moved > 30
    assert waited > 1000

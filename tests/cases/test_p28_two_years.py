"""P28, E01: over two years of shifts no open case is without an owner who is there, or a call.

A desk lives from 2026 to 2028: leave, swaps, deactivations, gaps, and every change of the clocks.
The business clock is moved from one instant at which somebody may come or go to the next; between
the days that are lived through it jumps, and what was missed has to be caught up.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest
from django.db import connection

from cases.actions import lapses, ownership, roster
from cases.clock import business_now
from cases.models import AuditEvent, Case, Desk, Escalation, Person, ShiftPattern
from cases.queries.duty import Roster, roster_of
from cases.vocabulary.rosters import Position
from cases.vocabulary.shifts import EVERY_DAY, ShiftStart
from tests.cases.builders import Cast, an_open_case

START, END = datetime(2026, 1, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC)
ONE_DAY = timedelta(days=1)
WEEKEND = frozenset({5, 6})
THREE = (
    ShiftStart(name="Day", at=time(6), days=EVERY_DAY, overlap=timedelta(minutes=30)),
    ShiftStart(name="Evening", at=time(14), days=EVERY_DAY - WEEKEND),
    ShiftStart(name="Night", at=time(22), days=EVERY_DAY),
)


def clock_says(moment: datetime) -> None:
    """Move the business clock without the audit event that a person's move would leave."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO cases_clockoffset (id, "offset") VALUES (1, %s - clock_timestamp())
            ON CONFLICT (id) DO UPDATE SET "offset" = excluded."offset"
            """,
            [moment],
        )


@dataclass(kw_only=True)
class DeskLife:
    """A desk, its people and cases, and chance: what happens on it as time goes by."""

    cast: Cast
    people: list[Person]
    cases: list[Case]
    chance: Random
    at: datetime = START

    @property
    def desk(self) -> Desk:
        """The desk as it stands."""
        return Desk.objects.select_related("lead", "manager").get(pk=self.cast.desk.pk)

    def something_happens(self) -> None:
        """One of the things that take people away, bring them back, or move a case."""
        self.chance.choice(
            (self.goes_on_leave, self.swaps, self.leaves_a_gap, self.comes_or_goes, self.takes)
        )()

    def goes_on_leave(self) -> None:
        """Somebody is away for some hours or days, perhaps from the middle of a shift on."""
        starts_at = self.at + timedelta(hours=self.chance.randrange(48))
        roster.set_leave(
            person=self.chance.choice(self.people),
            starts_at=starts_at,
            ends_at=starts_at + timedelta(hours=self.chance.randrange(2, 200)),
            reason="Away",
            by=self.cast.admin,
            at=self.at,
        )

    def swaps(self) -> None:
        """Somebody else stands in a position for one day."""
        self._put(self.chance.choice(self.people))

    def leaves_a_gap(self) -> None:
        """Nobody stands in a position for one day."""
        self._put(None)

    def _put(self, person: Person | None) -> None:
        if person is not None and not person.is_active:
            return
        shift = self.chance.choice(list(ShiftPattern.objects.filter(desk=self.cast.desk)))
        day = self.at.date() + timedelta(days=self.chance.randrange(3))
        if day.weekday() not in shift.days:
            return
        wanted = roster.NewWatch(
            shift_id=shift.pk,
            position=self.chance.choice(list(Position)),
            person=person,
            first_day=day,
            last_day=day,
            days=EVERY_DAY,
        )
        roster.put_on_watch(wanted=wanted, by=self.cast.admin, at=self.at)

    def comes_or_goes(self) -> None:
        """Somebody is deactivated, or works here again."""
        person = self.chance.choice(self.people)
        person.is_active = not person.is_active
        person.save(update_fields=("is_active",))

    def takes(self) -> None:
        """Somebody who is there takes a case."""
        present = roster_of(self.desk, since=self.at).duty_at(self.at).present
        if present:
            person = Person.objects.get(pk=self.chance.choice(present))
            case = self.chance.choice(self.cases)
            ownership.take_case(case_id=case.pk, by=person, at=self.at)


def a_desk(cast: Cast, *, zone: str, seed: int) -> DeskLife:
    """Three shifts, four people, a lead and a manager; three open cases, one without an owner."""
    clock_says(START)
    manager = Person.objects.create_user(username="ruth", first_name="Ruth", role="lead")
    lee = Person.objects.create_user(username="lee", first_name="Lee")
    Desk.objects.filter(pk=cast.desk.pk).update(zone=zone, manager=manager)
    cast.desk.refresh_from_db()
    roster.set_shifts(desk=cast.desk, starts=THREE, by=cast.lead, at=START)
    people = [cast.owner, cast.colleague, lee]
    for person, shift in zip(people, THREE, strict=True):
        wanted = roster.NewWatch(
            shift_id=ShiftPattern.objects.get(desk=cast.desk, name=shift.name).pk,
            position=Position.PRIMARY,
            person=person,
            first_day=START.date() - timedelta(days=2),
            last_day=None,
            days=EVERY_DAY,
        )
        roster.put_on_watch(wanted=wanted, by=cast.lead, at=START)
    cases = [an_open_case(cast, subject=f"S-{number}") for number in (318, 319, 320)]
    Case.objects.filter(pk=cases[-1].pk).update(owner=None)
    return DeskLife(
        cast=cast, people=[*people, cast.lead, manager], cases=cases, chance=Random(seed)
    )


def instants_after(known: Roster, at: datetime, until: datetime) -> list[datetime]:
    """When somebody may come or go, or be called: boundaries, ends of overlaps, leave."""
    found = set()
    for shift in known.shifts(start=at, end=until):
        found |= {shift.starts_at, shift.overlap_until}
    for leave in known.leaves:
        found |= {leave.starts_at, leave.ends_at}
    called = Escalation.objects.filter(ended_at=None, next_at__isnull=False)
    found |= {row.next_at for row in called if row.next_at is not None}
    return sorted(moment for moment in found if at < moment <= until)


def uncared_for(life: DeskLife) -> list[str]:
    """Open cases without an owner who is there and without a call by name; empty, as promised."""
    at = business_now()
    duty = roster_of(life.desk, since=at).duty_at(at)
    called = {row.case_id: row for row in Escalation.objects.filter(ended_at=None)}
    wrong = []
    for case in Case.objects.filter(desk=life.cast.desk):
        absence = "no owner" if case.owner_id is None else duty.absence_of(case.owner_id)
        row = called.get(case.pk)
        if absence and (row is None or row.started_at > at):
            wrong.append(f"{at} {case}: {absence}, and nobody was called")
        if not absence and row is not None:
            wrong.append(f"{at} {case}: its owner is there, and {row.to} is still called")
        if row is not None and row.next_at is not None and row.next_at <= at:
            wrong.append(f"{at} {case}: {row.next_to} should have been called at {row.next_at}")
    return wrong


def days_lived(zone: str, chance: Random) -> list[datetime]:
    """The days around each change of the clocks, and one of every second month."""
    days, changes = [START + number * ONE_DAY for number in range((END - START).days)], []
    for before, day in zip(days, days[1:], strict=False):
        offsets = {moment.astimezone(ZoneInfo(zone)).utcoffset() for moment in (before, day)}
        if len(offsets) > 1:
            changes.append(before)
    usual = [days[number + chance.randrange(60)] for number in range(0, 660, 60)]
    assert len(changes) == 4
    return sorted({*changes, *usual})


@pytest.mark.parametrize("zone", ["America/Chicago", "Australia/Lord_Howe"])
def test_p28_every_case_is_cared_for_at_every_boundary_and_every_change(
    cast: Cast, zone: str
) -> None:
    life = a_desk(cast, zone=zone, seed=len(zone))
    steps = 0
    for day in days_lived(zone, life.chance):
        life.at, until = day, day + ONE_DAY
        while life.at < until:
            clock_says(life.at)
            lapses.keep_owned()
            assert uncared_for(life) == []
            if not steps % 2:
                life.something_happens()
                lapses.keep_owned()
                assert uncared_for(life) == []
            ahead = instants_after(roster_of(life.desk, since=life.at), life.at, until)
            life.at, steps = next(iter(ahead), until), steps + 1
    assert steps > 60
    owners = AuditEvent.objects.filter(event="owner_changed", actor_kind="system")
    calls = Escalation.objects.values_list("cause", flat=True)
    assert owners.count() > 3
    assert set(calls) >= {Escalation.Cause.OFF_SHIFT}

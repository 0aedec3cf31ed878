"""Who is on duty at a desk at a moment, and who would be asked for a case."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from cases.models import Desk, Leave, OwnershipRule, Person, RosterEntry, ShiftPattern
from cases.policies import check_may_own, reason_against
from cases.queries.together import together
from cases.vocabulary.clocks import local_text
from cases.vocabulary.rosters import (
    Asked,
    Away,
    Crewed,
    Link,
    Position,
    Sides,
    Watch,
    chain_for,
    crew_of,
)
from cases.vocabulary.shifts import (
    USUAL_STARTS,
    Shift,
    ShiftStart,
    shift_at,
    shifts_between,
)

OFF_SHIFT = "off shift"
NOT_ACTIVE = "not active"
MAY_NOT_OWN = "no longer an operator or lead"
NO_CREW = Crewed(primary=None, backup=None, lead=None)


def starts_of(desk: Desk) -> tuple[ShiftStart, ...]:
    """When the desk's shifts start; the usual ones for a desk that says nothing else."""
    return _starts(desk.shifts.all())


def _starts(shifts: Iterable[ShiftPattern]) -> tuple[ShiftStart, ...]:
    return tuple(pattern.as_start() for pattern in shifts) or USUAL_STARTS


def _watch(entry: RosterEntry, shift: ShiftPattern) -> Watch:
    return Watch(
        entry_id=entry.pk,
        shift=shift.name,
        position=Position(entry.position),
        person=entry.person_id,
        first_day=entry.first_day,
        last_day=entry.last_day,
        days=frozenset(entry.days),
    )


def _away(leave: Leave) -> Away:
    return Away(person=leave.person_id, starts_at=leave.starts_at, ends_at=leave.ends_at)


@dataclass(frozen=True, kw_only=True)
class Duty:
    """A desk at one moment: its shift, who stands in it, and who is away.

    `staying` is the crew of the shift before while it overlaps. A desk without any roster takes
    everybody for present, since it does not say who works when.
    """

    desk: Desk
    at: datetime
    shift: Shift
    crew: Crewed
    staying: Crewed
    keeps_roster: bool
    people: Mapping[int, Person]
    leaves: tuple[Away, ...]
    rules: tuple[OwnershipRule, ...]

    @cached_property
    def absences(self) -> Mapping[int, str]:
        """Why each person cannot own a case now, in words; empty where they can."""
        return {person: self._absence(person) for person in self.people}

    def absence_of(self, person_id: int) -> str:
        """Why the person cannot own a case now, in words; empty when they can."""
        return self.absences[person_id]

    @property
    def present(self) -> list[int]:
        """Everybody who can own a case now."""
        return [person for person, absence in self.absences.items() if not absence]

    def leave_of(self, person_id: int) -> Away | None:
        """The leave that the person is on now, the longest where there are several."""
        standing = [
            leave
            for leave in self.leaves
            if leave.person == person_id and leave.starts_at <= self.at < leave.ends_at
        ]
        return max(standing, key=lambda leave: leave.ends_at, default=None)

    def _absence(self, person_id: int) -> str:
        person = self.people[person_id]
        if not person.is_active:
            return NOT_ACTIVE
        if reason_against(check_may_own, person=person):
            return MAY_NOT_OWN
        if leave := self.leave_of(person_id):
            return f"on leave until {local_text(leave.ends_at, zone=self.desk.zone)}"
        if self.keeps_roster and person_id not in self._rostered:
            return OFF_SHIFT
        return ""

    @cached_property
    def _rostered(self) -> frozenset[int]:
        """Who stands in the shift or stays from the one before; lead and manager can be called."""
        called = {self.desk.lead_id, self.desk.manager_id}
        present = self.crew.people | self.staying.people
        return present | {person for person in called if person is not None}

    def chain(self, *, kind: str, case_type: str) -> tuple[Link, ...]:
        """Who is asked for a case of that kind and type, in order, and why not those before."""
        return chain_for(
            first=self._first_for(kind, case_type),
            crew=self.crew,
            desk_lead=self.desk.lead_id,
            desk_manager=self.desk.manager_id,
            absences=self.absences,
        )

    def _first_for(self, kind: str, case_type: str) -> Asked:
        for scope in ((kind, case_type), (kind, ""), ("", "")):
            for rule in self.rules:
                if (rule.kind, rule.case_type) == scope:
                    return Position(rule.position) if rule.person_id is None else rule.person_id
        return Position.PRIMARY


@dataclass(frozen=True, kw_only=True)
class Roster:
    """Everything that says who is on duty at a desk when, so that many moments cost no query."""

    desk: Desk
    starts: tuple[ShiftStart, ...]
    watches: tuple[Watch, ...]
    people: Mapping[int, Person]
    leaves: tuple[Away, ...]
    rules: tuple[OwnershipRule, ...]

    def duty_at(self, at: datetime) -> Duty:
        """Who is on duty at that instant."""
        shift = shift_at(at, zone=self.desk.zone, starts=self.starts)
        staying = NO_CREW
        if at < shift.overlap_until:
            before = shift.starts_at - shift.starts_at.resolution
            staying = self.crew_of(shift_at(before, zone=self.desk.zone, starts=self.starts))
        return Duty(
            desk=self.desk,
            at=at,
            shift=shift,
            crew=self.crew_of(shift),
            staying=staying,
            keeps_roster=bool(self.watches),
            people=self.people,
            leaves=self.leaves,
            rules=self.rules,
        )

    def crew_of(self, shift: Shift) -> Crewed:
        """Who stands in a shift, there or not."""
        return crew_of(shift, watches=self.watches)

    def sides_at(self, boundary: datetime) -> Sides:
        """Who hands the desk over at a shift boundary, and who takes it."""
        leads = (self.desk.lead_id, self.desk.manager_id)
        return Sides(
            outgoing=self.duty_at(boundary - boundary.resolution).crew,
            incoming=self.duty_at(boundary).crew,
            leads=frozenset(person for person in leads if person is not None),
            keeps_roster=bool(self.watches),
        )

    def shifts(self, *, start: datetime, end: datetime) -> list[Shift]:
        """All shifts that touch the time from `start` up to `end`."""
        return shifts_between(start=start, end=end, zone=self.desk.zone, starts=self.starts)

    def off_since(self, person_id: int, *, at: datetime, within: timedelta) -> datetime | None:
        """When the person's last shift before `at` ended, overlap included; None if none did."""
        ended = None
        shifts = self.shifts(start=at - within, end=at + timedelta(microseconds=1))
        for shift, following in zip(shifts, shifts[1:], strict=False):
            if person_id in self.crew_of(shift).people:
                ended = following.overlap_until
        return ended if ended is not None and ended <= at else None


def roster_of(desk: Desk, *, since: datetime) -> Roster:
    """The desk's roster for moments from `since` on; one query, whatever its size."""
    return rosters_of([desk], since=since)[desk.pk]


def rosters_of(desks: Collection[Desk], *, since: datetime) -> Mapping[int, Roster]:
    """Desk to its roster for moments from `since` on; one query, whatever their number and size.

    Leave that was over at `since` is left out.
    """
    shifts, entries, leaves, rules, people = together(
        ShiftPattern.objects.filter(desk__in=desks),
        RosterEntry.objects.filter(shift__desk__in=desks).order_by("id"),
        Leave.objects.filter(cancelled_at=None, ends_at__gt=since),
        OwnershipRule.objects.filter(desk__in=desks),
        Person.objects.all(),
    )
    named = {person.pk: person for person in people}
    away = tuple(map(_away, leaves))
    found = {}
    for desk in desks:
        here = {shift.pk: shift for shift in shifts if shift.desk_id == desk.pk}
        found[desk.pk] = Roster(
            desk=desk,
            starts=_starts(here.values()),
            watches=tuple(_watch(e, here[e.shift_id]) for e in entries if e.shift_id in here),
            people=named,
            leaves=away,
            rules=tuple(rule for rule in rules if rule.desk_id == desk.pk),
        )
    return found


def duty_at(*, desk: Desk, at: datetime) -> Duty:
    """Who is on duty at the desk at that instant."""
    return roster_of(desk, since=at).duty_at(at)

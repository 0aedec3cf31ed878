"""Who is on duty at a desk at a moment, and who would be asked for a case."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from cases.models import Desk, Leave, OwnershipRule, Person, RosterEntry
from cases.policies import check_may_own, reason_against
from cases.vocabulary.clocks import local_text
from cases.vocabulary.rosters import (
    Asked,
    Away,
    Crewed,
    Link,
    Position,
    Watch,
    chain_for,
    crew_of,
)
from cases.vocabulary.shifts import USUAL_STARTS, Shift, ShiftStart, shift_at

OFF_SHIFT = "off shift"
NO_CREW = Crewed(primary=None, backup=None, lead=None)


def starts_of(desk: Desk) -> tuple[ShiftStart, ...]:
    """When the desk's shifts start; the usual ones for a desk that says nothing else."""
    return tuple(pattern.as_start() for pattern in desk.shifts.all()) or USUAL_STARTS


def watches_of(desk: Desk) -> tuple[Watch, ...]:
    """The desk's roster."""
    entries = RosterEntry.objects.filter(shift__desk=desk).select_related("shift").order_by("id")
    return tuple(
        Watch(
            entry_id=entry.pk,
            shift=entry.shift.name,
            position=Position(entry.position),
            person=entry.person_id,
            first_day=entry.first_day,
            last_day=entry.last_day,
            days=frozenset(entry.days),
        )
        for entry in entries
    )


def leaves_of(people: Mapping[int, Person]) -> tuple[Away, ...]:
    """Standing leave of these people."""
    standing = Leave.objects.filter(person__in=people, cancelled_at=None)
    return tuple(
        Away(person=leave.person_id, starts_at=leave.starts_at, ends_at=leave.ends_at)
        for leave in standing
    )


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

    def absence_of(self, person_id: int) -> str:
        """Why the person cannot own a case now, in words; empty when they can."""
        person = self.people[person_id]
        if refusal := reason_against(check_may_own, person=person):
            return "not active" if not person.is_active else refusal
        for leave in self.leaves:
            if leave.person == person_id and leave.starts_at <= self.at < leave.ends_at:
                return f"on leave until {local_text(leave.ends_at, zone=self.desk.zone)}"
        if self.keeps_roster and person_id not in self._present:
            return OFF_SHIFT
        return ""

    @property
    def _present(self) -> frozenset[int]:
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
            absences={person: self.absence_of(person) for person in self.people},
        )

    def _first_for(self, kind: str, case_type: str) -> Asked:
        for scope in ((kind, case_type), (kind, ""), ("", "")):
            for rule in self.rules:
                if (rule.kind, rule.case_type) == scope:
                    return Position(rule.position) if rule.person_id is None else rule.person_id
        return Position.PRIMARY


def duty_at(*, desk: Desk, at: datetime) -> Duty:
    """Who is on duty at the desk at that instant. Four queries, whatever the roster's size."""
    starts = starts_of(desk)
    watches = watches_of(desk)
    shift = shift_at(at, zone=desk.zone, starts=starts)
    before = shift_at(_just_before(shift), zone=desk.zone, starts=starts)
    is_overlapping = at < shift.overlap_until
    people = {person.pk: person for person in Person.objects.all()}
    return Duty(
        desk=desk,
        at=at,
        shift=shift,
        crew=crew_of(shift, watches=watches),
        staying=crew_of(before, watches=watches) if is_overlapping else NO_CREW,
        keeps_roster=bool(watches),
        people=people,
        leaves=leaves_of(people),
        rules=tuple(desk.ownership_rules.all()),
    )


def _just_before(shift: Shift) -> datetime:
    return shift.starts_at - shift.starts_at.resolution

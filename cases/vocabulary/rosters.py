"""Who stands where in a shift, and who answers for a case: rules over plain values, no rows.

The agent is in none of these lists, so it can never own a case.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from cases.vocabulary.shifts import Shift


class Position(StrEnum):
    """A place in a shift."""

    PRIMARY = "primary"
    BACKUP = "backup"
    LEAD = "lead"


@dataclass(frozen=True, kw_only=True)
class Watch:
    """One roster entry: who stands in a position of a shift on which local dates.

    `person` is None where the entry says that nobody does. Later entries have a higher `entry_id`.
    """

    entry_id: int
    shift: str
    position: Position
    person: int | None
    first_day: date
    last_day: date | None
    days: frozenset[int]

    def covers(self, *, shift: str, day: date) -> bool:
        """Whether it says something about that shift on that date."""
        is_begun = self.first_day <= day
        is_over = self.last_day is not None and self.last_day < day
        return self.shift == shift and is_begun and not is_over and day.weekday() in self.days


@dataclass(frozen=True, kw_only=True)
class Away:
    """A person's leave, from `starts_at` up to, and without, `ends_at`."""

    person: int
    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, kw_only=True)
class Crewed:
    """Who stands in each position of one shift; None where nobody does."""

    primary: int | None
    backup: int | None
    lead: int | None

    def at(self, position: Position) -> int | None:
        """Who stands in that position."""
        return {
            Position.PRIMARY: self.primary,
            Position.BACKUP: self.backup,
            Position.LEAD: self.lead,
        }[position]

    @property
    def people(self) -> frozenset[int]:
        """Everybody in this shift."""
        found = (self.primary, self.backup, self.lead)
        return frozenset(person for person in found if person is not None)


@dataclass(frozen=True, kw_only=True)
class Sides:
    """The two shifts between which a desk changes hands, and who answers for the desk beside them.

    `leads` are the desk's lead and its manager. A desk without any roster does not say who works
    when, so everybody stands on both sides.
    """

    outgoing: Crewed
    incoming: Crewed
    leads: frozenset[int]
    keeps_roster: bool

    def hands_over(self, person: int) -> bool:
        """Whether the person hands the desk over; where nobody stood, the incoming shift does."""
        crew = self.outgoing.people or self.incoming.people
        return not self.keeps_roster or person in crew | self.leads

    def takes_over(self, person: int) -> bool:
        """Whether the person takes over or refuses what is handed over."""
        return not self.keeps_roster or person in self.incoming.people | self.leads

    def has_place(self, person: int) -> bool:
        """Whether the person has anything to say there."""
        return self.takes_over(person) or person in self.outgoing.people

    def only_leaves(self, person: int) -> bool:
        """Whether the person stands in the outgoing shift and not in the incoming one."""
        return person in self.outgoing.people - self.incoming.people


def crew_of(shift: Shift, *, watches: Iterable[Watch]) -> Crewed:
    """Who stands in the shift: for each position the newest entry that covers it."""
    people: dict[Position, int | None] = dict.fromkeys(Position)
    for watch in sorted(watches, key=lambda watch: watch.entry_id):
        if watch.covers(shift=shift.name, day=shift.day):
            people[watch.position] = watch.person
    return Crewed(
        primary=people[Position.PRIMARY],
        backup=people[Position.BACKUP],
        lead=people[Position.LEAD],
    )


@dataclass(frozen=True, kw_only=True)
class Link:
    """One link of the chain of people who are asked for a case: why this person, and who.

    `person` is None where nobody stands; `absence` says in words why the person is not available,
    and is empty when they are.
    """

    why: str
    person: int | None
    absence: str = ""

    @property
    def is_available(self) -> bool:
        """Whether this person can own a case now."""
        return self.person is not None and not self.absence


type Asked = Position | int
"""Who is asked first: whoever stands in a position, or a person."""


def chain_for(
    *,
    first: Asked,
    crew: Crewed,
    desk_lead: int | None,
    desk_manager: int | None,
    absences: Mapping[int, str],
) -> tuple[Link, ...]:
    """Who is asked for a case, in order; each person once.

    `absences` says in words why a person is not available; whoever is not in it is available.
    """
    asked = (
        (_words_for(first), crew.at(first) if isinstance(first, Position) else first),
        *((_words_for(position), crew.at(position)) for position in Position),
        ("lead of the desk", desk_lead),
        ("manager of the desk", desk_manager),
    )
    links: list[Link] = []
    for why, person in asked:
        if any(link.why == why or link.person == person is not None for link in links):
            continue
        absence = "" if person is None else absences.get(person, "")
        links.append(Link(why=why, person=person, absence=absence))
    return tuple(links)


def _words_for(asked: Asked) -> str:
    match asked:
        case Position.PRIMARY:
            return "primary of the shift"
        case Position.BACKUP:
            return "backup of the shift"
        case Position.LEAD:
            return "lead of the shift"
        case _:
            return "named by the rule"


def first_available(chain: Sequence[Link]) -> Link | None:
    """The first link whose person can own the case now."""
    return next((link for link in chain if link.is_available), None)


def is_away(person: int, *, at: datetime, leaves: Iterable[Away]) -> bool:
    """Whether the person is on leave at that moment."""
    return any(leave.person == person and leave.starts_at <= at < leave.ends_at for leave in leaves)

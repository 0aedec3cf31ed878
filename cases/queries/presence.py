"""Whether the owners that pages show are there: on shift, on call, off shift, on leave."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from cases.models import Case
from cases.queries.duty import NOT_ACTIVE, OFF_SHIFT, Duty, Roster, rosters_of
from cases.queries.values import UNSAYABLE

LOOKED_BACK = timedelta(days=14)


@dataclass(frozen=True, kw_only=True)
class Presence:
    """In words and with a symbol whether a person can answer for cases now.

    `at` is the instant that ends the words (`off shift since`, `on leave until`), if any.
    """

    word: str
    icon: str
    is_available: bool
    at: datetime | None = None


def presence_of(person_id: int, *, roster: Roster, duty: Duty) -> Presence:
    """The presence of one person on this duty; no query."""
    absence = duty.absence_of(person_id)
    if not absence:
        return _there(person_id, duty)
    if leave := duty.leave_of(person_id):
        return Presence(word="on leave until", icon="away", is_available=False, at=leave.ends_at)
    if absence == OFF_SHIFT:
        since = roster.off_since(person_id, at=duty.at, within=LOOKED_BACK)
        word = OFF_SHIFT if since is None else f"{OFF_SHIFT} since"
        return Presence(word=word, icon="moon", is_available=False, at=since)
    return Presence(
        word=absence, icon="blocked" if absence == NOT_ACTIVE else "changed", is_available=False
    )


def _there(person_id: int, duty: Duty) -> Presence:
    if person_id in duty.crew.people | duty.staying.people:
        return Presence(word="on shift", icon="live", is_available=True)
    if duty.keeps_roster:
        return Presence(word="on call", icon="lead", is_available=True)
    return Presence(word="", icon="", is_available=True)


def owners_of(cases: Iterable[Case], *, at: datetime) -> Mapping[int, Presence]:
    """Case to the presence of its owner, left out for cases without one.

    One query, whatever the number of cases and desks.
    """
    owned = [case for case in cases if case.owner_id is not None]
    if not owned:
        return {}
    found: dict[int, Presence] = {}
    for roster in rosters_of({case.desk for case in owned}, since=at).values():
        theirs = (case for case in owned if case.desk_id == roster.desk.pk)
        found |= owners_at_desk(theirs, roster=roster, at=at)
    return found


def owners_at_desk(cases: Iterable[Case], *, roster: Roster, at: datetime) -> dict[int, Presence]:
    """The same for cases of one desk; no query.

    A desk whose zone cannot be used says nothing about anybody.
    """
    people: dict[int, Presence] = {}
    found = {}
    try:
        duty = roster.duty_at(at)
        for case in cases:
            owner = case.owner_id
            if owner is None:
                continue
            if owner not in people:
                people[owner] = presence_of(owner, roster=roster, duty=duty)
            found[case.pk] = people[owner]
    except UNSAYABLE:
        return {}
    return found

"""Who is called by name for a desk's cases that nobody owns who is there, in which order and when.

The desk's lead, then its manager. Nobody is called who no longer works here, and whoever is away
only where nobody else is left.
"""

from datetime import datetime, timedelta

from cases.models import Person, Role
from cases.queries.duty import MAY_NOT_OWN, NOT_ACTIVE, OFF_SHIFT, Duty, Roster
from cases.vocabulary.rosters import first_available

LEAD_CALLED_AFTER = timedelta(minutes=15)


def called_first(duty: Duty) -> Person:
    """Before whom a case is put that nobody of its chain can own."""
    lead = duty.people[duty.desk.lead_id]
    return min(_called(duty), key=lambda person: _distance(duty, person), default=lead)


def called_after(duty: Duty, person: Person) -> Person | None:
    """Who is called when that person does not come: the desk's lead, then its manager.

    An absent lead is passed over while the manager is there; nobody follows the manager.
    """
    called = _called(duty)
    following = called[called.index(person) + 1 :] if person in called else called
    return min(following, key=lambda person: _distance(duty, person), default=None)


def calls_from(roster: Roster, *, boundary: datetime) -> list[tuple[Person, datetime]]:
    """Who is called at which instant for a case of somebody whose shift ended at the boundary.

    The primary of the new shift, who takes it, is not among them.
    """
    at = max(boundary, roster.duty_at(boundary).shift.overlap_until)
    duty = roster.duty_at(at)
    link = first_available(duty.chain(kind="", case_type=""))
    is_asked = link is not None and link.person is not None
    person = duty.people[link.person] if link and link.person else called_first(duty)
    calls = [] if is_asked and person.pk == duty.crew.primary else [(person, at)]
    known = {person}
    while True:
        at += LEAD_CALLED_AFTER
        following = called_after(roster.duty_at(at), person)
        if following is None or following in known:
            return calls
        calls.append((following, at))
        known.add(following)
        person = following


def _called(duty: Duty) -> list[Person]:
    """Who can be called, in order: lead, manager, and while neither is there every other lead."""
    named = [duty.desk.lead_id, duty.desk.manager_id]
    called = [duty.people[number] for number in named if number is not None]
    if all(duty.absence_of(person.pk) for person in called):
        called += [person for person in duty.people.values() if person.role == Role.LEAD]
    gone = {NOT_ACTIVE, MAY_NOT_OWN}
    return [each for each in dict.fromkeys(called) if duty.absence_of(each.pk) not in gone]


def _distance(duty: Duty, person: Person) -> int:
    """How far the person is from coming: there, off shift, or on leave."""
    absence = duty.absence_of(person.pk)
    return 0 if not absence else 1 if absence == OFF_SHIFT else 2

"""People as pages list them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cases.models import Desk, Person, Role
from cases.queries.values import UNSAYABLE
from cases.vocabulary.clocks import zone_named
from cases.vocabulary.errors import InvalidInput

MAY = {
    Role.OPERATOR: "decides on proposals and owns cases",
    Role.LEAD: "decides, assigns, and takes what was escalated",
    Role.ADMIN: "looks; sets people and limits",
    Role.AUDITOR: "looks; reads the whole history",
}


@dataclass(frozen=True, kw_only=True)
class PersonLine:
    """A person with their role and what it lets them do."""

    username: str
    name: str
    role: str
    may: str


@dataclass(frozen=True, kw_only=True)
class ReadingZone:
    """The IANA zone in which a person reads times: their own, or UTC when that one is unusable."""

    name: str
    is_their_own: bool


def reading_zone(person: Person) -> ReadingZone:
    """The zone for this person's times; never fails."""
    try:
        return ReadingZone(name=zone_named(person.zone).key, is_their_own=True)
    except UNSAYABLE:
        return ReadingZone(name="UTC", is_their_own=False)


def everyone() -> tuple[PersonLine, ...]:
    """Active people, by name; only the demo's login page lists them."""
    return tuple(
        PersonLine(
            username=person.username,
            name=str(person),
            role=person.get_role_display(),
            may=MAY[Role(person.role)],
        )
        for person in sorted(
            Person.objects.filter(is_active=True),
            key=lambda person: (list(MAY).index(Role(person.role)), str(person)),
        )
    )


def places_at_desks() -> Mapping[int, Sequence[str]]:
    """Person to what they are at desks, as "lead of DFW desk"; one query."""
    places: dict[int, list[str]] = {}
    for desk in Desk.objects.order_by("id"):
        places.setdefault(desk.lead_id, []).append(f"lead of {desk}")
        if desk.manager_id is not None:
            places.setdefault(desk.manager_id, []).append(f"manager of {desk}")
    return places


def person_by_id(person_id: int) -> Person:
    """The person chosen in a form; raises `InvalidInput` for an id that nobody has.

    Whether that person may own a case is for the record to say, and to keep when it refuses.
    """
    person = Person.objects.filter(pk=person_id).first()
    if person is None:
        raise InvalidInput("Choose someone from the list.")
    return person

"""People as pages list them."""

from dataclasses import dataclass

from cases.models import Person, Role
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


def person_by_id(person_id: int) -> Person:
    """The person chosen in a form; raises `InvalidInput` for one who is not at this desk."""
    person = Person.objects.filter(pk=person_id, is_active=True).first()
    if person is None:
        raise InvalidInput("Choose someone from the list.")
    return person

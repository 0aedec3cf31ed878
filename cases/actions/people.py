"""Enrolling people, setting up desks, registering agents. Repeating any of it changes nothing."""

from datetime import datetime

from django.db import transaction

from cases import audit
from cases.models import AgentIdentity, Desk, Person, Role, ShiftPattern
from cases.vocabulary.actors import Actor
from cases.vocabulary.clocks import zone_named
from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.shifts import USUAL_STARTS

AGENT_SCOPES = ("read", "propose", "act")


def enrol_person(
    *,
    username: str,
    name: str,
    role: Role,
    password: str | None,
    zone: str,
    by: Actor,
    at: datetime,
) -> Person:
    """Enrol a person, or find them; `name` is first and last name, `zone` an IANA zone.

    An existing person is left as they are, password included.
    """
    zone_named(zone)
    first, _, last = name.partition(" ")
    if not username.strip() or not first:
        raise InvalidInput("A person needs a login name and a name.")
    with transaction.atomic():
        known = Person.objects.filter(username=username).first()
        if known is not None:
            return known
        person = Person.objects.create_user(
            username=username,
            password=password,
            first_name=first,
            last_name=last,
            role=role,
            zone=zone,
        )
        audit.append_to_house(
            by=by,
            at=at,
            event="person_enrolled",
            data={"person": str(person), "role": role.value, "zone": zone},
        )
    return person


def set_up_desk(*, name: str, zone: str, lead: Person, by: Actor, at: datetime) -> Desk:
    """Set up a desk with the usual shifts, or find it; raises `InvalidInput` for a bad zone."""
    zone_named(zone)
    with transaction.atomic():
        desk, is_new = Desk.objects.get_or_create(name=name, defaults={"zone": zone, "lead": lead})
        if is_new:
            ShiftPattern.objects.bulk_create(
                ShiftPattern(
                    desk=desk, name=start.name, starts_at=start.at, days=sorted(start.days)
                )
                for start in USUAL_STARTS
            )
            audit.append_to_house(
                by=by,
                at=at,
                event="desk_set_up",
                data={"desk": name, "zone": zone, "lead": str(lead)},
            )
    return desk


def register_agent(
    *, name: str, version: str, owner: Person, by: Actor, at: datetime
) -> AgentIdentity:
    """Register an agent version with the person who answers for it, or find it."""
    with transaction.atomic():
        identity, is_new = AgentIdentity.objects.get_or_create(
            name=name,
            version=version,
            defaults={"owner": owner, "scopes": list(AGENT_SCOPES)},
        )
        if is_new:
            audit.append_to_house(
                by=by,
                at=at,
                event="agent_registered",
                data={"agent": str(identity), "owner": str(owner)},
            )
    return identity

"""Who works here: people, their roles, desks, agents. Repeating any of it changes nothing.

Nothing here moves a case by itself: `keep_owned` in `cases.actions.lapses` does, from what stands.
"""

from datetime import datetime

from django.db import transaction
from django.db.models import Q

from cases import audit, policies
from cases.actions.change import actor_for
from cases.actions.house import in_house
from cases.models import AgentIdentity, Desk, Person, Role, ShiftPattern
from cases.queries.people import places_at_desks
from cases.vocabulary.actors import Actor
from cases.vocabulary.clocks import zone_named
from cases.vocabulary.errors import Conflict, InvalidInput
from cases.vocabulary.shifts import USUAL_STARTS
from cases.vocabulary.texts import reason_given

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


def set_person(
    *,
    person: Person,
    role: Role,
    is_active: bool,
    reason: str,
    by: Person,
    at: datetime,
    successor: Person | None = None,
) -> None:
    """Give a person a role, deactivate them, or take them back.

    `successor` leads and manages the person's desks from then on. Raises `Refused` for anybody but
    an admin, and `Conflict` for an admin's own account, since somebody else has to be left who can
    undo it, and for a desk whose lead or manager could not be called any more.
    """
    with in_house(by=by, at=at, act=f"change the account of {person}") as moment:
        policies.check_may_set_people(person=by)
        said = reason_given(reason, missing="Say why; it is kept with the change.")
        if person == by:
            raise Conflict("Nobody changes their own account. Ask another admin.")
        known = Person.objects.select_for_update(no_key=True).get(pk=person.pk)
        if successor is not None:
            _hand_on_desks(known, successor, by=by, at=moment, reason=said)
        before = {"role_before": known.role, "was_active": known.is_active}
        if (known.role, known.is_active) == (role.value, is_active):
            return
        known.role, known.is_active = role.value, is_active
        _check_desks_are_kept(known)
        known.save(update_fields=("role", "is_active"))
        changed = {"person": str(known), "role": role.value, "is_active": is_active}
        audit.append_to_house(
            by=actor_for(by),
            at=moment,
            event="person_changed",
            data={**changed, "reason": said, **before},
        )


def _check_desks_are_kept(person: Person) -> None:
    """Raise `Conflict` where escalations would be put before somebody who never comes."""
    places = places_at_desks().get(person.pk, ())
    if places and policies.reason_against(policies.check_may_own, person=person):
        raise Conflict(
            f"{person} is {' and '.join(places)}, and is called there when nobody else comes. "
            "Choose who takes their place, or name somebody else under Ownership first."
        )


def _hand_on_desks(
    person: Person, successor: Person, *, by: Person, at: datetime, reason: str
) -> None:
    """Put the successor in the person's place, as lead and as manager of desks."""
    if successor == person:
        raise InvalidInput("Choose somebody else to take their place.")
    policies.check_may_own(person=Person.objects.get(pk=successor.pk))
    places = Q(lead=person) | Q(manager=person)
    for desk in Desk.objects.select_related("lead", "manager").filter(places).order_by("id"):
        desk.lead = successor if desk.lead == person else desk.lead
        desk.manager = successor if desk.manager == person else desk.manager
        desk.save(update_fields=("lead", "manager"))
        named = {"lead": str(desk.lead), "manager": str(desk.manager or "")}
        audit.append_to_house(
            by=actor_for(by),
            at=at,
            event="desk_leads_set",
            data={"desk": desk.name, **named, "reason": reason},
        )


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

"""The people page: who works here, what hangs on them, and what follows when they go."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q

from cases.models import AgentIdentity, Desk, Person, Role, RosterEntry
from cases.queries.people import MAY, places_at_desks
from cases.queries.roster_page import Choice, people_who_may_own
from cases.queries.values import counted
from cases.vocabulary.clocks import zone_named
from cases.vocabulary.stages import Stage


@dataclass(frozen=True, kw_only=True)
class Worker:
    """One person, what their role lets them do, and how many open cases they own.

    `places` are the desks that they lead or manage: "lead of DFW desk".
    """

    person_id: int
    username: str
    name: str
    role: str
    role_label: str
    may: str
    zone: str
    is_active: bool
    open_cases: int
    agents: Sequence[str]
    places: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class PeoplePage:
    """Everybody: those who are active first, by name; `successors` may lead or manage a desk."""

    at: datetime
    workers: Sequence[Worker]
    roles: Sequence[tuple[str, str]]
    successors: Sequence[Choice]


def people_page(*, at: datetime) -> PeoplePage:
    """The page at `at`; four queries."""
    agents: dict[int, list[str]] = {}
    for agent in AgentIdentity.objects.filter(is_active=True):
        agents.setdefault(agent.owner_id, []).append(str(agent))
    places = places_at_desks()
    owned = Count("owned_cases", filter=~Q(owned_cases__stage=Stage.CLOSED.value))
    people = Person.objects.annotate(open_cases=owned).order_by(
        "-is_active", "last_name", "first_name", "id"
    )
    return PeoplePage(
        at=at,
        workers=[
            Worker(
                person_id=person.pk,
                username=person.username,
                name=str(person),
                role=person.role,
                role_label=person.get_role_display(),
                may=MAY[Role(person.role)],
                zone=person.zone,
                is_active=person.is_active,
                open_cases=person.open_cases,
                agents=agents.get(person.pk, ()),
                places=places.get(person.pk, ()),
            )
            for person in people
        ],
        roles=[(role.value, role.label) for role in Role],
        successors=people_who_may_own(),
    )


def follows_for(*, person: Person, role: Role, is_active: bool, at: datetime) -> list[str]:
    """What else follows when a person gets that role or is deactivated, in sentences."""
    notes = []
    if not is_active:
        notes += [
            f"{agent} does nothing any more: {person} answers for it."
            for agent in AgentIdentity.objects.filter(owner=person, is_active=True)
        ]
    if is_active and role in {Role.OPERATOR, Role.LEAD}:
        return notes
    for desk in Desk.objects.order_by("id"):
        today = at.astimezone(zone_named(desk.zone)).date()
        entries = RosterEntry.objects.filter(shift__desk=desk, person=person)
        if count := entries.exclude(last_day__lt=today).count():
            notes.append(
                f"{counted(count, 'roster entry', 'roster entries')} at {desk} still name them: "
                "their places are gaps until somebody else stands there."
            )
    return notes

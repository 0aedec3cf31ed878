"""The ownership page: who is asked for which cases, who is called when, and for whom agents act."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cases import policies
from cases.models import AgentIdentity, Desk, Escalation, OwnershipRule, Person
from cases.queries.calls import LEAD_CALLED_AFTER, called_first
from cases.queries.duty import Duty, duty_at
from cases.queries.roster_page import Choice, people_who_may_own
from cases.vocabulary.budgets import NAMES, amount_text
from cases.vocabulary.playbooks import PLAYBOOKS
from cases.vocabulary.rosters import Link, Position

NO_RULE = "primary of the shift, since no rule says otherwise"


@dataclass(frozen=True, kw_only=True)
class RuleLine:
    """Who is asked first for a kind or type; `inherited` where a wider rule says so, or none."""

    scope: str
    label: str
    asked: str
    is_own: bool
    is_type: bool
    set_by: str


@dataclass(frozen=True, kw_only=True)
class ChainLine:
    """One who is asked: why this person, who, and why not, if so; `gets_it` marks the one."""

    why: str
    person: str
    absence: str
    gets_it: bool


@dataclass(frozen=True, kw_only=True)
class WouldOwn:
    """Who would own a case of a kind or type at an instant, and who was asked before.

    `called` is who is called by name where `owner` is empty.
    """

    label: str
    at: datetime
    shift: str
    chain: Sequence[ChainLine]
    owner: str
    called: str


@dataclass(frozen=True, kw_only=True)
class AgentLine:
    """An agent's identity, what it may do, and the person who answers for it."""

    name: str
    scopes: str
    owner: str
    stops_because: str


@dataclass(frozen=True, kw_only=True)
class RunningLine:
    """A running escalation of the desk."""

    case_id: int
    subject: str
    to: str
    reason: str
    next_to: str
    next_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class OwnershipPage:
    """The page for one person; `against` says why they only look, empty when they may change it."""

    desk_id: int
    desk: str
    zone: str
    at: datetime
    against: str
    lead: Choice
    lead_absence: str
    manager: Choice | None
    manager_absence: str
    called_after_minutes: int
    rules: Sequence[RuleLine]
    scopes: Sequence[Choice]
    asked: Sequence[Choice]
    people: Sequence[Choice]
    running: Sequence[RunningLine]
    agents: Sequence[AgentLine]
    limits: Sequence[tuple[str, Sequence[str]]]


def ownership_page(*, desk: Desk, person: Person, at: datetime) -> OwnershipPage:
    """The page of a desk at `at`, for a person."""
    duty = duty_at(desk=desk, at=at)
    people = people_who_may_own()
    return OwnershipPage(
        desk_id=desk.pk,
        desk=desk.name,
        zone=desk.zone,
        at=at,
        against=policies.reason_against(policies.check_may_set_roster, person=person),
        lead=Choice(value=str(desk.lead_id), label=str(desk.lead)),
        lead_absence=duty.absence_of(desk.lead_id),
        manager=None
        if desk.manager is None
        else Choice(value=str(desk.manager_id), label=str(desk.manager)),
        manager_absence="" if desk.manager_id is None else duty.absence_of(desk.manager_id),
        called_after_minutes=int(LEAD_CALLED_AFTER.total_seconds() // 60),
        rules=_rules(desk),
        scopes=scope_choices(),
        asked=[
            *(Choice(value=each.value, label=f"{each.value} of the shift") for each in Position),
            *people,
        ],
        people=people,
        running=_running(desk),
        agents=_agents(),
        limits=_limits(),
    )


def scope_choices() -> list[Choice]:
    """Every scope that a rule can have: all cases, a kind, a type; the value is `kind:type`."""
    scopes = [Choice(value=":", label="All cases")]
    for kind, playbook in PLAYBOOKS.items():
        scopes.append(Choice(value=f"{kind}:", label=playbook.label))
        scopes += [
            Choice(value=f"{kind}:{code}", label=f"{playbook.label}: {case_type.label}")
            for code, case_type in playbook.types.items()
        ]
    return scopes


def would_own(*, desk: Desk, scope: str, at: datetime) -> WouldOwn:
    """Who would own a case of that scope (`kind:type`) at an instant."""
    kind, _, case_type = scope.partition(":")
    duty = duty_at(desk=desk, at=at)
    links = duty.chain(kind=kind, case_type=case_type)
    chosen = next((link for link in links if link.is_available), None)
    label = next((choice.label for choice in scope_choices() if choice.value == scope), scope)
    return WouldOwn(
        label=label,
        at=at,
        shift=duty.shift.name,
        chain=[_chain_line(duty, link, chosen) for link in links],
        owner="" if chosen is None or chosen.person is None else str(duty.people[chosen.person]),
        called=str(called_first(duty)),
    )


def _chain_line(duty: Duty, link: Link, chosen: Link | None) -> ChainLine:
    return ChainLine(
        why=link.why,
        person="nobody" if link.person is None else str(duty.people[link.person]),
        absence="nobody stands there" if link.person is None else link.absence,
        gets_it=link is chosen,
    )


def _rules(desk: Desk) -> list[RuleLine]:
    known = {
        f"{rule.kind}:{rule.case_type}": rule
        for rule in desk.ownership_rules.select_related("person")
    }
    lines = []
    for scope in scope_choices():
        kind, _, case_type = scope.value.partition(":")
        wider = [scope.value, f"{kind}:", ":"] if case_type else [scope.value, ":"]
        rule = next((known[each] for each in wider if each in known), None)
        own = known.get(scope.value)
        lines.append(
            RuleLine(
                scope=scope.value,
                label=scope.label,
                asked=NO_RULE if rule is None else _asked(rule),
                is_own=own is not None,
                is_type=bool(case_type),
                set_by="" if own is None else own.set_by,
            )
        )
    return lines


def _asked(rule: OwnershipRule) -> str:
    return f"{rule.position} of the shift" if rule.person is None else str(rule.person)


def _running(desk: Desk) -> list[RunningLine]:
    running = Escalation.objects.filter(case__desk=desk, ended_at=None).order_by("next_at", "id")
    return [
        RunningLine(
            case_id=row.case_id,
            subject=row.case.subject,
            to=str(row.to),
            reason=row.reason,
            next_to="" if row.next_to is None else str(row.next_to),
            next_at=row.next_at,
        )
        for row in running.select_related("case", "to", "next_to")[:20]
    ]


def _agents() -> list[AgentLine]:
    return [
        AgentLine(
            name=str(agent),
            scopes=", ".join(agent.scopes),
            owner=str(agent.owner),
            stops_because=_stops(agent),
        )
        for agent in AgentIdentity.objects.select_related("owner").order_by("name", "version")
    ]


def _stops(agent: AgentIdentity) -> str:
    if not agent.is_active:
        return "it is not active, so it does nothing"
    return "" if agent.owner.is_active else "its owner is not active, so it does nothing"


def _limits() -> list[tuple[str, Sequence[str]]]:
    return [
        (
            playbook.label,
            [
                f"{amount_text(resource=resource, amount=amount)} {NAMES[resource]}"
                for resource, amount in playbook.budget.items()
            ],
        )
        for playbook in PLAYBOOKS.values()
    ]

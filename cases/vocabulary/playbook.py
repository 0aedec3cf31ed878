"""What a playbook is: the rules of one kind of case, as data.

The machinery (stages, digest, release, effects, read-back) is the same for every kind; whatever
differs between kinds stands in a playbook and nowhere else.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from cases.vocabulary.budgets import USUAL_BUDGET, Amounts
from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.facts import FactSheet, FactSpec, MaterialFact, Value
from cases.vocabulary.money import Money, money_from

type Parameters = Mapping[str, Value]


class ParameterKind(StrEnum):
    """The form of an action's parameter."""

    TEXT = "text"
    MONEY = "money"
    WINDOW = "window"


@dataclass(frozen=True, kw_only=True)
class ParameterSpec:
    """One parameter of an action: what it means and which form it has."""

    name: str
    label: str
    kind: ParameterKind = ParameterKind.TEXT


@dataclass(frozen=True, kw_only=True)
class RestsOn:
    """A fact whose change invalidates an action; parameter `record_from` names its record."""

    key: str
    record_from: str


@dataclass(frozen=True, kw_only=True)
class ReadBackCheck:
    """A field of the target's record that must equal a parameter after the action."""

    field: str
    parameter: str


@dataclass(frozen=True, kw_only=True)
class Promised:
    """What an action promised: to whom, what, and by when, in the zone of the place."""

    to: str
    what: str
    until: datetime
    zone: str


@dataclass(frozen=True, kw_only=True)
class ActionSpec:
    """One entry of the closed catalogue.

    `target_record` is the record type in which the effect is read back, or None for an action that
    changes nothing outside. `reads_back` lists what must be found there. `adopted_when` holds the
    states of that record that mean the other party took it up, which should take no longer than
    `adoption_within`: after that a lead is told (None: it may take for ever). `leaves_behind` maps
    the fact keys that this action itself changes to the value it should leave, given its
    parameters. `promises` says what somebody was promised by it, given its parameters, None when it
    promises nothing.
    """

    name: str
    label: str
    goal: str
    parameters: tuple[ParameterSpec, ...]
    rests_on: tuple[RestsOn, ...]
    describe: Callable[[Parameters], str]
    effect: Callable[[Parameters], str]
    reversible: bool
    undo_note: str
    target_record: str | None = None
    reads_back: tuple[ReadBackCheck, ...] = ()
    adopted_when: frozenset[str] = frozenset()
    refused_when: frozenset[str] = frozenset()
    adoption_label: str = ""
    adoption_within: timedelta | None = None
    cost_parameter: str | None = None
    leaves_behind: Mapping[str, Callable[[Parameters], Value]] = field(default_factory=dict)
    promises: Callable[[Parameters], Promised] | None = None

    @property
    def changes_the_outside(self) -> bool:
        """Whether releasing it sends anything to a target."""
        return self.target_record is not None


@dataclass(frozen=True, kw_only=True)
class GoalSpec:
    """Something the case must achieve, and how the facts show that it is achieved."""

    key: str
    label: str
    achieved: Callable[[FactSheet], bool]
    credit: Callable[[FactSheet], str]


@dataclass(frozen=True, kw_only=True)
class CaseType:
    """One type of case within a kind, such as E02 'Tender failed'."""

    code: str
    label: str
    goals: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PlannedAction:
    """An action chosen from the catalogue, not yet validated; `depends_on` counts from 1."""

    action: str
    parameters: Parameters
    depends_on: tuple[int, ...] = ()

    def as_value(self) -> dict[str, Any]:
        """The JSON form that plans, proposals and digests use."""
        return {
            "action": self.action,
            "parameters": dict(self.parameters),
            "depends_on": list(self.depends_on),
        }


class PlanKind(StrEnum):
    """What a planner may answer."""

    PROPOSE = "propose"
    NOTHING_LEFT = "nothing_left"
    ESCALATE = "escalate"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A planner's answer. `summary` is prose and never part of a digest or a comparison."""

    kind: PlanKind
    summary: str
    actions: tuple[PlannedAction, ...] = ()

    def as_value(self) -> dict[str, Any]:
        """The JSON form that is recorded before it is used."""
        return {
            "kind": self.kind.value,
            "summary": self.summary,
            "actions": [action.as_value() for action in self.actions],
        }


def plan_from(value: object) -> Plan:
    """Read a recorded or received answer; raises `InvalidInput` saying what does not fit."""
    if not isinstance(value, dict):
        raise InvalidInput("A plan is an object with kind, summary and actions.")
    try:
        kind = PlanKind(str(value.get("kind")))
        actions = tuple(
            PlannedAction(
                action=item["action"],
                parameters=item["parameters"],
                depends_on=tuple(item.get("depends_on", ())),
            )
            for item in value.get("actions", ())
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"A plan does not have the expected form: {error}") from error
    summary = value.get("summary")
    if not isinstance(summary, str):
        raise InvalidInput("A plan needs a summary in words.")
    return Plan(kind=kind, summary=summary, actions=actions)


type Candidates = Callable[[CaseType, FactSheet, datetime], Sequence[Plan]]


@dataclass(frozen=True, kw_only=True)
class Playbook:
    """The rules of one kind.

    `decide_by` gives the instant by which a person should have decided. `release_valid_for` is the
    longest a release may wait before it is carried out; `expiry_of` gives the first external expiry
    of an action (rate, appointment), or None. `candidates` lists plans, best first. `budget` limits
    what the agent may use up on one case; a person may raise it. `critical_facts` are the one to
    three facts of the subject that whoever takes an urgent case over reads back.
    """

    kind: str
    label: str
    subject_type: str
    subject_label: str
    types: Mapping[str, CaseType]
    facts: Mapping[str, FactSpec]
    actions: Mapping[str, ActionSpec]
    goals: Mapping[str, GoalSpec]
    release_valid_for: timedelta
    decide_by: Callable[[FactSheet, datetime], datetime]
    expiry_of: Callable[[PlannedAction, FactSheet], datetime | None]
    candidates: Candidates
    budget: Amounts = field(default_factory=lambda: USUAL_BUDGET)
    critical_facts: tuple[str, ...] = ()
    wording: Mapping[str, str] = field(default_factory=dict)

    def action(self, name: str) -> ActionSpec:
        """The catalogue entry; raises `InvalidInput` for a name that is not in the catalogue."""
        try:
            return self.actions[name]
        except (KeyError, TypeError) as error:
            raise InvalidInput(
                f"{name!r} is not an action of this playbook. Escalate to a person instead."
            ) from error

    def cost_of(self, actions: Sequence[PlannedAction]) -> Money | None:
        """The sum of what the actions spend; None when they spend nothing.

        Raises `InvalidInput` when they spend in more than one currency.
        """
        total: Money | None = None
        for planned in actions:
            parameter = self.action(planned.action).cost_parameter
            if parameter is None:
                continue
            amount = money_from(planned.parameters[parameter])
            if total is not None and total.currency != amount.currency:
                raise InvalidInput("A proposal cannot spend in two currencies.")
            spent = 0 if total is None else total.amount_minor
            total = Money(amount_minor=spent + amount.amount_minor, currency=amount.currency)
        return total


def check_plan(*, playbook: Playbook, plan: Plan) -> None:
    """Raise `InvalidInput` unless every action is in the catalogue with fitting parameters."""
    if plan.kind is PlanKind.PROPOSE and not plan.actions:
        raise InvalidInput("A proposal needs at least one action.")
    for position, planned in enumerate(plan.actions, start=1):
        spec = playbook.action(planned.action)
        check_parameters(spec=spec, parameters=planned.parameters)
        if any(not 1 <= earlier < position for earlier in planned.depends_on):
            raise InvalidInput(f"Action {position} can only depend on an earlier action.")
    playbook.cost_of(plan.actions)


def check_parameters(*, spec: ActionSpec, parameters: object) -> None:
    """Raise `InvalidInput` unless `parameters` has exactly the catalogue's names and forms."""
    names = {parameter.name for parameter in spec.parameters}
    if not isinstance(parameters, Mapping) or set(parameters) != names:
        raise InvalidInput(
            f"{spec.label} takes exactly these parameters: {', '.join(sorted(names))}."
        )
    for parameter in spec.parameters:
        value = parameters[parameter.name]
        match parameter.kind:
            case ParameterKind.TEXT:
                fits = isinstance(value, str) and bool(value.strip())
            case ParameterKind.MONEY:
                fits = money_from(value).amount_minor >= 0
            case ParameterKind.WINDOW:
                fits = isinstance(value, Mapping) and set(value) == {"start", "end", "zone"}
        if not fits:
            raise InvalidInput(f"{spec.label}: {parameter.label} has no usable value ({value!r}).")


def material_facts(
    *, playbook: Playbook, actions: Sequence[PlannedAction], sheet: FactSheet
) -> tuple[MaterialFact, ...]:
    """The facts on which the actions rest, each once, with the positions that rest on it."""
    found: dict[tuple[str, str, str], list[int]] = {}
    for position, planned in enumerate(actions, start=1):
        for rests_on in playbook.action(planned.action).rests_on:
            record_id = planned.parameters[rests_on.record_from]
            record_type = playbook.facts[rests_on.key].record_type
            found.setdefault((rests_on.key, record_type, record_id), []).append(position)
    facts = []
    for (key, record_type, record_id), positions in found.items():
        reading = sheet.reading(record_type, record_id)
        if reading is None:
            raise InvalidInput(f"{record_type} {record_id} was not read; a plan cannot rest on it.")
        facts.append(
            MaterialFact(
                key=key,
                record_type=record_type,
                record_id=record_id,
                value=reading.fields.get(key),
                positions=tuple(positions),
            )
        )
    return tuple(facts)

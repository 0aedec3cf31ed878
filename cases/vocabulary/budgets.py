"""What an agent may use up on one case over its whole life, however often it is woken."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType

from cases.vocabulary.errors import InvalidInput

MICROS = 1_000_000
HIGHEST_LIMIT = 10**12
NEAR_PERCENT = 80
TYPED_AMOUNT = re.compile(r"(?:[0-9]{1,13}|[0-9]{1,3}(?:,[0-9]{3}){1,4})(?:\.[0-9]{1,6})?")


class Resource(StrEnum):
    """Something that is used up. `money` is what models cost, in millionths of a US dollar."""

    STEPS = "steps"
    PLANNING_ROUNDS = "planning_rounds"
    TOKENS = "tokens"
    CALLS = "calls"
    MONEY = "money"


type Amounts = Mapping[Resource, int]

NAMES = {
    Resource.STEPS: "steps",
    Resource.PLANNING_ROUNDS: "planning rounds",
    Resource.TOKENS: "model tokens",
    Resource.CALLS: "calls to outside systems",
    Resource.MONEY: "model costs",
}
USUAL_BUDGET: Amounts = MappingProxyType(
    {
        Resource.STEPS: 2_000,
        Resource.PLANNING_ROUNDS: 20,
        Resource.TOKENS: 500_000,
        Resource.CALLS: 5_000,
        Resource.MONEY: 5 * MICROS,
    }
)
"""More than a case with several bad nights needs; a playbook may say otherwise."""

ONLY_FOR_PLANS = frozenset({Resource.PLANNING_ROUNDS, Resource.TOKENS, Resource.MONEY})
"""Used by planning alone: a release that stands needs none of it, so it is not stopped half-way."""


@dataclass(frozen=True, kw_only=True)
class Spending:
    """How much of one resource a case used, and how much it may use."""

    resource: Resource
    used: int
    limit: int

    @property
    def is_used_up(self) -> bool:
        """Whether nothing is left."""
        return self.used >= self.limit

    @property
    def is_nearly_used_up(self) -> bool:
        """Whether four fifths are gone, so that a lead can raise it before anything stops."""
        return self.used * 100 >= self.limit * NEAR_PERCENT

    @property
    def name(self) -> str:
        """The resource in words, with its unit."""
        unit = " (USD)" if self.resource is Resource.MONEY else ""
        return NAMES[self.resource] + unit

    def __str__(self) -> str:
        """`19 of 20 planning rounds`, `USD 4.20 of USD 5.00 model costs`."""
        used = amount_text(resource=self.resource, amount=self.used)
        limit = amount_text(resource=self.resource, amount=self.limit)
        return f"{used} of {limit} {NAMES[self.resource]}"


def spendings(*, used: Amounts, limits: Amounts) -> tuple[Spending, ...]:
    """Each limited resource with what was used of it."""
    return tuple(
        Spending(resource=resource, used=used.get(resource, 0), limit=limits[resource])
        for resource in Resource
        if resource in limits
    )


def used_up(*, used: Amounts, limits: Amounts, plans: bool) -> Spending | None:
    """The first resource of which nothing is left; None when the agent may go on.

    `plans` says that its next work is to plan: only then does it need tokens, money and rounds.
    """
    for spending in spendings(used=used, limits=limits):
        if spending.is_used_up and (plans or spending.resource not in ONLY_FOR_PLANS):
            return spending
    return None


def why_stopped(spending: Spending) -> str:
    """The sentence on the case that a used-up resource stopped."""
    return (
        f"The agent used up its budget for this case: {spending}. A lead or an admin can raise it."
    )


def resource_named(name: str) -> Resource:
    """The resource of that name; raises `InvalidInput`."""
    try:
        return Resource(name)
    except ValueError as error:
        raise InvalidInput(
            f"{name!r} is not something a budget limits. Known: {', '.join(Resource)}."
        ) from error


def amount_text(*, resource: Resource, amount: int) -> str:
    """`2,000`, or `USD 4.20` for money; parts of a cent are shown, never rounded away."""
    if resource is not Resource.MONEY:
        return f"{amount:,}"
    whole, rest = divmod(amount, MICROS)
    return f"USD {whole:,}.{f'{rest:06d}'.rstrip('0'):<02}"


def amount_from(*, resource: Resource, typed: str) -> int:
    """A typed amount: a whole number, or US dollars for money. Raises `InvalidInput`."""
    is_money = resource is Resource.MONEY
    fits = TYPED_AMOUNT.fullmatch(typed.strip()) is not None
    amount = Decimal(typed.strip().replace(",", "")) if fits else Decimal(0)
    amount *= MICROS if is_money else 1
    fits = fits and amount <= HIGHEST_LIMIT and amount == int(amount)
    if not fits:
        wanted = "US dollars, such as 7.50" if is_money else "a whole number, such as 3000"
        raise InvalidInput(f"{typed!r} is not a limit of {NAMES[resource]}. Use {wanted}.")
    return int(amount)


@dataclass(frozen=True, kw_only=True)
class ModelUsage:
    """What one answer of a planner cost: model tokens, and millionths of a US dollar."""

    tokens: int = 0
    micros: int = 0


def usage_of(answer: object) -> ModelUsage:
    """What an answer says it cost under `usage` (`tokens`, `micros`); nothing when it says nothing.

    Raises `InvalidInput` unless both are whole numbers that a budget can count.
    """
    usage = answer.get("usage") if isinstance(answer, Mapping) else None
    if usage is None:
        return ModelUsage()
    if not isinstance(usage, Mapping) or not set(usage) <= {"tokens", "micros"}:
        raise InvalidInput("The usage of an answer has tokens and micros, and nothing else.")
    for amount in usage.values():
        if type(amount) is not int or not 0 <= amount <= HIGHEST_LIMIT:
            raise InvalidInput(f"The usage of an answer is a whole number, not {amount!r}.")
    return ModelUsage(**usage)

"""P22: what is used up is decided in one place, and said in words; typed limits are exact."""

import pytest

from cases.vocabulary.budgets import (
    USUAL_BUDGET,
    ModelUsage,
    Resource,
    Spending,
    amount_from,
    amount_text,
    usage_of,
    used_up,
    why_stopped,
)
from cases.vocabulary.errors import InvalidInput

LIMITS = {Resource.STEPS: 10, Resource.PLANNING_ROUNDS: 2, Resource.MONEY: 5_000_000}


def test_p22_a_resource_is_used_up_when_nothing_is_left_and_not_before() -> None:
    assert used_up(used={Resource.STEPS: 9}, limits=LIMITS, plans=True) is None
    found = used_up(used={Resource.STEPS: 10}, limits=LIMITS, plans=True)
    assert found == Spending(resource=Resource.STEPS, used=10, limit=10)


@pytest.mark.parametrize("resource", [Resource.PLANNING_ROUNDS, Resource.MONEY])
def test_p22_what_only_plans_use_stops_only_planning(resource: Resource) -> None:
    """A release half carried out is not left so because planning was expensive."""
    used = {resource: LIMITS[resource]}
    assert used_up(used=used, limits=LIMITS, plans=False) is None
    assert used_up(used=used, limits=LIMITS, plans=True) is not None


def test_p22_the_reason_names_resource_used_limit_and_who_helps() -> None:
    spent = Spending(resource=Resource.MONEY, used=5_250_000, limit=5_000_000)
    assert why_stopped(spent) == (
        "The agent used up its budget for this case: USD 5.25 of USD 5.00 model costs. "
        "A lead or an admin can raise it."
    )


def test_p22_near_its_end_a_budget_says_so() -> None:
    for used, is_near in ((15, False), (16, True), (20, True)):
        spent = Spending(resource=Resource.PLANNING_ROUNDS, used=used, limit=20)
        assert spent.is_nearly_used_up is is_near


def test_p22_every_resource_is_limited_in_a_usual_life() -> None:
    assert set(USUAL_BUDGET) == set(Resource)


@pytest.mark.parametrize(
    ("resource", "typed", "amount"),
    [
        (Resource.MONEY, "7.50", 7_500_000),
        (Resource.MONEY, " 1,250 ", 1_250_000_000),
        (Resource.MONEY, "0.000001", 1),
        (Resource.STEPS, "3,000", 3_000),
        (Resource.TOKENS, "600000", 600_000),
    ],
)
def test_p22_a_typed_limit_is_read_exactly(resource: Resource, typed: str, amount: int) -> None:
    assert amount_from(resource=resource, typed=typed) == amount


@pytest.mark.parametrize("typed", ["", "7,50", "-5", "NaN", "1e9", "٣", "2.5", "9" * 13, "5 USD"])
def test_p22_a_limit_that_could_mean_something_else_is_refused(typed: str) -> None:
    with pytest.raises(InvalidInput):
        amount_from(resource=Resource.STEPS, typed=typed)


def test_p22_parts_of_a_cent_are_never_rounded_away() -> None:
    assert amount_text(resource=Resource.MONEY, amount=4_999_999) == "USD 4.999999"


def test_p22_an_answer_says_what_it_cost_or_nothing() -> None:
    assert usage_of({"kind": "escalate"}) == ModelUsage()
    assert usage_of({"usage": {"tokens": 1200, "micros": 300}}) == ModelUsage(
        tokens=1200, micros=300
    )


@pytest.mark.parametrize(
    "usage",
    [{"tokens": -1}, {"tokens": True}, {"tokens": "9"}, {"cents": 1}, [], {"micros": 10**13}],
)
def test_p22_a_cost_that_cannot_be_counted_is_refused(usage: object) -> None:
    with pytest.raises(InvalidInput):
        usage_of({"usage": usage})

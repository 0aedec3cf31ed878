"""Comparison by meaning: money, weights, windows, and what counts as material (C3, D3, D9, E10)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases.vocabulary.digest import canonical, digest_of, short_code
from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.facts import same
from cases.vocabulary.freight import FREIGHT
from cases.vocabulary.money import Money, money_from

FACTS = FREIGHT.facts
A_DOLLAR = {"amount_minor": 100, "currency": "USD"}
TURNED_ROUND = {"currency": "USD", "amount_minor": 100}
A_EURO = {"amount_minor": 100, "currency": "EUR"}
OAKX = {"code": "OAKX", "name": "Oakline", "set_by": "J. Ortiz"}
OAKX_AGAIN = {"code": "OAKX", "name": "Oakline Freight", "set_by": "someone"}


@pytest.mark.parametrize(
    ("key", "then", "now", "is_same"),
    [
        ("weight", "18250", "18432", True),
        ("weight", "18250", "18433", False),
        ("weight", "18250", "18250.0", True),
        ("weight", "-5", "-5", True),
        ("rate_amount", A_DOLLAR, TURNED_ROUND, True),
        ("rate_amount", A_DOLLAR, A_EURO, False),
        ("carrier_assignment", OAKX, OAKX_AGAIN, True),
        ("carrier_assignment", None, OAKX, False),
        ("carrier_assignment", None, None, True),
    ],
)
def test_c03_values_are_compared_by_meaning(key: str, then: Any, now: Any, is_same: bool) -> None:
    """Order of keys, spelling of numbers and display names are no change; amounts always are."""
    assert same(FACTS[key], then, now) is is_same


def test_a_window_is_the_same_instant_however_it_is_written() -> None:
    """15:00Z and 10:00-05:00 are one moment."""
    written = {"start": "2026-11-25T15:00:00Z", "end": "2026-11-25T17:00:00Z", "zone": "UTC"}
    otherwise = {
        "start": "2026-11-25T10:00:00-05:00",
        "end": "2026-11-25T12:00:00-05:00",
        "zone": "America/New_York",
    }
    assert same(FACTS["delivery_window"], written, otherwise)


@pytest.mark.parametrize("value", ["1e999999", "NaN", "heavy"])
def test_a_weight_that_is_none_is_refused(value: str) -> None:
    """Not a crash somewhere in decimal arithmetic."""
    with pytest.raises(InvalidInput):
        same(FACTS["weight"], "18250", value)


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.booleans() | st.none()))
def test_d09_a_digest_does_not_depend_on_the_order_of_keys(value: dict[str, Any]) -> None:
    """Two writings of one value have one digest."""
    backwards = dict(reversed(list(value.items())))
    assert canonical(value) == canonical(backwards)


@given(st.text(min_size=1), st.text(min_size=1))
def test_d09_different_values_have_different_digests(one: str, other: str) -> None:
    """Every character counts."""
    assert (digest_of({"a": one}) == digest_of({"a": other})) is (one == other)


@pytest.mark.parametrize("value", [1.5, {"a": [0.1]}, float("nan")])
def test_a_float_has_no_place_in_a_digest(value: Any) -> None:
    """The same amount must never have two texts."""
    with pytest.raises(InvalidInput):
        digest_of(value)


def test_the_code_people_compare_is_the_start_of_the_digest() -> None:
    """Eight characters in two groups."""
    assert short_code("7f3a91c2" + "0" * 56) == "7F3A-91C2"


@pytest.mark.parametrize(
    "value",
    [
        {"amount_minor": 1.0, "currency": "USD"},
        {"amount_minor": True, "currency": "USD"},
        {"amount_minor": 1},
        {"amount_minor": 1, "currency": "XXX"},
        "USD 1.00",
    ],
)
def test_money_is_whole_minor_units_with_a_known_currency(value: Any) -> None:
    """Anything else is refused, never guessed."""
    with pytest.raises(InvalidInput):
        money_from(value)


def test_money_is_written_with_its_currency() -> None:
    """Minor digits follow the currency."""
    assert str(Money(amount_minor=179000, currency="USD")) == "USD 1,790.00"
    assert str(Money(amount_minor=-5, currency="USD")) == "USD -0.05"
    assert str(Money(amount_minor=149000, currency="JPY")) == "JPY 149,000"

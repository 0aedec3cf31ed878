"""Money as whole minor units and an ISO 4217 currency; never a float, never without a currency."""

from dataclasses import dataclass
from typing import Any

from cases.vocabulary.errors import InvalidInput

MINOR_DIGITS = {"USD": 2, "EUR": 2, "CAD": 2, "MXN": 2, "GBP": 2, "JPY": 0}


@dataclass(frozen=True, kw_only=True)
class Money:
    """An amount in minor units (cents) of `currency`."""

    amount_minor: int
    currency: str

    def __post_init__(self) -> None:
        if isinstance(self.amount_minor, bool) or not isinstance(self.amount_minor, int):
            raise InvalidInput("An amount is a whole number of minor units, such as 179000 cents.")
        if self.currency not in MINOR_DIGITS:
            raise InvalidInput(f"Currency {self.currency!r} is not one this desk works in.")

    def __str__(self) -> str:
        """The amount as people write it: `USD 1,790.00`."""
        digits = MINOR_DIGITS[self.currency]
        sign = "-" if self.amount_minor < 0 else ""
        whole, rest = divmod(abs(self.amount_minor), 10**digits)
        fraction = f".{rest:0{digits}d}" if digits else ""
        return f"{self.currency} {sign}{whole:,}{fraction}"

    def as_value(self) -> dict[str, Any]:
        """The JSON form kept in facts and parameters."""
        return {"amount_minor": self.amount_minor, "currency": self.currency}


def money_from(value: object) -> Money:
    """Read the JSON form; raises `InvalidInput` when it is not exactly amount and currency."""
    if not isinstance(value, dict) or set(value) != {"amount_minor", "currency"}:
        raise InvalidInput("Money needs amount_minor and currency, and nothing else.")
    return Money(amount_minor=value["amount_minor"], currency=value["currency"])

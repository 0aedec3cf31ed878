"""Stored values as the short phrases pages show; values of unknown form are still readable."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from cases.vocabulary.clocks import zone_named
from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.facts import FactKind, Value
from cases.vocabulary.money import Money, money_from
from cases.vocabulary.playbook import ActionSpec, ParameterKind, ParameterSpec, Playbook
from cases.vocabulary.wording import NONE, say, window_text

UNSAYABLE = (InvalidInput, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""How saying a stored value can fail; whoever meets one of these shows the raw value instead."""

MARK_WORDS = {"~": "changed", "−": "ended", "+": "new", "": "unchanged"}


def mark_word(mark: str, *, now: Value) -> str:
    """The word beside a mark: a fact that is gone was removed, one that still stands ended."""
    if mark == "−" and now is None:
        return "removed"
    return MARK_WORDS.get(mark, "changed")


def plain_text(value: Value) -> str:
    """A value whose form is not known, as text without braces."""
    if value is None:
        return NONE
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {plain_text(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(plain_text(item) for item in value) or NONE
    return str(value)


def fact_text(*, playbook: Playbook, key: str, value: Value) -> str:
    """A fact in the words of its playbook; a fact the playbook no longer lists as plain text."""
    spec = playbook.facts.get(key)
    if spec is None:
        return plain_text(value)
    return said(lambda: say(spec, value), otherwise=plain_text(value))


def parameters_text(*, spec: ActionSpec, parameters: Mapping[str, Value]) -> list[tuple[str, str]]:
    """Label and exact value of every parameter, in the order of the catalogue."""
    words: dict[ParameterKind, Callable[[Value], str]] = {
        ParameterKind.TEXT: plain_text,
        ParameterKind.MONEY: lambda value: str(money_from(value)),
        ParameterKind.WINDOW: window_text,
    }

    def text(parameter: ParameterSpec) -> str:
        value = parameters[parameter.name]
        return said(lambda: words[parameter.kind](value), otherwise=plain_text(value))

    return [
        (parameter.label, text(parameter))
        for parameter in spec.parameters
        if parameter.name in parameters
    ]


def said(phrase: Callable[[], str], *, otherwise: str) -> str:
    """The phrase, or `otherwise` when what it is made of cannot be said."""
    try:
        return phrase()
    except UNSAYABLE:
        return otherwise


def money_text(*, minor: int, currency: str) -> str:
    """`USD 1,790.00`; an amount in a currency the desk does not know stays in minor units."""
    return said(
        lambda: str(Money(amount_minor=minor, currency=currency)),
        otherwise=f"{currency} {minor} (minor units)",
    )


def zone_of_place(*, playbook: Playbook, fields: Mapping[str, Any], otherwise: str) -> str:
    """The zone of the stop the subject is next at: of its first window, else `otherwise`."""
    for key, spec in playbook.facts.items():
        value = fields.get(key)
        if spec.kind is FactKind.WINDOW and isinstance(value, Mapping):
            try:
                return zone_named(str(value.get("zone"))).key
            except InvalidInput:
                continue
    return otherwise


def age_text(*, since: datetime, at: datetime) -> str:
    """How long ago, in one unit: `40 s`, `3 min`, `15 h`, `4 days`. Never for a deadline."""
    seconds = max(0, int((at - since).total_seconds()))
    for limit, size, unit in ((120, 1, "s"), (7200, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{seconds // size} {unit}"
    return f"{seconds // 86_400} days"


def counted(number: int, singular: str, plural: str = "") -> str:
    """`1 change`, `3 changes`."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"

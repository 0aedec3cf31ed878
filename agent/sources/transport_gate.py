"""The one gate for the transport system's JSON: what passes can be kept, compared and shown. Pure.

Whatever the contract does not allow, or no database holds, is `Malformed`, and named.
"""

import reprlib
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from agent.sources.texts import UNSTORABLE, fit_to_keep
from cases.vocabulary.clocks import instant_from, iso, zone_named
from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.money import Money

LONGEST_KEY = 300
LONGEST_WORD = 32
LONGEST_TEXT = 10_000
LARGEST_WHOLE = 2**63 - 1
NO_WEIGHT_FROM_KG = 10**7


class Malformed(Exception):  # noqa: N818 (said of a body)
    """A body that is not what the system's contract promises."""

    def __init__(self, what: str) -> None:
        super().__init__(f"transport system sent something unusable ({fit_to_keep(what)})")


class Record:
    """An object the system sent, called `name`; each value leaves it checked, or is `Malformed`."""

    def __init__(self, body: object, *, name: str) -> None:
        if not isinstance(body, dict):
            raise Malformed(f"{name} is no object")
        self._body = body
        self._name = name

    def has(self, name: str) -> bool:
        """Whether the record says anything there; a name left out is malformed, null is not."""
        if name not in self._body:
            raise Malformed(f"{name} is missing")
        return self._body[name] is not None

    def record(self, name: str) -> "Record":
        """The object there."""
        return Record(self._body.get(name), name=f"{name} of the {self._name}")

    def entries(self, name: str) -> Sequence[object]:
        """The list there."""
        value = self._body.get(name)
        if not isinstance(value, list):
            raise Malformed(f"{name} is no list")
        return value

    def keys(self, name: str) -> Sequence[str]:
        """The list of keys there."""
        return [Record({name: item}, name=self._name).key(name) for item in self.entries(name)]

    def flag(self, name: str) -> bool:
        """Yes or no, and nothing that merely looks like it."""
        value = self._body.get(name)
        if not isinstance(value, bool):
            raise Malformed(f"{name} is {reprlib.repr(value)}, neither true nor false")
        return value

    def text(self, name: str) -> str:
        """Text for people; a character that cannot be stored becomes a visible mark."""
        return UNSTORABLE.sub("\ufffd", self._string(name, longest=LONGEST_TEXT))

    def key(self, name: str) -> str:
        """What identifies something and is compared or sent back: never altered, never empty."""
        return self._key(name, longest=LONGEST_KEY)

    def word(self, name: str) -> str:
        """One word of a fixed list, such as a status."""
        return self._key(name, longest=LONGEST_WORD)

    def address(self, name: str) -> str:
        """Where something is sent to: never altered, but there may be none."""
        return self._storable(name, longest=LONGEST_KEY)

    def whole(self, name: str) -> int:
        """A whole number from 0 up that a database holds."""
        value = self._body.get(name)
        if isinstance(value, bool) or not isinstance(value, int):
            raise Malformed(f"{name} is {reprlib.repr(value)}, not a whole number")
        if not 0 <= value <= LARGEST_WHOLE:
            raise Malformed(f"{name} is {reprlib.repr(value)}, out of reach")
        return value

    def money(self) -> dict[str, object]:
        """`amount_minor` with `currency`, in the JSON form of money."""
        try:
            money = Money(amount_minor=self.whole("amount_minor"), currency=self.word("currency"))
        except InvalidInput as error:
            raise Malformed(str(error)) from error
        return money.as_value()

    def weight(self, name: str) -> str:
        """Kilograms as decimal text, above 0 and below ten thousand tonnes."""
        text = self.word(name)
        try:
            kilograms = Decimal(text)
            is_weight = kilograms.is_finite() and 0 < kilograms < NO_WEIGHT_FROM_KG
        except InvalidOperation:
            is_weight = False
        if not is_weight:
            raise Malformed(f"{name} is {text!r}, which is no weight")
        return text

    def instant(self, name: str) -> str:
        """An instant in its canonical text."""
        try:
            return iso(instant_from(self._string(name, longest=LONGEST_KEY)))
        except InvalidInput as error:
            raise Malformed(f"{name}: {error}") from error

    def zone(self, name: str) -> str:
        """The name of an IANA zone."""
        text = self._string(name, longest=LONGEST_KEY)
        try:
            zone_named(text)
        except InvalidInput as error:
            raise Malformed(f"{name}: {error}") from error
        return text

    def _key(self, name: str, *, longest: int) -> str:
        value = self._storable(name, longest=longest)
        if not value:
            raise Malformed(f"{name} is empty")
        return value

    def _storable(self, name: str, *, longest: int) -> str:
        value = self._string(name, longest=longest)
        if UNSTORABLE.search(value):
            raise Malformed(f"{name} is {reprlib.repr(value)}, with characters no key has")
        return value

    def _string(self, name: str, *, longest: int) -> str:
        value = self._body.get(name)
        if not isinstance(value, str):
            raise Malformed(f"{name} is {reprlib.repr(value)}, not text")
        if len(value) > longest:
            raise Malformed(f"{name} is longer than {longest} characters")
        return value


def items_of(body: object) -> Sequence[object]:
    """The records of a listing."""
    return Record(body, name="answer").entries("items")

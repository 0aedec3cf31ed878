"""Reads request bodies and query strings field by field and refuses what nobody asked for."""

import json
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import NoReturn, cast
from zoneinfo import available_timezones

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest

from transport_sim.problems import Problem

IDENTIFIER = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
SCAC = r"[A-Z]{2,4}"
CURRENCY = r"[A-Z]{3}"
_DECIMAL = r"[0-9]{1,7}(\.[0-9]{1,3})?"
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_BIGGEST = 2**53 - 1  # what every JSON reader can hold exactly
_ZONES = available_timezones()


class Fields:
    """One JSON object, or one query string, being read. ``done`` refuses the unread rest."""

    def __init__(self, values: Mapping[str, object], *, where: str = "") -> None:
        """Start reading ``values``; ``where`` is the path to this object, for messages."""
        self._values = values
        self._where = where
        self._read: set[str] = set()

    def refuse(self, name: str, what_to_send: str) -> NoReturn:
        """Refuse the field ``name`` and say what would be right."""
        place = f"{self._where}{name}"
        raise Problem(
            status=422,
            code="invalid_field",
            detail=f"Field {place}: {what_to_send}.",
            field=place,
        )

    def done(self) -> None:
        """Refuse fields that nobody read."""
        for name in self._values:
            if name not in self._read:
                place = f"{self._where}{name}"
                raise Problem(
                    status=422,
                    code="unknown_field",
                    detail=f"Field {place[:200]} is not known here. Leave it out.",
                    field=place[:200],
                )

    def has(self, name: str) -> bool:
        """True when the field was sent, even as null."""
        return name in self._values

    def is_null(self, name: str) -> bool:
        """True when the field was sent as null, which also counts as read."""
        self._read.add(name)
        return name in self._values and self._values[name] is None

    def text(self, name: str, *, longest: int = 200) -> str:
        """A non-empty string of at most ``longest`` characters."""
        value = self._take(name)
        if not isinstance(value, str) or not 0 < len(value) <= longest:
            self.refuse(name, f"send a string of 1 to {longest} characters")
        if _UNSTORABLE.search(value):
            self.refuse(name, "leave out NUL characters and lone surrogates")
        return value

    def matching(self, name: str, pattern: str) -> str:
        """A string of the given form, e.g. an identifier."""
        value = self.text(name)
        if not re.fullmatch(pattern, value):
            self.refuse(name, f"send a string of the form {pattern}")
        return value

    def identifier(self, name: str) -> str:
        """The id of a record."""
        return self.matching(name, IDENTIFIER)

    def choice(self, name: str, choices: Collection[str]) -> str:
        """One of a closed list of strings."""
        value = self._take(name)
        if not isinstance(value, str) or value not in choices:
            self.refuse(name, f"send one of {', '.join(choices)}")
        return value

    def whole(self, name: str, *, lowest: int, highest: int = _BIGGEST) -> int:
        """A JSON integer within bounds; true and 1.0 are not integers."""
        value = self._take(name)
        if type(value) is not int or not lowest <= value <= highest:
            self.refuse(name, f"send an integer from {lowest} to {highest}")
        return value

    def number(self, name: str, *, lowest: float, highest: float) -> float:
        """A JSON number within bounds."""
        value = self._take(name)
        if type(value) not in {int, float} or not lowest <= cast(float, value) <= highest:
            self.refuse(name, f"send a number from {lowest:g} to {highest:g}")
        return float(cast(float, value))

    def flag(self, name: str) -> bool:
        """A JSON true or false; nothing else counts as either."""
        value = self._take(name)
        if not isinstance(value, bool):
            self.refuse(name, "send true or false")
        return value

    def decimal(self, name: str) -> Decimal:
        """A positive decimal written as a string, up to three places."""
        value = Decimal(self.matching(name, _DECIMAL))
        if value <= 0:
            self.refuse(name, "send more than 0")
        return value

    def instant(self, name: str) -> datetime:
        """An ISO-8601 instant with offset or Z, as UTC."""
        value = self._parsed(name)
        if value.tzinfo is None:
            self.refuse(name, "add the offset, e.g. 2026-11-24T18:00:00Z")
        try:
            return value.astimezone(UTC)
        except OverflowError:
            self.refuse(name, "send an instant between the years 1 and 9999 in UTC")

    def local_time(self, name: str) -> datetime:
        """An ISO-8601 wall time without offset; the zone is known otherwise."""
        value = self._parsed(name)
        if value.tzinfo is not None:
            self.refuse(name, "send a wall time without offset, e.g. 2026-11-24T12:00")
        return value

    def zone(self, name: str) -> str:
        """An IANA time zone name."""
        value = self.text(name)
        if value not in _ZONES:
            self.refuse(name, "send an IANA zone name, e.g. America/Chicago")
        return value

    def child(self, name: str) -> "Fields":
        """A nested object."""
        return self._object(name, self._take(name))

    def children(self, name: str, *, most: int = 100) -> list["Fields"]:
        """A list of nested objects."""
        value = self._take(name)
        if not isinstance(value, list) or not 0 < len(value) <= most:
            self.refuse(name, f"send a list of 1 to {most} objects")
        return [self._object(f"{name}[{index}]", item) for index, item in enumerate(value)]

    def _object(self, name: str, value: object) -> "Fields":
        if not isinstance(value, dict):
            self.refuse(name, "send an object")
        return Fields(cast(dict[str, object], value), where=f"{self._where}{name}.")

    def _parsed(self, name: str) -> datetime:
        text = self.text(name, longest=40)
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            self.refuse(name, "send an ISO-8601 date and time")

    def _take(self, name: str) -> object:
        self._read.add(name)
        if name not in self._values:
            self.refuse(name, "this field is required")
        return self._values[name]


def body_of(request: HttpRequest) -> dict[str, object]:
    """Parse the request body as one JSON object.

    Raises Problem 400 when it is not JSON or not an object, 413 when it is too big.
    """
    try:
        value = json.loads(request.body, parse_constant=_refuse_constant)
    except RequestDataTooBig as error:
        raise Problem(
            status=413, code="body_too_big", detail="The request body is too big. Send less."
        ) from error
    except (ValueError, RecursionError) as error:
        raise Problem(
            status=400, code="malformed_json", detail="The body is not JSON. Send a JSON object."
        ) from error
    if not isinstance(value, dict):
        raise Problem(status=400, code="malformed_json", detail="Send one JSON object.")
    return cast(dict[str, object], value)


def query_of(request: HttpRequest) -> Fields:
    """Read the query string; every value is a string, of a repeated one the last counts."""
    return Fields(cast(dict[str, object], request.GET.dict()))


def query_number(query: Fields, name: str, *, default: int, highest: int = _BIGGEST) -> int:
    """A non-negative integer in the query string, or its default."""
    if not query.has(name):
        return default
    value = int(query.matching(name, r"[0-9]{1,16}"))
    if value > highest:
        query.refuse(name, f"send at most {highest}")
    return value


def query_list(query: Fields, name: str, *, most: int) -> list[str]:
    """A comma separated list of identifiers, each once, in the order given."""
    identifiers = dict.fromkeys(query.text(name, longest=most * 66).split(","))
    if len(identifiers) > most:
        query.refuse(name, f"send at most {most} ids")
    for identifier in identifiers:
        if not re.fullmatch(IDENTIFIER, identifier):
            query.refuse(name, "send ids separated by commas")
    return list(identifiers)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")

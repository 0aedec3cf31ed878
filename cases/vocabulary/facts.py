"""Facts: named values from observations, how they are compared, and when a change is material.

Values are plain JSON, one form per kind (see `FactKind`). Comparison is by meaning, never by text:
amounts by minor units and currency, times by instant, weights within a tolerance.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any

from cases.vocabulary.clocks import instant_from
from cases.vocabulary.digest import digest_of
from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.money import money_from

type Value = Any
"""A plain JSON value in the form its kind prescribes, or None when the source has none."""


HEAVIEST_KILOGRAMS = Decimal(10) ** 9


class FactKind(StrEnum):
    """The form of a fact's value."""

    TEXT = "text"  # "reefer"
    PARTY = "party"  # {"code", "name", "set_by"}: compared by code alone
    WINDOW = "window"  # {"start", "end", "zone"}: instants with the zone of the place
    EXPIRY = "expiry"  # {"expires_at", "zone", "state"}: state is "open" or what ended it
    MONEY = "money"  # {"amount_minor", "currency"}
    WEIGHT = "weight"  # "18250" kilograms, as decimal text
    NOTICE = "notice"  # {"about", "sent_at", "sent_by"}: what a party was last told


@dataclass(frozen=True, kw_only=True)
class FactSpec:
    """What a fact is called, where it stands, and why a change of it matters to people.

    `tolerance_percent` and `tolerance_minutes` are the largest differences that do not count.
    """

    key: str
    label: str
    record_type: str
    kind: FactKind
    why: str
    tolerance_percent: Decimal = Decimal(0)
    tolerance_minutes: int = 0


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One successful observation of one source record.

    `version` is the source's own version, or None when it has no usable one; `etag` its tag, or
    empty; `observed_at` is the business time at which it was asked for; `fields` maps fact keys to
    values; `observation_id` is the stored row, 0 when there is none.
    """

    record_type: str
    record_id: str
    version: int | None
    observed_at: datetime
    fields: Mapping[str, Value]
    observation_id: int = 0
    etag: str = ""

    @property
    def fingerprint(self) -> str:
        """Digest over the selected fields: what is compared where a version is missing."""
        return digest_of(dict(self.fields))


@dataclass(frozen=True, kw_only=True)
class FactSheet:
    """The newest readings that belong to one case."""

    subject_type: str
    subject_id: str
    readings: tuple[Reading, ...]

    @property
    def digest(self) -> str:
        """Digest over all facts, whatever their versions and times of reading."""
        return digest_of(
            [[item.record_type, item.record_id, item.fingerprint] for item in self.readings]
        )

    def reading(self, record_type: str, record_id: str) -> Reading | None:
        """The reading of that record, or None when it was never read."""
        for reading in self.readings:
            if (reading.record_type, reading.record_id) == (record_type, record_id):
                return reading
        return None

    def subject(self, key: str) -> Value:
        """A fact of the case's own subject; None when it was not read."""
        reading = self.reading(self.subject_type, self.subject_id)
        return None if reading is None else reading.fields.get(key)

    def of_type(self, record_type: str) -> tuple[Reading, ...]:
        """All readings of one record type, in the order of their ids."""
        found = [reading for reading in self.readings if reading.record_type == record_type]
        return tuple(sorted(found, key=lambda reading: reading.record_id))


@dataclass(frozen=True, kw_only=True)
class MaterialFact:
    """A fact as it stood when a proposal was made, on which the named actions rest."""

    key: str
    record_type: str
    record_id: str
    value: Value
    positions: tuple[int, ...]

    def as_value(self) -> dict[str, Any]:
        """The JSON form kept with the proposal and covered by its digest."""
        return {
            "key": self.key,
            "record_type": self.record_type,
            "record_id": self.record_id,
            "value": self.value,
            "positions": list(self.positions),
        }


@dataclass(frozen=True, kw_only=True)
class FactChange:
    """One difference between then and now, and whether it invalidates an action."""

    key: str
    label: str
    record_type: str
    record_id: str
    then: Value
    now: Value
    material: bool
    why: str

    @property
    def mark(self) -> str:
        """`+` appeared, `−` went away or ended, `~` changed."""
        if self.then is None:
            return "+"
        ended = isinstance(self.now, dict) and self.now.get("state", "open") != "open"
        return "−" if self.now is None or ended else "~"

    @property
    def ran_out(self) -> bool:
        """Whether nothing but a clock changed this fact: its time is over."""
        return isinstance(self.now, dict) and self.now.get("state") == "expired"

    def as_value(self) -> dict[str, Any]:
        """The JSON form kept in proposals and audit events."""
        return {
            "key": self.key,
            "label": self.label,
            "record_type": self.record_type,
            "record_id": self.record_id,
            "then": self.then,
            "now": self.now,
            "material": self.material,
            "why": self.why,
            "mark": self.mark,
        }


def material_fact_from(value: Mapping[str, Any]) -> MaterialFact:
    """Read the JSON form made by `MaterialFact.as_value`."""
    return MaterialFact(
        key=value["key"],
        record_type=value["record_type"],
        record_id=value["record_id"],
        value=value["value"],
        positions=tuple(value["positions"]),
    )


def first_expiry(values: Iterable[Value]) -> datetime | None:
    """When the first of these values that is still open runs out, by nothing but the clock."""
    ends = [
        instant_from(value["expires_at"])
        for value in values
        if isinstance(value, dict) and value.get("state") == "open" and "expires_at" in value
    ]
    return min(ends, default=None)


def _weight(value: Value) -> Decimal:
    try:
        weight = Decimal(str(value))
    except InvalidOperation as error:
        raise InvalidInput(f"{value!r} is not a weight in kilograms.") from error
    if not weight.is_finite() or abs(weight) > HEAVIEST_KILOGRAMS:
        raise InvalidInput(f"{value!r} is not a believable weight in kilograms.")
    return weight


def _near(then: str, now: str, minutes: int) -> bool:
    return abs(instant_from(then) - instant_from(now)) <= timedelta(minutes=minutes)


def same(spec: FactSpec, then: Value, now: Value) -> bool:
    """Whether two values of a fact mean the same, within the fact's tolerance."""
    if then is None or now is None:
        return then is None and now is None
    match spec.kind:
        case FactKind.TEXT:
            return bool(then == now)
        case FactKind.PARTY:
            return bool(then["code"] == now["code"])
        case FactKind.MONEY:
            return money_from(then) == money_from(now)
        case FactKind.WEIGHT:
            before, after = _weight(then), _weight(now)
            return abs(after - before) * 100 <= abs(before) * spec.tolerance_percent
        case FactKind.WINDOW:
            return all(
                _near(then[end], now[end], spec.tolerance_minutes) for end in ("start", "end")
            )
        case FactKind.EXPIRY:
            return bool(then["state"] == now["state"]) and _near(
                then["expires_at"], now["expires_at"], spec.tolerance_minutes
            )
        case FactKind.NOTICE:
            return bool(then["about"] == now["about"])


def compare(
    *,
    specs: Mapping[str, FactSpec],
    material: Sequence[MaterialFact],
    sheet: FactSheet,
    expected: Mapping[str, Value] | None = None,
) -> tuple[FactChange, ...]:
    """The material facts that differ now, in the order of the playbook.

    `expected` overlays facts that our own confirmed effects were meant to change (fact key to the
    value they should have left behind): reaching it is not a change, anything else is.
    A record that is no longer in the sheet counts as a change to None.
    """
    order = list(specs)
    changes = []
    for fact in sorted(material, key=lambda fact: order.index(fact.key)):
        spec = specs[fact.key]
        reading = sheet.reading(fact.record_type, fact.record_id)
        now = None if reading is None else reading.fields.get(fact.key)
        then = (expected or {}).get(fact.key, fact.value)
        if not same(spec, then, now):
            changes.append(change_of(spec, fact.record_id, then, now, material=True))
    return tuple(changes)


def change_of(
    spec: FactSpec, record_id: str, then: Value, now: Value, *, material: bool
) -> FactChange:
    """The difference of one fact as a `FactChange`."""
    return FactChange(
        key=spec.key,
        label=spec.label,
        record_type=spec.record_type,
        record_id=record_id,
        then=then,
        now=now,
        material=material,
        why=spec.why,
    )


def went_back(*, then: int | None, now: int | None) -> bool:
    """Whether a source's version is lower than one already seen (a restore, or a stale replica)."""
    return then is not None and now is not None and now < then

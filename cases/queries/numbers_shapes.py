"""The numbers a lead acts on as the page shows them: plain frozen values, no rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from cases.queries.roster_page import Choice
from cases.vocabulary.numbers import Part

MOST_BEHIND = 8
"""So many cases stand beside a number; the words say how many there are."""


class Unit(StrEnum):
    """What a plot counts."""

    COUNT = "count"
    SECONDS = "seconds"


@dataclass(frozen=True, kw_only=True)
class Period:
    """The time that is counted: its parts in order, and the present instant, where it ends."""

    parts: Sequence[Part]
    at: datetime

    @property
    def since(self) -> datetime:
        """Where it begins."""
        return self.parts[0].starts_at


@dataclass(frozen=True, kw_only=True)
class Line:
    """One day or shift of a number: its cells, and its bar and mark; None where nothing counts."""

    label: str
    cells: Sequence[str]
    bar: float | None
    mark: float | None = None


@dataclass(frozen=True, kw_only=True)
class Behind:
    """A case that a number counts, and why; on the sheet of a handover where one is named."""

    case_id: int
    subject: str
    says: str
    handover_id: int | None = None


@dataclass(frozen=True, kw_only=True)
class Number:
    """One number: its value, what it says, what exactly it counts, its parts, and cases behind it.

    `bar` and `mark` name what the plot draws; without a mark the name is empty.
    """

    key: str
    title: str
    value: str
    says: str
    counts: str
    unit: Unit
    columns: Sequence[str]
    lines: Sequence[Line]
    bar: str
    mark: str
    behind_title: str
    behind: Sequence[Behind]
    is_empty: bool


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How many cases stand where, apart from all others; `view` is where the queue shows them."""

    key: str
    label: str
    count: int
    counts: str
    tone: str
    view: str = ""


@dataclass(frozen=True, kw_only=True)
class NumbersPage:
    """The page of a desk (IANA zone) for a period."""

    desk_id: int
    desk: str
    zone: str
    desks: Sequence[Choice]
    at: datetime
    since: datetime
    standing: Sequence[Standing]
    numbers: Sequence[Number]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to count yet."""
        return all(number.is_empty for number in self.numbers) and not any(
            row.count for row in self.standing
        )

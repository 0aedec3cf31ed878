"""What the set-based refresh and the record hand each other: plain frozen values, no rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cases.vocabulary.work import RecordKey, SourceReading


@dataclass(frozen=True, kw_only=True)
class FeedGrant:
    """The claim of one refresher on one system; its lease ends at `lease_until` (business time).

    `position` is how far the system's change feed was read, `last_entry` the digest of the entry
    there. `handovers` are those being refreshed, `kinds` the kinds of case that are not paused.
    """

    system: str
    fencing_token: int
    lease_until: datetime
    position: int
    last_entry: str
    handovers: tuple[int, ...]
    kinds: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class FeedPage:
    """A page of a change feed: the subjects it names, and where the reader stands after it.

    `named` gives each with its newest version in the page, None where the page does not tell it.
    """

    named: Mapping[str, int | None]
    position: int
    last_entry: str
    has_more: bool


@dataclass(frozen=True, kw_only=True)
class FeedStartedOver:
    """The feed no longer holds the entry that was read last: nothing follows from its silence."""


@dataclass(frozen=True, kw_only=True)
class NotRead:
    """Why a system gave no usable answer, in plain words without a full stop.

    `retry_after` is how long no call is made to it. `was_asked` says that the system asked for
    that; otherwise it is our own pace, and nothing failed. `was_answered` says that it did answer:
    then asking for fewer records may help.
    """

    reason: str
    retry_after: timedelta = timedelta(0)
    was_asked: bool = True
    was_answered: bool = False


@dataclass(frozen=True, kw_only=True)
class CaseToRead:
    """A case whose sources are to be read, with the records known so far.

    `is_named` says that the change feed names one of them.
    """

    case_id: int
    subject: str
    records: tuple[RecordKey, ...]
    is_named: bool = False


type ReadingsBySubject = Mapping[str, Sequence[SourceReading]]

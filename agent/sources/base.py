"""What a source is: an outside system that can be read, and asked to change something.

An adapter declares what its system can do; the engine chooses the safe behaviour from that. Text it
brings is data: it never decides anything.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from cases.vocabulary.refreshing import (
    CaseToRead,
    FeedPage,
    FeedStartedOver,
    NotRead,
    ReadingsBySubject,
)
from cases.vocabulary.work import (
    AttemptOrder,
    CallResult,
    Capabilities,
    EffectWork,
    RecordKey,
    SourceReading,
    TargetLook,
)

type Permit = Callable[[], None]
"""Asked right before every single call to the outside; it raises when the call must not be made,
because the worker lost the case, or a person paused the agents. Never caught by an adapter.
"""


@dataclass(frozen=True, kw_only=True)
class TargetLease:
    """A lease granted by the target itself; its token goes with each change under it."""

    lease_id: str
    fencing_token: int


@dataclass(frozen=True, kw_only=True)
class NoLease:
    """No lease was granted, and why: someone holds the resource, or the target cannot be asked.

    `retry_after` is how long the target asked to be left alone, None when it did not.
    """

    reason: str
    retry_after: timedelta | None = None


class Source(Protocol):
    """One outside system. No method waits longer than its timeout, and none raises for failures of
    the system: those come back as values that say so. Each asks `permit` before each of its calls.
    """

    @property
    def capabilities(self) -> Capabilities:
        """What this system can do."""

    def read(
        self, *, subject: str, records: Sequence[RecordKey], permit: Permit
    ) -> list[SourceReading]:
        """Fresh readings of the subject and what belongs to it; `records` are those known so far.

        All or nothing: when any part cannot be read, every known record comes back as failed; when
        the subject is gone, every known record is missing with it. Only one of several records
        that says something unusable is left out, as missing, and hides no other.
        """

    def take_lease(
        self, *, subject: str, holder: str, ttl: timedelta, permit: Permit
    ) -> TargetLease | NoLease:
        """Take the target's lease on the subject; the same holder may take it again.

        Only asked of a system that has leases.
        """

    def release_lease(self, lease: TargetLease, *, permit: Permit) -> None:
        """Give the lease back; when that fails it ends by itself."""

    def perform(
        self, *, order: AttemptOrder, fencing_token: int | None, permit: Permit
    ) -> CallResult:
        """Make exactly one call for a committed attempt and say how it ended."""

    def look_up(self, *, effect: EffectWork, permit: Permit) -> TargetLook:
        """Search the target for the effect, by its reference or by the id an answer once named.

        Not knowing is never 'not found': what cannot be asked is not readable, and where there is
        no way to ask it is not searchable.
        """


class BulkSource(Protocol):
    """The same system when many cases are read at once; it fails and asks like a `Source`."""

    @property
    def capabilities(self) -> Capabilities:
        """What this system can do."""

    @property
    def most_at_once(self) -> int:
        """Of how many subjects one answer can tell."""

    def changes_after(
        self, *, position: int, last_entry: str, permit: Permit
    ) -> FeedPage | FeedStartedOver | NotRead:
        """The next page of the change feed; only asked of a system that has one.

        `last_entry` is the digest of the entry at `position`, which must still be there.
        """

    def read_many(
        self, *, cases: Sequence[CaseToRead], permit: Permit
    ) -> ReadingsBySubject | NotRead:
        """Fresh readings of each subject, as `Source.read` gives them; each fails on its own.

        Several cases may be about one subject: every record that any of them knows is told.
        """

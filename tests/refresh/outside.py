"""A transport system in memory that is read in bulk, with a change feed, and a night at a desk."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from agent.crew import AGENT_NAME, AGENT_VERSION
from agent.refresh import Refresher
from agent.refresh_desk import RecordRefresh
from agent.sources.base import Permit
from agent.sources.transport_profiles import MODERN
from cases.models import Case, Handover, SourceFeed
from cases.vocabulary.refreshing import (
    CaseToRead,
    FeedPage,
    FeedStartedOver,
    NotRead,
    ReadingsBySubject,
)
from cases.vocabulary.work import Capabilities, Comparison, ReadOutcome, SourceReading
from tests.cases.builders import (
    EVENING,
    Cast,
    a_quote,
    a_shipment,
    agent_reads,
    an_open_case,
    at_business_time,
    unreadable,
)

HALF_PAST_SEVEN = datetime(2026, 11, 24, 13, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def nothing() -> None:
    """What happens on most occasions."""


@dataclass(kw_only=True)
class Outside:
    """What the system says of each shipment, what its feed names, and how it fails.

    Of those `away` it says that they cannot be read; lists with one that is `spoiling` end in 503;
    of the records `left_out` it says nothing.
    """

    told: dict[str, list[SourceReading]] = field(default_factory=dict)
    feed: list[str] = field(default_factory=list)
    page: int = 100
    is_away: NotRead | None = None
    feed_is_away: NotRead | None = None
    away: set[str] = field(default_factory=set)
    spoiling: set[str] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)
    era: str = "first"
    read: list[list[str]] = field(default_factory=list)
    pages: int = 0
    on_read: Callable[[], None] = nothing
    can: Capabilities = MODERN

    @property
    def capabilities(self) -> Capabilities:
        """See `BulkSource.capabilities`."""
        return self.can

    @property
    def most_at_once(self) -> int:
        """See `BulkSource.most_at_once`."""
        return 3

    def changes(self, subject: str, *readings: SourceReading) -> None:
        """Somebody changes a shipment: its feed names it."""
        self.told[subject] = list(readings)
        self.feed.append(subject)

    def changes_after(
        self, *, position: int, last_entry: str, permit: Permit
    ) -> FeedPage | FeedStartedOver | NotRead:
        """See `BulkSource.changes_after`."""
        permit()
        self.pages += 1
        if self.feed_is_away is not None:
            return self.feed_is_away
        if position and (position > len(self.feed) or self.entry(position) != last_entry):
            return FeedStartedOver()
        end = min(position + self.page, len(self.feed))
        return FeedPage(
            named={subject: self._version_of(subject) for subject in self.feed[position:end]},
            position=end,
            last_entry=self.entry(end) if end else "",
            has_more=end < len(self.feed),
        )

    def _version_of(self, subject: str) -> int | None:
        return self.told[subject][0].version if subject in self.told else None

    def entry(self, position: int) -> str:
        """What tells the entry there from any other."""
        return f"{self.era} {position} {self.feed[position - 1]}"

    def read_many(
        self, *, cases: Sequence[CaseToRead], permit: Permit
    ) -> ReadingsBySubject | NotRead:
        """See `BulkSource.read_many`."""
        permit()
        self.read.append([case.subject for case in cases])
        self.on_read()
        if self.is_away is not None:
            return self.is_away
        if any(case.subject in self.spoiling for case in cases):
            return NotRead(reason="transport system answered 503", was_answered=True)
        return {
            subject: self._of(subject, [case for case in cases if case.subject == subject])
            for subject in {case.subject for case in cases}
        }

    def _of(self, subject: str, cases: Sequence[CaseToRead]) -> list[SourceReading]:
        """What it says of a shipment; what one of the cases knows of it and is gone is missing."""
        told = {item.record_id: item for item in self.told[subject]}
        for known in (record for case in cases for record in case.records):
            told.setdefault(known.record_id, missing(known.record_type, known.record_id))
        readings = [item for name, item in told.items() if name not in self.left_out]
        return [unreadable(item) for item in readings] if subject in self.away else readings

    @property
    def subjects_read(self) -> list[str]:
        """Every subject that was read, in order."""
        return [subject for batch in self.read for subject in batch]

    def refresher(self, worker: str = "worker-1") -> Refresher:
        """A refresher of this system, with the real door to the record."""
        desk = RecordRefresh(agent_name=AGENT_NAME, agent_version=AGENT_VERSION)
        return Refresher(desk=desk, source=self, worker=worker)

    def refresh(self) -> int:
        """One pass."""
        return self.refresher().refresh()


def missing(record_type: str, record_id: str) -> SourceReading:
    """The record does not exist, or does so no longer."""
    return SourceReading(
        system=MODERN.system,
        record_type=record_type,
        record_id=record_id,
        outcome=ReadOutcome.MISSING,
    )


def quote_of(subject: str, **said: Any) -> SourceReading:
    """A rate of the shipment that ends at noon."""
    return a_quote(f"Q-{subject}", expires_at="2026-11-24T18:00:00Z", **said)


def a_night(cast: Cast, outside: Outside, subjects: Iterable[str]) -> dict[str, Case]:
    """17:00: each case waits for a release. The desk is as it was at 07:30 the next morning."""
    cases = {}
    at_business_time(EVENING)
    for subject in subjects:
        outside.told[subject] = [a_shipment(subject=subject), quote_of(subject)]
        cases[subject] = an_open_case(cast, subject=subject)
        assert agent_reads(cases[subject], outside.told[subject]) is Comparison.PLAN
    at_business_time(HALF_PAST_SEVEN)
    return cases


def follow_since_noon(outside: Outside) -> None:
    """The feed has been followed since noon, and was read to its end at 17:00."""
    SourceFeed.objects.create(
        system=outside.capabilities.system,
        position=len(outside.feed),
        last_entry=outside.entry(len(outside.feed)) if outside.feed else "",
        followed_since=EVENING - timedelta(hours=5),
        read_at=EVENING,
    )


def the_handover() -> Handover:
    """The only one."""
    return Handover.objects.get()

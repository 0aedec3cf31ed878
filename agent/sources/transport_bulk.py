"""The transport system read for many cases at once: its change feed, and lists by shipment."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from agent.sources.base import Permit
from agent.sources.pace import HeldBack
from agent.sources.transport_gate import Malformed, Record, items_of
from agent.sources.transport_line import Missing, TransportLine, Unreadable
from agent.sources.transport_readings import Told, readings_of, without_facts
from cases.vocabulary.digest import digest_of
from cases.vocabulary.refreshing import (
    CaseToRead,
    FeedPage,
    FeedStartedOver,
    NotRead,
    ReadingsBySubject,
)
from cases.vocabulary.work import Capabilities, RecordKey, SourceReading, VersionKind

MOST_AT_ONCE = 200
ENTRIES_PER_PAGE = 500


class TransportBulk:
    """The transport system as a `BulkSource`."""

    def __init__(self, *, line: TransportLine, capabilities: Capabilities) -> None:
        self._line = line
        self._can = capabilities

    @property
    def capabilities(self) -> Capabilities:
        """See `BulkSource.capabilities`."""
        return self._can

    @property
    def most_at_once(self) -> int:
        """See `BulkSource.most_at_once`."""
        return MOST_AT_ONCE

    def changes_after(
        self, *, position: int, last_entry: str, permit: Permit
    ) -> FeedPage | FeedStartedOver | NotRead:
        """See `BulkSource.changes_after`. The last entry is read again: is it still the same?"""
        after = max(0, position - 1)
        query = {"after": str(after), "limit": str(ENTRIES_PER_PAGE)}
        try:
            body, _ = self._line.get("/v1/changes", query=query, permit=permit)
            page = Record(body, name="answer")
            entries = [Record(item, name="change") for item in page.entries("changes")]
            places = [entry.whole("sequence") for entry in entries]
            if places != sorted(set(places)) or (places and places[0] <= after):
                raise Malformed("its changes are not in order")
            if position and (not entries or _digest(entries[0]) != last_entry):
                return FeedStartedOver()
            return FeedPage(
                named=self._named(entries[bool(position) :]),
                position=places[-1] if places else 0,
                last_entry=_digest(entries[-1]) if entries else "",
                has_more=page.flag("has_more") and len(places) > bool(position),
            )
        except (Unreadable, Malformed, Missing) as error:
            return _not_read(error)

    def _named(self, entries: Sequence[Record]) -> Mapping[str, int | None]:
        named: dict[str, int | None] = {}
        for entry in entries:
            subject = entry.key("shipment_id")
            named.setdefault(subject, None)
            is_its_own = entry.word("record_type") == "shipment"
            if is_its_own and self._can.versions is VersionKind.NUMBER:
                named[subject] = entry.whole("version")
        return named

    def read_many(
        self, *, cases: Sequence[CaseToRead], permit: Permit
    ) -> ReadingsBySubject | NotRead:
        """See `BulkSource.read_many`: three lists for up to 200 shipments."""
        ids = ",".join(sorted({case.subject for case in cases}))
        try:
            shipments, at = self._line.get("/v1/shipments", query={"ids": ids}, permit=permit)
            of_these = {"shipment_ids": ids}
            quotes, quotes_at = self._line.get("/v1/quotes", query=of_these, permit=permit)
            messages, _ = self._line.get("/v1/messages", query=of_these, permit=permit)
            found = _by(shipments, "id")
            missing = set(Record(shipments, name="answer").keys("missing"))
            of_quotes, of_messages = _by(quotes, "shipment_id"), _by(messages, "shipment_id")
        except (Unreadable, Malformed, Missing) as error:
            return _not_read(error)
        return {
            subject: self._readings(
                subject, records, found, missing, of_quotes, of_messages, at, quotes_at
            )
            for subject, records in _known(cases).items()
        }

    def _readings(
        self,
        subject: str,
        records: Sequence[RecordKey],
        found: Mapping[str, list[object]],
        missing: set[str],
        quotes: Mapping[str, list[object]],
        messages: Mapping[str, list[object]],
        at: datetime,
        quotes_at: datetime,
    ) -> list[SourceReading]:
        if subject not in found:
            failure = "" if subject in missing else "transport system left it out of its answer"
            return without_facts(subject=subject, records=records, failure=failure)
        told = Told(
            shipment=found[subject][0],
            quotes=quotes.get(subject, ()),
            messages=messages.get(subject, ()),
            source_time=at,
            quotes_time=quotes_at,
        )
        try:
            return readings_of(
                subject=subject, records=records, told=told, versions=self._can.versions
            )
        except Malformed as error:
            return without_facts(subject=subject, records=records, failure=str(error))


def _known(cases: Iterable[CaseToRead]) -> Mapping[str, Sequence[RecordKey]]:
    """Subject to the records that any of the cases about it knows, each once."""
    known: dict[str, dict[RecordKey, None]] = defaultdict(dict)
    for case in cases:
        known[case.subject].update(dict.fromkeys(case.records))
    return {subject: tuple(records) for subject, records in known.items()}


def _digest(entry: Record) -> str:
    """What tells an entry from any other that a feed made anew could hold in its place."""
    names = ("record_type", "record_id", "shipment_id", "at")
    return digest_of([entry.whole("sequence"), *(entry.key(name) for name in names)])


def _by(body: object, name: str) -> Mapping[str, list[object]]:
    """The items of a list by what they are about; one that does not say so is about nothing."""
    found = defaultdict(list)
    for item in items_of(body):
        about = item.get(name) if isinstance(item, dict) else None
        if isinstance(about, str):
            found[about].append(item)
    return found


def _not_read(error: Exception) -> NotRead:
    cause = error.__cause__
    if isinstance(cause, HeldBack):
        return NotRead(reason=str(error), retry_after=cause.wait, was_asked=cause.was_asked)
    rest = error.retry_after if isinstance(error, Unreadable) else None
    said = "transport system has no such address" if isinstance(error, Missing) else str(error)
    was_answered = cause is None and rest is None
    return NotRead(reason=said, retry_after=rest or timedelta(0), was_answered=was_answered)

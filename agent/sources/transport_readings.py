"""All that the transport system tells of one shipment, as readings. Pure."""

import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog

from agent.sources.transport_facts import SYSTEM, quote_reading, shipment_reading
from agent.sources.transport_gate import Malformed
from cases.vocabulary.work import ReadOutcome, RecordKey, SourceReading, VersionKind

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Told:
    """The shipment, its quotes and its messages as JSON, with the system's clock at the answers."""

    shipment: object
    quotes: Sequence[object]
    messages: Sequence[object]
    source_time: datetime
    quotes_time: datetime


def readings_of(
    *, subject: str, records: Sequence[RecordKey], told: Told, versions: VersionKind
) -> list[SourceReading]:
    """The shipment and its quotes; quotes known so far that are not among them are missing.

    Raises `Malformed` when the shipment itself is unusable.
    """
    reading = shipment_reading(
        body=told.shipment,
        messages=told.messages,
        source_time=told.source_time,
        versions=versions,
    )
    if reading.record_id != subject:
        raise Malformed(f"it is about shipment {reading.record_id}, which was not asked for")
    usable = [_quote(item, told.quotes_time, versions) for item in told.quotes]
    readings = [reading, *(item for item in usable if item is not None)]
    seen = {item.record_id for item in readings}
    gone = sorted(
        record.record_id
        for record in records
        if record.record_type == "quote" and record.record_id not in seen
    )
    return readings + [_empty("quote", record_id, ReadOutcome.MISSING, "") for record_id in gone]


def _quote(body: object, source_time: datetime, versions: VersionKind) -> SourceReading | None:
    """A quote; an unusable one is left out and hides no other. If known, it is missing."""
    try:
        return quote_reading(body=body, source_time=source_time, versions=versions)
    except Malformed as error:
        log.warning("quote_left_out", reason=str(error), quote=reprlib.repr(body))
        return None


def without_facts(
    *, subject: str, records: Sequence[RecordKey], failure: str
) -> list[SourceReading]:
    """Every known record as failed, or as missing where there is no failure."""
    outcome = ReadOutcome.FAILED if failure else ReadOutcome.MISSING
    known = {("shipment", subject), *((item.record_type, item.record_id) for item in records)}
    return [_empty(*record, outcome, failure) for record in sorted(known)]


def _empty(record_type: str, record_id: str, outcome: ReadOutcome, failure: str) -> SourceReading:
    return SourceReading(
        system=SYSTEM,
        record_type=record_type,
        record_id=record_id,
        outcome=outcome,
        failure=failure,
    )

"""The transport system over HTTP: the only module that knows its addresses."""

import reprlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from urllib.parse import quote

import httpx
import structlog

from agent.sources.base import NoLease, TargetLease
from agent.sources.exchange import Answer, exchange
from agent.sources.texts import fit_to_keep
from agent.sources.transport_answers import (
    NotInContract,
    answered,
    headers_for,
    is_gone,
    lease_from,
    no_lease_because,
    request_for,
    result_of,
)
from agent.sources.transport_facts import (
    SYSTEM,
    booking_look,
    message_look,
    quote_reading,
    shipment_reading,
)
from agent.sources.transport_gate import Malformed, items_of
from cases.vocabulary.clocks import instant_from
from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.work import (
    AttemptOrder,
    CallOutcome,
    CallResult,
    Capabilities,
    EffectWork,
    ReadOutcome,
    RecordKey,
    SourceReading,
    TargetLook,
)

CAPABILITIES = Capabilities(
    system=SYSTEM,
    has_versions=True,
    conditional_writes=True,
    leases=True,
    lookup_by_reference=True,
    key_lifetime=timedelta(hours=24),
    consistency_window=timedelta(seconds=5),
)
LOOKS = {
    "booking": ("/v1/bookings", booking_look),
    "message": ("/v1/messages", message_look),
}
BEFORE_SENDING = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)

log = structlog.get_logger()


class _Unreadable(Exception):  # noqa: N818 (said of the system, as on screen)
    """The system gave no usable answer; the message says so in plain words, without a full stop."""


class _Missing(Exception):  # noqa: N818 (a plain answer, not a failure)
    """The system answered that the record does not exist."""


class TransportSource:
    """The transport system as a `Source`. `timeout` bounds each phase of each call.

    Connections are not kept between calls: one that broke while idle could not be told from one
    that broke after the change was sent.
    """

    def __init__(self, *, address: str, token: str, timeout: timedelta) -> None:
        self._client = httpx.Client(
            base_url=address,
            headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
            timeout=timeout.total_seconds(),
            limits=httpx.Limits(max_keepalive_connections=0),
            trust_env=False,
        )

    @property
    def capabilities(self) -> Capabilities:
        """See `Source.capabilities`."""
        return CAPABILITIES

    def close(self) -> None:
        """Let go of sockets."""
        self._client.close()

    def read(self, *, subject: str, records: Sequence[RecordKey]) -> list[SourceReading]:
        """See `Source.read`: the shipment, its quotes, and what its customer was told."""
        known = {(record.record_type, record.record_id) for record in records}
        known.add(("shipment", subject))
        try:
            return self._read_all(subject, records)
        except _Missing:
            outcome, failure = ReadOutcome.MISSING, ""
        except (_Unreadable, Malformed) as error:
            outcome, failure = ReadOutcome.FAILED, str(error)
        return [_without_facts(*record, outcome, failure) for record in sorted(known)]

    def _read_all(self, subject: str, records: Sequence[RecordKey]) -> list[SourceReading]:
        shipment, source_time = self._get(f"/v1/shipments/{quote(subject, safe='')}", {})
        quotes, quotes_time = self._get("/v1/quotes", {"shipment_ids": subject})
        messages, _ = self._get("/v1/messages", {"shipment_ids": subject})
        reading = shipment_reading(
            body=shipment, messages=items_of(messages), source_time=source_time
        )
        if reading.record_id != subject:
            raise Malformed(f"it is about shipment {reading.record_id}, which was not asked for")
        read = (_quote(body, quotes_time) for body in items_of(quotes))
        readings = [reading, *(found for found in read if found is not None)]
        seen = {reading.record_id for reading in readings if reading.record_type == "quote"}
        gone = [
            record.record_id
            for record in records
            if record.record_type == "quote" and record.record_id not in seen
        ]
        return readings + [
            _without_facts("quote", record_id, ReadOutcome.MISSING, "") for record_id in gone
        ]

    def take_lease(self, *, subject: str, holder: str, ttl: timedelta) -> TargetLease | NoLease:
        """See `Source.take_lease`."""
        wanted = {
            "resource": f"shipment:{subject}",
            "holder": holder,
            "ttl_seconds": int(ttl.total_seconds()),
        }
        try:
            answer = exchange(client=self._client, method="POST", path="/v1/leases", body=wanted)
            if answer.is_success:
                return lease_from(answer.body)
        except httpx.RequestError as error:
            reason = f"{subject} could not be reserved: {_unreachable(error)}."
        except Malformed as error:
            reason = f"{subject} could not be reserved: {error}."
        else:
            reason = no_lease_because(subject=subject, status=answer.status, body=answer.body)
        return NoLease(reason=fit_to_keep(reason))

    def release_lease(self, lease: TargetLease) -> None:
        """See `Source.release_lease`."""
        path = f"/v1/leases/{quote(lease.lease_id, safe='')}"
        try:
            exchange(client=self._client, method="DELETE", path=path)
        except httpx.RequestError as error:
            log.info("target_lease_not_released", reason=_unreachable(error))

    def perform(self, *, order: AttemptOrder, fencing_token: int | None) -> CallResult:
        """See `Source.perform`."""
        try:
            path, body = request_for(order)
            headers = headers_for(order, fencing_token=fencing_token)
        except NotInContract as error:
            return CallResult(outcome=CallOutcome.REFUSED, detail=str(error))
        try:
            answer = exchange(
                client=self._client, method="POST", path=path, body=body, headers=headers
            )
        except BEFORE_SENDING as error:
            return CallResult(outcome=CallOutcome.NOT_SENT, detail=_unreachable(error))
        except httpx.RequestError as error:
            return CallResult(outcome=CallOutcome.UNKNOWN, detail=_unreachable(error))
        return result_of(status=answer.status, body=answer.body)

    def look_up(self, *, effect: EffectWork) -> TargetLook:
        """See `Source.look_up`."""
        path, look = LOOKS[effect.target_record]
        try:
            body, _ = self._get(path, {"client_reference": effect.reference})
            return look(effect=effect, items=items_of(body))
        except (_Unreadable, Malformed) as error:
            return TargetLook(
                effect_id=effect.effect_id, found=False, readable=False, detail=str(error)
            )

    def _get(self, path: str, query: dict[str, str]) -> tuple[object, datetime]:
        try:
            answer = exchange(client=self._client, method="GET", path=path, query=query)
        except httpx.RequestError as error:
            raise _Unreadable(_unreachable(error)) from error
        is_of_one_record = not query
        if is_of_one_record and is_gone(
            status=answer.status, media_type=answer.media_type, body=answer.body
        ):
            raise _Missing
        if answer.status != HTTPStatus.OK:
            raise _Unreadable(answered(answer.status))
        if answer.flaw:
            raise Malformed(answer.flaw)
        return answer.body, _date_of(answer)


def _quote(body: object, source_time: datetime) -> SourceReading | None:
    """A quote; an unusable one is left out, so that it hides no other. If known, it is missing."""
    try:
        return quote_reading(body=body, source_time=source_time)
    except Malformed as error:
        log.warning("quote_left_out", reason=str(error), quote=reprlib.repr(body))
        return None


def _without_facts(
    record_type: str, record_id: str, outcome: ReadOutcome, failure: str
) -> SourceReading:
    return SourceReading(
        system=SYSTEM,
        record_type=record_type,
        record_id=record_id,
        outcome=outcome,
        failure=failure,
    )


def _date_of(answer: Answer) -> datetime:
    """The system's own clock; an answer without it cannot be placed in time."""
    try:
        moment = parsedate_to_datetime(answer.date)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return instant_from(aware.isoformat())
    except (ValueError, OverflowError, InvalidInput) as error:
        raise _Unreadable("transport system sent no usable date") from error


def _unreachable(error: httpx.RequestError) -> str:
    if isinstance(error, httpx.ConnectTimeout | httpx.ConnectError):
        return "transport system cannot be reached"
    if isinstance(error, httpx.TimeoutException):
        return "transport system did not answer in time"
    if isinstance(error, httpx.DecodingError):
        return "transport system sent something unusable (its compression is broken)"
    return "transport system broke the connection"

"""The transport system over HTTP: the only module that knows its addresses."""

from collections.abc import Sequence
from datetime import timedelta
from urllib.parse import quote

import structlog

from agent.sources.base import NoLease, Permit, TargetLease
from agent.sources.pace import HeldBack
from agent.sources.texts import fit_to_keep
from agent.sources.transport_answers import (
    NotInContract,
    headers_for,
    lease_from,
    no_lease_because,
    request_for,
    result_of,
)
from agent.sources.transport_bulk import TransportBulk
from agent.sources.transport_facts import booking_look, message_look
from agent.sources.transport_gate import Malformed, items_of
from agent.sources.transport_line import (
    BEFORE_SENDING,
    NO_ANSWER,
    Missing,
    TransportLine,
    Unreadable,
    said_of,
)
from agent.sources.transport_profiles import MODERN
from agent.sources.transport_readings import Told, readings_of, without_facts
from cases.vocabulary.work import (
    AttemptOrder,
    CallOutcome,
    CallResult,
    Capabilities,
    EffectWork,
    RecordKey,
    SourceReading,
    TargetLook,
)

LOOKS = {
    "booking": ("/v1/bookings", booking_look),
    "message": ("/v1/messages", message_look),
}

log = structlog.get_logger()


class TransportSource:
    """The transport system as a `Source`. `timeout` bounds each phase of each call.

    `capabilities` are what this installation of it can do; what it does not know is not sent.
    """

    def __init__(
        self,
        *,
        address: str,
        token: str,
        timeout: timedelta,
        capabilities: Capabilities = MODERN,
    ) -> None:
        self._can = capabilities
        self._line = TransportLine(
            address=address,
            token=token,
            timeout=timeout,
            calls_per_minute=capabilities.calls_per_minute,
        )

    @property
    def capabilities(self) -> Capabilities:
        """See `Source.capabilities`."""
        return self._can

    def close(self) -> None:
        """Let go of sockets."""
        self._line.close()

    @property
    def bulk(self) -> TransportBulk:
        """The same system, over the same line and at the same pace, read for many cases at once."""
        return TransportBulk(line=self._line, capabilities=self._can)

    def read(
        self, *, subject: str, records: Sequence[RecordKey], permit: Permit
    ) -> list[SourceReading]:
        """See `Source.read`: the shipment, its quotes, and what its customer was told."""
        try:
            return self._read_all(subject, records, permit)
        except Missing:
            return without_facts(subject=subject, records=records, failure="")
        except (Unreadable, Malformed) as error:
            return without_facts(subject=subject, records=records, failure=str(error))

    def _read_all(
        self, subject: str, records: Sequence[RecordKey], permit: Permit
    ) -> list[SourceReading]:
        path = f"/v1/shipments/{quote(subject, safe='')}"
        shipment, source_time = self._line.get(path, permit=permit)
        of_subject = {"shipment_ids": subject}
        quotes, quotes_time = self._line.get("/v1/quotes", query=of_subject, permit=permit)
        messages, _ = self._line.get("/v1/messages", query=of_subject, permit=permit)
        return readings_of(
            subject=subject,
            records=records,
            told=Told(
                shipment=shipment,
                quotes=items_of(quotes),
                messages=items_of(messages),
                source_time=source_time,
                quotes_time=quotes_time,
            ),
            versions=self._can.versions,
        )

    def take_lease(
        self, *, subject: str, holder: str, ttl: timedelta, permit: Permit
    ) -> TargetLease | NoLease:
        """See `Source.take_lease`."""
        wanted = {
            "resource": f"shipment:{subject}",
            "holder": holder,
            "ttl_seconds": int(ttl.total_seconds()),
        }
        rest = None
        try:
            answer = self._line.call("POST", "/v1/leases", body=wanted, permit=permit)
            if answer.is_success:
                return lease_from(answer.body)
        except NO_ANSWER as error:
            reason = f"{subject} could not be reserved: {said_of(error)}."
            rest = error.wait if isinstance(error, HeldBack) else None
        except Malformed as error:
            reason = f"{subject} could not be reserved: {error}."
        else:
            reason = no_lease_because(subject=subject, status=answer.status, body=answer.body)
            rest = answer.retry_after
        return NoLease(reason=fit_to_keep(reason), retry_after=rest)

    def release_lease(self, lease: TargetLease, *, permit: Permit) -> None:
        """See `Source.release_lease`."""
        path = f"/v1/leases/{quote(lease.lease_id, safe='')}"
        try:
            self._line.call("DELETE", path, permit=permit)
        except NO_ANSWER as error:
            log.info("target_lease_not_released", reason=said_of(error))

    def perform(
        self, *, order: AttemptOrder, fencing_token: int | None, permit: Permit
    ) -> CallResult:
        """See `Source.perform`."""
        try:
            path, body = request_for(order)
            headers = headers_for(order, can=self._can, fencing_token=fencing_token)
        except NotInContract as error:
            return CallResult(outcome=CallOutcome.REFUSED, detail=str(error))
        try:
            answer = self._line.call("POST", path, body=body, headers=headers, permit=permit)
        except BEFORE_SENDING as error:
            rest = error.wait if isinstance(error, HeldBack) else None
            return CallResult(outcome=CallOutcome.NOT_SENT, detail=said_of(error), retry_after=rest)
        except NO_ANSWER as error:
            return CallResult(outcome=CallOutcome.UNKNOWN, detail=said_of(error))
        return result_of(status=answer.status, body=answer.body, retry_after=answer.retry_after)

    def look_up(self, *, effect: EffectWork, permit: Permit) -> TargetLook:
        """See `Source.look_up`: by our reference, or by the id that an answer once named."""
        path, look = LOOKS[effect.target_record]
        try:
            if self._can.lookup_by_reference:
                search = {"client_reference": effect.reference}
                body, _ = self._line.get(path, query=search, permit=permit)
                return look(effect=effect, items=items_of(body))
            if not effect.target_record_id:
                return TargetLook(effect_id=effect.effect_id, found=False, searchable=False)
            of_record = f"{path}/{quote(effect.target_record_id, safe='')}"
            body, _ = self._line.get(of_record, permit=permit)
            return look(effect=effect, items=[body])
        except Missing:
            return look(effect=effect, items=[])
        except (Unreadable, Malformed) as error:
            return TargetLook(
                effect_id=effect.effect_id, found=False, readable=False, detail=str(error)
            )

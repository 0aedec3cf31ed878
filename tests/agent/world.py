"""An outside world in memory: a `Source` that keeps its own ledger and can be told to misbehave."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from agent.sources.base import NoLease, Permit, TargetLease
from cases.vocabulary.facts import Value
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
    VersionKind,
)

SHIPMENT = "S-318"
EVENING = datetime(2026, 11, 23, 23, 0, tzinfo=UTC)
MIDNIGHT = "2026-11-24T06:00:00Z"
TEN = {"start": "2026-11-25T15:00:00Z", "end": "2026-11-25T17:00:00Z", "zone": "America/New_York"}
TWO = {"start": "2026-11-25T19:00:00Z", "end": "2026-11-25T21:00:00Z", "zone": "America/New_York"}
NOON = {"start": "2026-11-24T18:00:00Z", "end": "2026-11-24T21:00:00Z", "zone": "America/Chicago"}
OAKLINE = {"code": "OAKX", "name": "Oakline Freight", "set_by": "J. Ortiz"}
WINDOW = timedelta(seconds=2)


class ProcessDied(BaseException):
    """Stands for a killed process: no handler below the test may see it."""


def shipment_fields() -> dict[str, Value]:
    """S-318 as it stands in the evening."""
    return {
        "pickup_window": NOON,
        "delivery_window": TEN,
        "carrier_assignment": None,
        "customer_contact": {"code": "receiving@harborfoods.example", "name": "Harbor Foods"},
        "customer_notice": None,
        "equipment": "reefer",
        "weight": "18250",
        "lane": "DFW → ATL",
    }


def quote_fields(amount_minor: int = 179_000, state: str = "open") -> dict[str, Value]:
    """A rate of Bluewater until midnight."""
    return {
        "rate_carrier": {"code": "BLUX", "name": "Bluewater Express", "set_by": ""},
        "rate_amount": {"amount_minor": amount_minor, "currency": "USD"},
        "rate_expiry": {"expires_at": MIDNIGHT, "zone": "America/Chicago", "state": state},
    }


def nothing() -> None:
    """What happens on most occasions."""


@dataclass(kw_only=True)
class World:
    """A transport system with one shipment. The `on_…` hooks run in the middle of a call."""

    version: int = 41
    shipment: dict[str, Value] = field(default_factory=shipment_fields)
    quotes: dict[str, dict[str, Value]] = field(default_factory=lambda: {"QX-71": quote_fields()})
    ledger: list[dict[str, Any]] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    is_unreadable: bool = False
    held_by: str = ""
    outcome: CallOutcome = CallOutcome.ANSWERED
    confirms: bool = True
    token: int = 0
    on_read: Callable[[], None] = nothing
    on_lease: Callable[[], None] = nothing
    on_call: Callable[[], None] = nothing
    on_effect: Callable[[], None] = nothing

    @property
    def capabilities(self) -> Capabilities:
        """See `Source.capabilities`."""
        return Capabilities(
            system="transport",
            versions=VersionKind.NUMBER,
            conditional_writes=True,
            leases=True,
            fencing=True,
            lookup_by_reference=True,
            key_lifetime=timedelta(hours=24),
            consistency_window=WINDOW,
        )

    def change(self, **fields: Value) -> None:
        """An employee changes the shipment."""
        self.shipment = {**self.shipment, **fields}
        self.version += 1

    def read(
        self, *, subject: str, records: Sequence[RecordKey], permit: Permit
    ) -> list[SourceReading]:
        """See `Source.read`."""
        permit()
        self.calls.append("read")
        self.on_read()
        if self.is_unreadable:
            failure = "transport system answered 503 (service unavailable)"
            return [self._reading("shipment", subject, ReadOutcome.FAILED, {}, failure)]
        return [
            self._reading("shipment", subject, ReadOutcome.READ, self.shipment, ""),
            *(
                self._reading("quote", quote_id, ReadOutcome.READ, fields, "")
                for quote_id, fields in self.quotes.items()
            ),
        ]

    def _reading(
        self,
        record_type: str,
        record_id: str,
        outcome: ReadOutcome,
        fields: dict[str, Value],
        failure: str,
    ) -> SourceReading:
        return SourceReading(
            system="transport",
            record_type=record_type,
            record_id=record_id,
            outcome=outcome,
            version=self.version if outcome is ReadOutcome.READ else None,
            fields=dict(fields),
            failure=failure,
        )

    def take_lease(
        self, *, subject: str, holder: str, ttl: timedelta, permit: Permit
    ) -> TargetLease | NoLease:
        """See `Source.take_lease`."""
        permit()
        self.calls.append("lease")
        self.on_lease()
        if self.held_by:
            return NoLease(reason=f"{self.held_by} is changing {subject}.")
        self.token += 1
        return TargetLease(lease_id=f"L-{self.token}", fencing_token=self.token)

    def release_lease(self, lease: TargetLease, *, permit: Permit) -> None:
        """See `Source.release_lease`."""
        permit()
        self.calls.append("release lease")

    def perform(
        self, *, order: AttemptOrder, fencing_token: int | None, permit: Permit
    ) -> CallResult:
        """See `Source.perform`: enforces fence, version and key as a good target does."""
        permit()
        self.calls.append(f"perform {order.effect.reference}")
        self.on_call()
        if fencing_token is not None and fencing_token < self.token:
            return CallResult(outcome=CallOutcome.NOT_SENT, detail="stale token")
        if self.outcome is CallOutcome.NOT_SENT:
            return CallResult(outcome=CallOutcome.NOT_SENT, detail="cannot be reached")
        known = [entry for entry in self.ledger if entry["key"] == order.effect.key]
        if not known:
            if order.subject_version != self.version:
                return CallResult(outcome=CallOutcome.WORLD_MOVED, detail="version mismatch")
            self._carry_out(order.effect)
        self.on_effect()
        return CallResult(outcome=self.outcome, detail="", record_id=f"R-{len(self.ledger)}")

    def _carry_out(self, effect: EffectWork) -> None:
        given = effect.parameters
        self.ledger.append({"key": effect.key, "reference": effect.reference, "work": effect})
        if effect.action == "book_replacement_carrier":
            name = given["carrier_name"]
            self.change(carrier_assignment={"code": given["scac"], "name": name, "set_by": "agent"})
        else:
            self.shipment = {
                **self.shipment,
                "customer_notice": {"about": given["about"], "sent_at": "", "sent_by": "agent"},
            }

    def look_up(self, *, effect: EffectWork, permit: Permit) -> TargetLook:
        """See `Source.look_up`."""
        permit()
        self.calls.append(f"look up {effect.reference}")
        if self.is_unreadable:
            return TargetLook(
                effect_id=effect.effect_id, found=False, readable=False, detail="no answer"
            )
        found = any(entry["reference"] == effect.reference for entry in self.ledger)
        adopted = {"booking": "confirmed", "message": "delivered"}[effect.target_record]
        if not found:
            return TargetLook(effect_id=effect.effect_id, found=False)
        given = dict(effect.parameters)
        return TargetLook(
            effect_id=effect.effect_id,
            found=True,
            record_id="R-1",
            state=adopted if self.confirms else "received",
            fields={"shipment_id": given.pop("shipment"), **given},
        )

    def effects_of(self, reference: str) -> int:
        """How often the world saw this effect happen."""
        return sum(entry["reference"] == reference for entry in self.ledger)

"""Writes the change feed and the ledger, in the transaction of the change itself.

The counters' row stays locked until the commit. So the next writer gets its number only after
this one is visible, and a reader who has seen number n has missed nothing below n.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.db.models import F

from transport_sim import clock
from transport_sim.models import Change, Journal, LedgerEntry

type Counter = Literal["changes", "entries", "bookings", "messages"]


@dataclass(frozen=True)
class Effect:
    """What somebody truly did, and under which key, token and reference."""

    kind: Literal["booking", "message", "shipment_update"]
    principal: str
    record_id: str
    shipment_id: str
    details: dict[str, object]
    client_reference: str | None = None
    idempotency_key: str | None = None
    fencing_token: int | None = None


def next_number(counter: Counter) -> int:
    """Take the next number; nobody else gets one until this transaction ends."""
    Journal.objects.filter(pk=1).update(**{counter: F(counter) + 1})
    return int(Journal.objects.values_list(counter, flat=True).get(pk=1))


def record_change(
    *,
    record_type: Literal["shipment", "quote", "booking", "message"],
    record_id: str,
    shipment_id: str,
    version: int,
    at: datetime,
    by: str,
) -> None:
    """Tell the readers of the feed that a record of a shipment has a new version."""
    Change.objects.create(
        sequence=next_number("changes"),
        record_type=record_type,
        record_id=record_id,
        shipment_id=shipment_id,
        version=version,
        at=at,
        by=by,
    )


def record_effect(effect: Effect, *, at: datetime) -> None:
    """Enter a true effect into the ledger."""
    LedgerEntry.objects.create(
        sequence=next_number("entries"),
        at=at,
        kind=effect.kind,
        principal=effect.principal,
        record_id=effect.record_id,
        shipment_id=effect.shipment_id,
        client_reference=effect.client_reference,
        idempotency_key=effect.idempotency_key,
        fencing_token=effect.fencing_token,
        details=effect.details,
    )


def changes_after(*, sequence: int, limit: int) -> dict[str, object]:
    """One page of the change feed, in the order in which the changes became visible."""
    rows = list(Change.objects.filter(sequence__gt=sequence).order_by("sequence")[: limit + 1])
    page = rows[:limit]
    return {
        "changes": [
            {
                "sequence": change.sequence,
                "record_type": change.record_type,
                "record_id": change.record_id,
                "shipment_id": change.shipment_id,
                "version": change.version,
                "at": clock.as_text(change.at),
                "by": change.by,
            }
            for change in page
        ],
        "next_after": page[-1].sequence if page else sequence,
        "has_more": len(rows) > limit,
    }


def ledger(*, shipment_id: str | None) -> list[dict[str, object]]:
    """Every true effect, oldest first; of one shipment if named."""
    entries = LedgerEntry.objects.order_by("sequence")
    if shipment_id is not None:
        entries = entries.filter(shipment_id=shipment_id)
    return [
        {
            "sequence": entry.sequence,
            "at": clock.as_text(entry.at),
            "kind": entry.kind,
            "principal": entry.principal,
            "record_id": entry.record_id,
            "shipment_id": entry.shipment_id,
            "client_reference": entry.client_reference,
            "idempotency_key": entry.idempotency_key,
            "fencing_token": entry.fencing_token,
            "details": entry.details,
        }
        for entry in entries
    ]

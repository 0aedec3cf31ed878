"""Leases: one holder at a time, for a while, with a token that only ever rises."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from transport_sim import clock, shipments
from transport_sim.fields import Fields
from transport_sim.models import Fence, Lease
from transport_sim.problems import Problem

LONGEST_TTL_SECONDS = 3_600
_RESOURCE = r"shipment:[A-Za-z0-9][A-Za-z0-9._-]{0,63}"


@dataclass(frozen=True)
class LeaseRequest:
    """The body of POST /v1/leases; ``lifetime`` runs on the simulator's clock."""

    resource: str
    holder: str
    lifetime: timedelta


def shipment_resource(shipment_id: str) -> str:
    """The name under which a shipment is leased."""
    return f"shipment:{shipment_id}"


def read_request(body: Fields) -> LeaseRequest:
    """Read and check the form of a lease request."""
    wanted = LeaseRequest(
        resource=body.matching("resource", _RESOURCE),
        holder=body.text("holder"),
        lifetime=read_lifetime(body),
    )
    body.done()
    return wanted


def read_lifetime(body: Fields) -> timedelta:
    """Read ``ttl_seconds``."""
    return timedelta(seconds=body.whole("ttl_seconds", lowest=1, highest=LONGEST_TTL_SECONDS))


@transaction.atomic
def take(wanted: LeaseRequest) -> dict[str, object]:
    """Grant a lease with the next token, or refuse with 409 while another holder has it.

    The same holder gets a new lease, which fences off its own older, frozen instance.
    """
    shipments.find(wanted.resource.removeprefix("shipment:"))
    Fence.objects.bulk_create([Fence(resource=wanted.resource)], ignore_conflicts=True)
    fence = Fence.objects.select_for_update().get(pk=wanted.resource)
    now = clock.now()
    current = _current(fence, now)
    if current is not None and current.holder != wanted.holder:
        raise Problem(
            status=409,
            code="lease_held",
            detail=f"{wanted.resource} is held by {current.holder}. Try again after it ends.",
            retryable=True,
            holder=current.holder,
            expires_at=clock.as_text(current.expires_at),
        )
    fence.last_token += 1
    fence.save(update_fields=["last_token"])
    lease = Lease.objects.create(
        id=uuid.uuid4(),
        resource=wanted.resource,
        holder=wanted.holder,
        fencing_token=fence.last_token,
        expires_at=now + wanted.lifetime,
    )
    return _as_json(lease)


@transaction.atomic
def renew(lease_id: uuid.UUID, *, lifetime: timedelta) -> dict[str, object]:
    """Extend a lease that is still in force; refuse with 409 when it was lost."""
    known = Lease.objects.filter(pk=lease_id).first()
    if known is None:
        raise Problem(
            status=404, code="lease_not_found", detail="There is no such lease. Take a new one."
        )
    fence = Fence.objects.select_for_update().get(pk=known.resource)
    now = clock.now()
    lease = _current(fence, now)
    if lease is None or lease.pk != lease_id:
        raise Problem(
            status=409,
            code="lease_lost",
            detail=f"This lease on {known.resource} has ended. Stop, and take a new one.",
        )
    lease.expires_at = now + lifetime
    lease.save(update_fields=["expires_at"])
    return _as_json(lease)


@transaction.atomic
def release(lease_id: uuid.UUID) -> None:
    """End a lease if it is still there; its token keeps its place below the next one."""
    lease = Lease.objects.select_for_update().filter(pk=lease_id, released_at=None).first()
    if lease is not None:
        lease.released_at = clock.now()
        lease.save(update_fields=["released_at"])


def _current(fence: Fence, now: datetime) -> Lease | None:
    return Lease.objects.filter(
        resource=fence.resource,
        fencing_token=fence.last_token,
        released_at=None,
        expires_at__gt=now,
    ).first()


def _as_json(lease: Lease) -> dict[str, object]:
    return {
        "lease_id": str(lease.pk),
        "resource": lease.resource,
        "holder": lease.holder,
        "fencing_token": lease.fencing_token,
        "expires_at": clock.as_text(lease.expires_at),
    }

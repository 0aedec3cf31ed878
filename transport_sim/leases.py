"""Leases: one holder at a time, for a while, with a token that only ever rises."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from transport_sim import clock, record_locks, shipments
from transport_sim.fields import Fields
from transport_sim.models import Fence, Lease
from transport_sim.problems import Problem

LONGEST_TTL_SECONDS = 3_600
_RESOURCE = r"shipment:[A-Za-z0-9][A-Za-z0-9._-]{0,63}"


@dataclass(frozen=True)
class Holder:
    """Who holds a lease: an agent or a person, by name."""

    name: str
    kind: str


@dataclass(frozen=True)
class LeaseRequest:
    """What is asked for; ``lifetime`` runs on the simulator's clock."""

    resource: str
    holder: Holder
    lifetime: timedelta


def shipment_resource(shipment_id: str) -> str:
    """The name under which a shipment is leased."""
    return f"shipment:{shipment_id}"


def read_request(body: Fields) -> LeaseRequest:
    """Read and check the form of POST /v1/leases. Callers of the API are agents."""
    wanted = LeaseRequest(
        resource=body.matching("resource", _RESOURCE),
        holder=Holder(name=body.text("holder"), kind="agent"),
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
    shipment = shipments.find(wanted.resource.removeprefix("shipment:"))
    record_locks.require_closed(shipment.pk)
    fence = _lock_fence(wanted.resource)
    current = _current(fence, clock.now())
    if current is not None and _holder(current) != wanted.holder:
        raise Problem(
            status=409,
            code="lease_held",
            detail=f"{wanted.resource} is held by {current.holder}. Try again after it ends.",
            retryable=True,
            holder=current.holder,
            holder_kind=current.holder_kind,
            expires_at=clock.as_text(current.expires_at),
        )
    return _as_json(_grant(wanted, fence))


@transaction.atomic
def hand_over(wanted: LeaseRequest) -> None:
    """Grant a lease whoever has it: the one before ends."""
    _grant(wanted, _lock_fence(wanted.resource))


def _lock_fence(resource: str) -> Fence:
    Fence.objects.bulk_create([Fence(resource=resource)], ignore_conflicts=True)
    return Fence.objects.select_for_update().get(pk=resource)


def _grant(wanted: LeaseRequest, fence: Fence) -> Lease:
    _raise_token(fence)
    return Lease.objects.create(
        id=uuid.uuid4(),
        resource=wanted.resource,
        holder=wanted.holder.name,
        holder_kind=wanted.holder.kind,
        fencing_token=fence.last_token,
        # The clock is read after the wait for the fence: a lease is not born half over.
        expires_at=clock.now() + wanted.lifetime,
    )


def _raise_token(fence: Fence) -> None:
    fence.last_token += 1
    fence.save(update_fields=["last_token"])


@transaction.atomic
def take_away(resource: str) -> None:
    """End the lease on a resource behind its holder's back; the token is stale from now on."""
    fence = Fence.objects.select_for_update().filter(pk=resource).first()
    if fence is not None:
        _raise_token(fence)


def resource_of(lease_id: uuid.UUID) -> str | None:
    """What a lease is about, if there is such a lease."""
    return Lease.objects.filter(pk=lease_id).values_list("resource", flat=True).first()


def newest(resource: str) -> dict[str, object]:
    """The lease that was granted last, which must exist."""
    return _as_json(Lease.objects.filter(resource=resource).latest("fencing_token"))


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


def _holder(lease: Lease) -> Holder:
    return Holder(name=lease.holder, kind=lease.holder_kind)


def _as_json(lease: Lease) -> dict[str, object]:
    return {
        "lease_id": str(lease.pk),
        "resource": lease.resource,
        "holder": lease.holder,
        "holder_kind": lease.holder_kind,
        "fencing_token": lease.fencing_token,
        "expires_at": clock.as_text(lease.expires_at),
    }

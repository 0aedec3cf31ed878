"""Conditions a writer states: which version it saw, which lease it holds."""

import re
from dataclasses import dataclass

from django.http import HttpRequest

from transport_sim import clock
from transport_sim.models import Fence, Lease, Shipment, World
from transport_sim.problems import Problem

_STRONG = r'"[^"\x00-\x20\x7f]*"'
_TAGS = re.compile(rf"\s*(?:W/)?{_STRONG}(?:\s*,\s*(?:W/)?{_STRONG})*\s*")
_ONE = re.compile(rf"(W/)?({_STRONG})")


@dataclass(frozen=True)
class Writer:
    """Who writes, under which key, having seen which version, holding which token."""

    principal: str
    idempotency_key: str | None
    if_match: str
    fencing_token: str


def writer_of(request: HttpRequest, *, principal: str, key: str | None = None) -> Writer:
    """Read what a request says about its writer; nothing is checked yet."""
    return Writer(
        principal=principal,
        idempotency_key=key,
        if_match=request.headers.get("If-Match", "").strip(),
        fencing_token=request.headers.get("Fencing-Token", "").strip(),
    )


def entity_tag(version: int) -> str:
    """The strong entity tag of a version, quotes included."""
    return f'"{version}"'


def is_known_to_reader(request: HttpRequest, *, version: int) -> bool:
    """True when If-None-Match says that the reader already has this version."""
    header = request.headers.get("If-None-Match")
    if header is None or not World.objects.get().versions:
        return False
    known = {tag for _, tag in _ONE.findall(header)}
    return header.strip() == "*" or entity_tag(version) in known


def require_version(writer: Writer, shipment: Shipment) -> None:
    """Refuse unless If-Match names the version of the locked shipment.

    ``*`` is refused as well: it would allow to change what was never read. A system without
    versions does not look at the header at all.
    """
    if not World.objects.get().versions:
        return
    if writer.if_match in {"", "*"}:
        raise Problem(
            status=428,
            code="precondition_required",
            detail="Send If-Match with the ETag of the shipment you read.",
        )
    if not _TAGS.fullmatch(writer.if_match):
        raise Problem(
            status=400,
            code="malformed_if_match",
            detail='Send If-Match as a quoted entity tag, e.g. "41".',
        )
    strong = {tag for weak, tag in _ONE.findall(writer.if_match) if not weak}
    if entity_tag(shipment.version) not in strong:
        raise Problem(
            status=412,
            code="version_mismatch",
            detail=f"{shipment.id} is at version {shipment.version}. Read it again.",
            current_version=shipment.version,
        )


def require_fence(writer: Writer, *, resource: str) -> int:
    """Refuse unless Fencing-Token is the newest one granted for ``resource``; give it back."""
    if not writer.fencing_token:
        raise Problem(
            status=428,
            code="fencing_token_required",
            detail=f"Take a lease on {resource} and send its Fencing-Token.",
        )
    return _check_fence(writer.fencing_token, resource)


def check_fence_if_sent(writer: Writer, *, resource: str) -> int | None:
    """As ``require_fence``, where a token is welcome but not demanded."""
    return _check_fence(writer.fencing_token, resource) if writer.fencing_token else None


def _check_fence(header: str, resource: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", header):
        raise Problem(
            status=400, code="malformed_fencing_token", detail="Send Fencing-Token as an integer."
        )
    token = int(header)
    # Locked, so that no newer lease is granted between this look and the commit.
    fence = Fence.objects.select_for_update().filter(pk=resource).first()
    newest = 0 if fence is None else fence.last_token
    if token < newest:
        raise Problem(
            status=409,
            code="stale_fencing_token",
            detail=f"A newer lease on {resource} was granted. Stop, and take a lease again.",
        )
    if token > newest:
        raise Problem(
            status=422,
            code="fencing_token_unknown",
            detail=f"No lease on {resource} ever had this token. Send the one you were given.",
        )
    in_force = Lease.objects.filter(
        resource=resource, fencing_token=token, released_at=None, expires_at__gt=clock.now()
    )
    if not in_force.exists():
        raise Problem(
            status=409,
            code="stale_fencing_token",
            detail=f"This lease on {resource} has ended. Stop, and take a lease again.",
        )
    return token

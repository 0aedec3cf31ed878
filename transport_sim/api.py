"""/v1: what an outsider may call."""

import uuid
from collections.abc import Callable, Sequence

from django.db import transaction
from django.http import HttpRequest, HttpResponse

from transport_sim import (
    bookings,
    clock,
    edits,
    idempotency,
    journal,
    leases,
    messages,
    preconditions,
    quotes,
    record_locks,
    shipments,
)
from transport_sim.database import snapshot
from transport_sim.endpoints import answer
from transport_sim.fields import Fields, body_of, query_list, query_number, query_of
from transport_sim.models import Shipment, World
from transport_sim.problems import Problem

MOST_IDS = 200
LONGEST_PAGE = 500

type Listing = Callable[[Sequence[str]], list[dict[str, object]]]
type Lookup = Callable[[str], list[dict[str, object]]]


def read_shipment(request: HttpRequest, *, principal: str, shipment_id: str) -> HttpResponse:
    """GET one shipment; 304 when the reader has this version."""
    with snapshot():
        shipment = shipments.find(shipment_id)
        tag = {"ETag": preconditions.entity_tag(shipment.version)}
        if preconditions.is_known_to_reader(request, version=shipment.version):
            return HttpResponse(status=304, headers=tag)
        return answer(shipments.as_json(shipment), headers=tag)


def list_shipments(request: HttpRequest, *, principal: str) -> HttpResponse:
    """GET shipments by ids, or page by page by time of update."""
    query = query_of(request)
    if query.has("ids"):
        ids = query_list(query, "ids", most=MOST_IDS)
        query.done()
        with snapshot():
            return answer(shipments.by_ids(ids))
    since = query.instant("updated_since") if query.has("updated_since") else None
    cursor = query.text("cursor") if query.has("cursor") else None
    limit = query_number(query, "limit", default=100, highest=LONGEST_PAGE) or 1
    query.done()
    with snapshot():
        return answer(shipments.updated_since(since=since, cursor=cursor, limit=limit))


def patch_shipment(request: HttpRequest, *, principal: str, shipment_id: str) -> HttpResponse:
    """PATCH a shipment at the version named by If-Match."""
    edit = edits.read_edit(Fields(body_of(request)))
    writer = preconditions.writer_of(request, principal=principal)
    with transaction.atomic():
        shipment = shipments.lock(shipment_id)
        record_locks.require_closed(shipment_id)
        resource = leases.shipment_resource(shipment_id)
        token = preconditions.check_fence_if_sent(writer, resource=resource)
        preconditions.require_version(writer, shipment)
        _save_patch(shipment, edit, principal=principal, token=token)
        tag = {"ETag": preconditions.entity_tag(shipment.version)}
        return answer(shipments.as_json(shipment), headers=tag)


def _save_patch(
    shipment: Shipment, edit: edits.ShipmentEdit, *, principal: str, token: int | None
) -> None:
    now = clock.now()
    changed = edits.apply_edit(shipment, edit, by=principal, at=now)
    if not changed:
        return
    shipments.new_version(shipment, by=principal, at=now)
    effect = journal.Effect(
        kind="shipment_update",
        principal=principal,
        record_id=shipment.pk,
        shipment_id=shipment.pk,
        fencing_token=token,
        details={"changed": changed, "shipment_version": shipment.version},
    )
    journal.record_effect(effect, at=now)


def read_quote(request: HttpRequest, *, principal: str, quote_id: str) -> HttpResponse:
    """GET one quote as of the simulator's present instant."""
    return answer(quotes.as_json(quotes.find(quote_id), now=clock.now()))


def list_quotes(request: HttpRequest, *, principal: str) -> HttpResponse:
    """GET the quotes of shipments."""
    query = query_of(request)
    ids = query_list(query, "shipment_ids", most=MOST_IDS)
    query.done()
    return answer({"items": quotes.of_shipments(ids)})


def create_booking(request: HttpRequest, *, principal: str) -> HttpResponse:
    """POST a booking: 202, confirmed by the carrier later."""
    key = idempotency.key_of(request)
    payload = body_of(request)
    wanted = bookings.read_request(Fields(payload))
    writer = preconditions.writer_of(request, principal=principal, key=key)
    asked = idempotency.keyed(request, principal=principal, key=key, payload=payload)
    return idempotency.once(asked, lambda: bookings.book(wanted, writer=writer))


def read_booking(request: HttpRequest, *, principal: str, booking_id: str) -> HttpResponse:
    """GET one booking."""
    return answer(bookings.as_json(bookings.find(booking_id)))


def list_bookings(request: HttpRequest, *, principal: str) -> HttpResponse:
    """GET bookings by shipment or by the caller's reference."""
    return _list(request, bookings.of_shipments, bookings.of_reference)


def create_message(request: HttpRequest, *, principal: str) -> HttpResponse:
    """POST a message: 202, delivered later."""
    key = idempotency.key_of(request)
    payload = body_of(request)
    wanted = messages.read_request(Fields(payload))
    writer = preconditions.writer_of(request, principal=principal, key=key)
    asked = idempotency.keyed(request, principal=principal, key=key, payload=payload)
    return idempotency.once(asked, lambda: messages.send(wanted, writer=writer))


def read_message(request: HttpRequest, *, principal: str, message_id: str) -> HttpResponse:
    """GET one message."""
    return answer(messages.as_json(messages.find(message_id)))


def list_messages(request: HttpRequest, *, principal: str) -> HttpResponse:
    """GET messages by shipment or by the caller's reference."""
    return _list(request, messages.of_shipments, messages.of_reference)


def take_lease(request: HttpRequest, *, principal: str) -> HttpResponse:
    """POST a lease on a resource."""
    wanted = leases.read_request(Fields(body_of(request)))
    return answer(leases.take(wanted), status=201)


def renew_lease(request: HttpRequest, *, principal: str, lease_id: uuid.UUID) -> HttpResponse:
    """PUT a lease: extend it from now on."""
    body = Fields(body_of(request))
    lifetime = leases.read_lifetime(body)
    body.done()
    return answer(leases.renew(lease_id, lifetime=lifetime))


def release_lease(request: HttpRequest, *, principal: str, lease_id: uuid.UUID) -> HttpResponse:
    """DELETE a lease; doing it again changes nothing."""
    leases.release(lease_id)
    return HttpResponse(status=204)


def read_changes(request: HttpRequest, *, principal: str) -> HttpResponse:
    """GET what changed after a sequence."""
    query = query_of(request)
    sequence = query_number(query, "after", default=0)
    limit = query_number(query, "limit", default=100, highest=LONGEST_PAGE) or 1
    query.done()
    return answer(journal.changes_after(sequence=sequence, limit=limit))


def _list(request: HttpRequest, by_shipment: Listing, by_reference: Lookup) -> HttpResponse:
    query = query_of(request)
    if query.has("shipment_ids") == query.has("client_reference"):
        raise Problem(
            status=400,
            code="one_filter_required",
            detail="Send either shipment_ids or client_reference.",
        )
    if query.has("shipment_ids"):
        items = by_shipment(query_list(query, "shipment_ids", most=MOST_IDS))
    else:
        items = _looked_up(by_reference, query.text("client_reference"))
    query.done()
    return answer({"items": items})


def _looked_up(by_reference: Lookup, client_reference: str) -> list[dict[str, object]]:
    if not World.objects.get().lookup_by_reference:
        raise Problem(
            status=400,
            code="lookup_not_supported",
            detail="This system does not search by client_reference. Send shipment_ids.",
        )
    return by_reference(client_reference)

"""Bookings: one order to a carrier at an open quote, for an uncovered shipment."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from transport_sim import (
    clock,
    journal,
    leases,
    preconditions,
    quotes,
    record_locks,
    shipments,
)
from transport_sim.fields import CURRENCY, SCAC, Fields
from transport_sim.idempotency import Accepted
from transport_sim.models import ACTIVE_BOOKING_STATUSES, Booking, Quote, Shipment, World
from transport_sim.preconditions import Writer
from transport_sim.problems import Problem


@dataclass(frozen=True)
class BookingRequest:
    """The body of POST /v1/bookings. The amount is in minor units of the currency."""

    shipment_id: str
    quote_id: str
    price: quotes.Price
    client_reference: str


def read_request(body: Fields) -> BookingRequest:
    """Read and check the form of a booking request."""
    wanted = BookingRequest(
        shipment_id=body.identifier("shipment_id"),
        quote_id=body.identifier("quote_id"),
        price=quotes.Price(
            scac=body.matching("scac", SCAC),
            amount_minor=body.whole("amount_minor", lowest=1),
            currency=body.matching("currency", CURRENCY),
        ),
        client_reference=body.text("client_reference"),
    )
    body.done()
    return wanted


def book(wanted: BookingRequest, *, writer: Writer) -> Accepted:
    """Check every rule under the shipment's lock, then book. Needs a transaction."""
    world = World.objects.get()
    shipment = shipments.lock(wanted.shipment_id)
    record_locks.require_closed(shipment.pk)
    resource = leases.shipment_resource(shipment.pk)
    token = preconditions.require_fence(writer, resource=resource)
    preconditions.require_version(writer, shipment)
    now = clock.now()
    _require_open(shipment, world)
    quote = quotes.require_bookable(
        quote_id=wanted.quote_id,
        shipment_id=shipment.pk,
        price=wanted.price,
        now=now,
        reusable=not world.one_booking_per_shipment,
    )
    booking = _create(wanted, world, by=writer.principal, at=now)
    _cover(shipment, quote, booking, by=writer.principal, at=now)
    quotes.change_status(quote, "used", by=writer.principal, at=now)
    effect = journal.Effect(
        kind="booking",
        principal=writer.principal,
        record_id=booking.pk,
        shipment_id=shipment.pk,
        client_reference=wanted.client_reference,
        idempotency_key=writer.idempotency_key,
        fencing_token=token,
        details={
            "quote_id": quote.pk,
            "scac": booking.scac,
            "amount_minor": booking.amount_minor,
            "currency": booking.currency,
            "shipment_version": shipment.version,
        },
    )
    journal.record_effect(effect, at=now)
    return Accepted(location=f"/v1/bookings/{booking.pk}", body=as_json(booking))


def _require_open(shipment: Shipment, world: World) -> None:
    active = Booking.objects.filter(
        shipment_id=shipment.pk, status__in=ACTIVE_BOOKING_STATUSES
    ).exists()
    covered = shipment.carrier_scac is not None or active
    if covered and world.one_booking_per_shipment:
        raise Problem(
            status=409,
            code="shipment_already_covered",
            detail=f"{shipment.pk} has a carrier or a running booking. Read it again.",
        )
    if shipment.status not in {"uncovered", "booked"}:
        raise Problem(
            status=409,
            code="shipment_not_open",
            detail=f"{shipment.pk} is {shipment.status} and takes no booking.",
        )


def _create(wanted: BookingRequest, world: World, *, by: str, at: datetime) -> Booking:
    number = journal.next_number("bookings")
    booking = Booking.objects.create(
        id=f"B-{5000 + number}",
        shipment_id=wanted.shipment_id,
        quote_id=wanted.quote_id,
        scac=wanted.price.scac,
        amount_minor=wanted.price.amount_minor,
        currency=wanted.price.currency,
        client_reference=wanted.client_reference,
        created_at=at,
        confirm_due_at=at + timedelta(seconds=world.booking_confirm_seconds),
        exclusive=world.one_booking_per_shipment,
    )
    announce(booking, by=by, at=at)
    return booking


def _cover(shipment: Shipment, quote: Quote, booking: Booking, *, by: str, at: datetime) -> None:
    shipment.carrier_scac = quote.carrier_scac
    shipment.carrier_name = quote.carrier_name
    shipment.carrier_assigned_by = by
    shipment.carrier_assigned_at = at
    shipment.carrier_booking_id = booking.pk
    shipment.status = "booked"
    shipments.new_version(shipment, by=by, at=at)


def announce(booking: Booking, *, by: str, at: datetime) -> None:
    """Tell the change feed about the booking's version."""
    journal.record_change(
        record_type="booking",
        record_id=booking.pk,
        shipment_id=booking.shipment_id,
        version=booking.version,
        at=at,
        by=by,
    )


def find(booking_id: str) -> Booking:
    """Read a booking, or refuse with 404."""
    booking = Booking.objects.filter(pk=booking_id).first()
    if booking is None:
        raise Problem(
            status=404, code="booking_not_found", detail=f"There is no booking {booking_id}."
        )
    return booking


def of_shipments(shipment_ids: Sequence[str]) -> list[dict[str, object]]:
    """All bookings of these shipments, oldest first."""
    found = Booking.objects.filter(shipment_id__in=shipment_ids)
    return [as_json(booking) for booking in found.order_by("created_at", "pk")]


def of_reference(client_reference: str) -> list[dict[str, object]]:
    """All bookings made under the caller's own reference, oldest first."""
    found = Booking.objects.filter(client_reference=client_reference)
    return [as_json(booking) for booking in found.order_by("created_at", "pk")]


def as_json(booking: Booking) -> dict[str, object]:
    """A booking as the API shows it."""
    return {
        "id": booking.pk,
        "version": booking.version,
        "shipment_id": booking.shipment_id,
        "quote_id": booking.quote_id,
        "scac": booking.scac,
        "amount_minor": booking.amount_minor,
        "currency": booking.currency,
        "client_reference": booking.client_reference,
        "status": booking.status,
        "created_at": clock.as_text(booking.created_at),
        "confirmed_at": clock.as_optional_text(booking.confirmed_at),
    }

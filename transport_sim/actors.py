"""What other people do: employees, carriers. An actor is one entry in ACTORS.

Steps played together give each shipment one new version, as one save in the evening would.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from transport_sim import (
    bookings,
    clock,
    edits,
    mail,
    possession,
    quotes,
    shipments,
    webhooks,
    windows,
)
from transport_sim.fields import CURRENCY, SCAC, Fields
from transport_sim.models import ACTIVE_BOOKING_STATUSES, Booking, Quote
from transport_sim.problems import Problem
from transport_sim.scene import Scene, Step

DEFAULT_SERVICE = "truckload"


@dataclass(frozen=True)
class EmployeeEdit:
    """A person saves a shipment in the transport system's own screens."""

    shipment_id: str
    employee: str
    actor: str
    edit: edits.ShipmentEdit

    def play(self, scene: Scene) -> None:
        """Apply the edit; a save without a change is still a new version."""
        shipment = scene.shipments[self.shipment_id]
        changed = edits.apply_edit(shipment, self.edit, by=self.employee, at=scene.now)
        details: dict[str, object] = {"actor": self.actor, "changed": changed}
        scene.changed(self.shipment_id, by=self.employee, details=details)

    def record(self, scene: Scene) -> dict[str, object]:
        """The shipment."""
        return shipments.as_json(scene.shipments[self.shipment_id])


@dataclass(frozen=True)
class QuoteOffer:
    """A carrier names a price."""

    shipment_id: str
    quote_id: str
    price: quotes.Price
    carrier_name: str
    service: str
    expires_at: datetime
    expires_zone: str

    def play(self, scene: Scene) -> None:
        """Add the quote; an id is used once."""
        if Quote.objects.filter(pk=self.quote_id).exists():
            raise Problem(
                status=409,
                code="quote_exists",
                detail=f"There is a quote {self.quote_id} already. Offer under a new id.",
            )
        quote = Quote.objects.create(
            id=self.quote_id,
            shipment_id=self.shipment_id,
            carrier_scac=self.price.scac,
            carrier_name=self.carrier_name,
            amount_minor=self.price.amount_minor,
            currency=self.price.currency,
            service=self.service,
            expires_at=self.expires_at,
            expires_zone=self.expires_zone,
        )
        quotes.announce(quote, by=self.price.scac, at=scene.now)

    def record(self, scene: Scene) -> dict[str, object]:
        """The quote."""
        return quotes.as_json(quotes.find(self.quote_id), now=scene.now)


@dataclass(frozen=True)
class QuoteWithdrawal:
    """A carrier takes an open quote back."""

    shipment_id: str
    quote_id: str

    def play(self, scene: Scene) -> None:
        """Withdraw the quote unless it was used."""
        quote = Quote.objects.select_for_update().get(pk=self.quote_id)
        if quote.status != "open":
            raise Problem(
                status=409, code="quote_not_open", detail=f"{quote.pk} is {quote.status} already."
            )
        quotes.change_status(quote, "withdrawn", by=quote.carrier_scac, at=scene.now)

    def record(self, scene: Scene) -> dict[str, object]:
        """The quote."""
        return quotes.as_json(quotes.find(self.quote_id), now=scene.now)


@dataclass(frozen=True)
class BookingDecline:
    """A carrier turns a booking down, before or after confirming it."""

    shipment_id: str
    booking_id: str

    def play(self, scene: Scene) -> None:
        """Decline the booking; its shipment is uncovered if it still relied on it."""
        booking = Booking.objects.select_for_update().get(pk=self.booking_id)
        if booking.status not in ACTIVE_BOOKING_STATUSES:
            raise Problem(
                status=409,
                code="booking_not_active",
                detail=f"{booking.pk} is {booking.status} already.",
            )
        booking.status = "declined"
        booking.version += 1
        booking.save(update_fields=["status", "version"])
        bookings.announce(booking, by=booking.scac, at=scene.now)
        webhooks.announce_booking(booking, at=scene.now)
        shipment = scene.shipments[self.shipment_id]
        if shipment.carrier_booking_id == booking.pk:
            edits.remove_carrier(shipment)
            details: dict[str, object] = {"actor": "carrier_declines", "booking_id": booking.pk}
            scene.changed(shipment.pk, by=booking.scac, details=details)

    def record(self, scene: Scene) -> dict[str, object]:
        """The booking."""
        return bookings.as_json(bookings.find(self.booking_id))


def _assigns_carrier(step: Fields) -> Step:
    carrier = edits.CarrierEdit(scac=step.matching("scac", SCAC), name=step.text("name"))
    return EmployeeEdit(
        shipment_id=step.identifier("shipment_id"),
        employee=step.text("employee", longest=100),
        actor="employee_assigns_carrier",
        edit=edits.ShipmentEdit(carrier=carrier),
    )


def _moves_window(step: Fields) -> Step:
    window = windows.WindowEdit(
        stop_id=step.identifier("stop_id"),
        start=step.local_time("start_local"),
        end=step.local_time("end_local"),
    )
    return EmployeeEdit(
        shipment_id=step.identifier("shipment_id"),
        employee=step.text("employee", longest=100),
        actor="employee_moves_window",
        edit=edits.ShipmentEdit(windows=(edits.WindowField(step, window),)),
    )


def _edits(step: Fields) -> Step:
    return EmployeeEdit(
        shipment_id=step.identifier("shipment_id"),
        employee=step.text("employee", longest=100),
        actor="employee_edits",
        edit=edits.read_edit(step.child("patch")),
    )


def _offers_quote(step: Fields) -> Step:
    return QuoteOffer(
        shipment_id=step.identifier("shipment_id"),
        quote_id=step.identifier("quote_id"),
        price=quotes.Price(
            scac=step.matching("scac", SCAC),
            amount_minor=step.whole("amount_minor", lowest=1),
            currency=step.matching("currency", CURRENCY),
        ),
        carrier_name=step.text("name"),
        service=step.text("service", longest=64) if step.has("service") else DEFAULT_SERVICE,
        expires_at=step.instant("expires_at"),
        expires_zone=step.zone("expires_zone"),
    )


def _withdraws_quote(step: Fields) -> Step:
    quote = quotes.find(step.identifier("quote_id"))
    return QuoteWithdrawal(shipment_id=quote.shipment_id, quote_id=quote.pk)


def _declines(step: Fields) -> Step:
    booking = bookings.find(step.identifier("booking_id"))
    return BookingDecline(shipment_id=booking.shipment_id, booking_id=booking.pk)


ACTORS: dict[str, Callable[[Fields], Step]] = {
    "employee_assigns_carrier": _assigns_carrier,
    "employee_moves_window": _moves_window,
    "employee_edits": _edits,
    "employee_sends_message": mail.sends_message,
    "employee_opens_record": possession.opens_record,
    "employee_closes_record": possession.closes_record,
    "other_takes_lease": possession.takes_lease,
    "carrier_offers_quote": _offers_quote,
    "quote_withdrawn": _withdraws_quote,
    "carrier_declines": _declines,
    "message_bounces": mail.bounces,
}


def read_step(actor: str, step: Fields) -> Step:
    """Read what one actor is to do."""
    found = ACTORS[actor](step)
    step.done()
    return found


@transaction.atomic
def play(steps: list[Step]) -> list[dict[str, object]]:
    """Let all steps happen, or none; give the record each of them is about, as it is then."""
    wanted = sorted({step.shipment_id for step in steps})
    locked = {shipment_id: shipments.lock(shipment_id) for shipment_id in wanted}
    scene = Scene(now=clock.now(), shipments=locked)
    for step in steps:
        step.play(scene)
    scene.close()
    return [step.record(scene) for step in steps]

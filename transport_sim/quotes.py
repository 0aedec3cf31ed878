"""Quotes: reading them, and taking one for a booking."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from transport_sim import clock, journal
from transport_sim.models import Quote
from transport_sim.problems import Problem


@dataclass(frozen=True)
class Price:
    """What a booking claims to pay, to whom. Minor units of the currency."""

    scac: str
    amount_minor: int
    currency: str


def find(quote_id: str) -> Quote:
    """Read a quote, or refuse with 404."""
    quote = Quote.objects.filter(pk=quote_id).first()
    if quote is None:
        raise Problem(status=404, code="quote_not_found", detail=f"There is no quote {quote_id}.")
    return quote


def of_shipments(shipment_ids: Sequence[str]) -> list[dict[str, object]]:
    """All quotes of these shipments, whatever their status."""
    now = clock.now()
    found = Quote.objects.filter(shipment_id__in=shipment_ids).order_by("shipment_id", "pk")
    return [as_json(quote, now=now) for quote in found]


def status_at(quote: Quote, now: datetime) -> str:
    """The status as of ``now``: an open quote ends at its expiry, exclusive."""
    return "expired" if quote.status == "open" and quote.expires_at <= now else quote.status


def require_bookable(
    *, quote_id: str, shipment_id: str, price: Price, now: datetime, reusable: bool
) -> Quote:
    """Lock a quote and refuse it unless it is open and says what the booking says.

    A used quote will do as well where quotes are ``reusable``.
    """
    quote = Quote.objects.select_for_update().filter(pk=quote_id, shipment_id=shipment_id).first()
    if quote is None:
        raise Problem(
            status=422,
            code="quote_not_found",
            detail=f"{shipment_id} has no quote {quote_id}. Read its quotes.",
        )
    status = status_at(quote, now)
    if status == "expired":
        until = clock.as_text(quote.expires_at)
        raise Problem(
            status=410,
            code="quote_expired",
            detail=f"{quote_id} ended at {until}. Ask for a new quote.",
        )
    if status != "open" and not (reusable and status == "used"):
        raise Problem(
            status=410, code="quote_not_open", detail=f"{quote_id} is {status}. Use another quote."
        )
    _require_same_price(quote, price)
    return quote


def _require_same_price(quote: Quote, price: Price) -> None:
    if price.scac != quote.carrier_scac:
        raise Problem(
            status=422,
            code="carrier_mismatch",
            detail=f"{quote.pk} is a quote of {quote.carrier_scac}, not of {price.scac}.",
        )
    if (price.amount_minor, price.currency) != (quote.amount_minor, quote.currency):
        raise Problem(
            status=422,
            code="amount_mismatch",
            detail=f"{quote.pk} is {quote.amount_minor} {quote.currency} in minor units.",
        )


def change_status(quote: Quote, status: str, *, by: str, at: datetime) -> None:
    """Give a locked quote a new status, version and place in the change feed."""
    quote.status = status
    quote.version += 1
    quote.save(update_fields=["status", "version"])
    announce(quote, by=by, at=at)


def announce(quote: Quote, *, by: str, at: datetime) -> None:
    """Tell the change feed about the quote's version."""
    journal.record_change(
        record_type="quote",
        record_id=quote.pk,
        shipment_id=quote.shipment_id,
        version=quote.version,
        at=at,
        by=by,
    )


def as_json(quote: Quote, *, now: datetime) -> dict[str, object]:
    """A quote as the API shows it at ``now``."""
    return {
        "id": quote.pk,
        "version": quote.version,
        "shipment_id": quote.shipment_id,
        "carrier": {"scac": quote.carrier_scac, "name": quote.carrier_name},
        "amount_minor": quote.amount_minor,
        "currency": quote.currency,
        "service": quote.service,
        "status": status_at(quote, now),
        "expires_at": clock.as_text(quote.expires_at),
        "expires_zone": quote.expires_zone,
    }

"""Worlds to load: what exists at the start, relative to the hour at which the story starts."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.db import transaction

from transport_sim import clock, profiles
from transport_sim.models import (
    Booking,
    Change,
    Fault,
    Lease,
    LedgerEntry,
    OpenRecord,
    OutgoingMessage,
    PastState,
    Quote,
    Shipment,
    Stop,
    StoredAnswer,
    WebhookDelivery,
    WebhookSubscription,
    World,
)
from transport_sim.models import Call as LoggedCall

CHICAGO = "America/Chicago"
NEW_YORK = "America/New_York"


@dataclass(frozen=True)
class Scenario:
    """A world by name: its title, the instant it starts at and how to build it."""

    name: str
    title: str
    starts_at: datetime
    build: Callable[[datetime], None]


def _build_s318(now: datetime) -> None:
    _uncovered_reefer(now)
    _quiet_shipment(now)


def _uncovered_reefer(now: datetime) -> None:
    Shipment.objects.create(
        id="S-318",
        version=39,
        updated_at=now - timedelta(minutes=20),
        updated_by="d.ruiz",
        status="uncovered",
        customer_code="C-77",
        customer_name="Harbor Foods",
        customer_email="receiving@harborfoods.example",
        customer_tier=1,
        equipment="reefer",
        weight_kg=Decimal(18250),
        lane="DFW → ATL",
    )
    _stop("S-318", 1, "Dallas TX", CHICAGO, "2026-11-24T18:00Z", "2026-11-24T21:00Z")
    _stop("S-318", 2, "Atlanta GA", NEW_YORK, "2026-11-25T15:00Z", "2026-11-25T17:00Z")
    _quote("QX-68", "NRDX", "Nordline Express", 191_000, "2026-11-24T00:00Z")
    _quote("QX-70", "BLUX", "Bluewater Express", 184_000, "2026-11-23T22:30Z")


def _quiet_shipment(now: datetime) -> None:
    Shipment.objects.create(
        id="S-377",
        version=12,
        updated_at=now - timedelta(hours=5),
        updated_by="m.ortiz",
        status="booked",
        customer_code="C-12",
        customer_name="Pinecrest Grocers",
        customer_email="inbound@pinecrest.example",
        customer_tier=2,
        equipment="dry_van",
        weight_kg=Decimal(12400),
        lane="ATL → MEM",
        carrier_scac="OAKX",
        carrier_name="Oakline Freight",
        carrier_assigned_by="m.ortiz",
        carrier_assigned_at=now - timedelta(hours=5),
    )
    _stop("S-377", 1, "Atlanta GA", NEW_YORK, "2026-11-25T13:00Z", "2026-11-25T16:00Z")
    _stop("S-377", 2, "Memphis TN", CHICAGO, "2026-11-26T15:00Z", "2026-11-26T18:00Z")


def _build_wave(now: datetime) -> None:
    """Thirty uncovered loads, each with one rate: for what happens to many cases at once."""
    for number in range(1, 31):
        shipment_id = f"W-{number:02}"
        Shipment.objects.create(
            id=shipment_id,
            version=1,
            updated_at=now,
            updated_by="d.ruiz",
            status="uncovered",
            customer_code="C-77",
            customer_name="Harbor Foods",
            customer_email="receiving@harborfoods.example",
            customer_tier=1,
            equipment="reefer",
            weight_kg=Decimal(18250),
            lane="DFW → ATL",
        )
        _stop(shipment_id, 1, "Dallas TX", CHICAGO, "2026-11-24T18:00Z", "2026-11-24T21:00Z")
        _stop(shipment_id, 2, "Atlanta GA", NEW_YORK, "2026-11-25T15:00Z", "2026-11-25T17:00Z")
        _quote(
            f"QW-{number:02}",
            "BLUX",
            "Bluewater Express",
            179_000,
            "2026-11-24T06:00Z",
            shipment_id=shipment_id,
        )


def _build_desk(now: datetime) -> None:
    _build_s318(now)
    _build_wave(now)


def _stop(shipment_id: str, sequence: int, place: str, zone: str, start: str, end: str) -> None:
    Stop.objects.create(
        id=f"{shipment_id}-{sequence}",
        shipment_id=shipment_id,
        sequence=sequence,
        kind="pickup" if sequence == 1 else "delivery",
        place=place,
        zone=zone,
        window_start=datetime.fromisoformat(start),
        window_end=datetime.fromisoformat(end),
    )


def _quote(
    quote_id: str,
    scac: str,
    name: str,
    amount_minor: int,
    expires_at: str,
    *,
    shipment_id: str = "S-318",
) -> None:
    Quote.objects.create(
        id=quote_id,
        shipment_id=shipment_id,
        carrier_scac=scac,
        carrier_name=name,
        amount_minor=amount_minor,
        currency="USD",
        service="truckload",
        expires_at=datetime.fromisoformat(expires_at),
        expires_zone=CHICAGO,
    )


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario(
            name="s318",
            title="S-318 overnight: an uncovered reefer load, DFW → ATL",
            starts_at=datetime(2026, 11, 23, 22, 0, tzinfo=UTC),
            build=_build_s318,
        ),
        Scenario(
            name="wave",
            title="Thirty uncovered reefer loads at 17:00, each with one rate until midnight",
            starts_at=datetime(2026, 11, 23, 23, 0, tzinfo=UTC),
            build=_build_wave,
        ),
        Scenario(
            name="desk",
            title="S-318 overnight, and thirty other uncovered reefer loads beside it",
            starts_at=datetime(2026, 11, 23, 22, 0, tzinfo=UTC),
            build=_build_desk,
        ),
    )
}

# Children before parents, and in the order in which a settlement locks: first the record, then
# the faults and subscribers of its event. Fences and counters stay: they only ever rise.
_EMPTIED = (
    LoggedCall,
    Change,
    LedgerEntry,
    StoredAnswer,
    Lease,
    OutgoingMessage,
    Booking,
    Fault,
    WebhookDelivery,
    WebhookSubscription,
    Quote,
    Stop,
    OpenRecord,
    Shipment,
    PastState,
)


@transaction.atomic
def load(scenario: Scenario, *, profile: str, now: datetime | None) -> datetime:
    """Empty the world, set its clock and the settings of its profile, and build the scenario."""
    at = scenario.starts_at if now is None else now
    World.objects.select_for_update().get()
    # Writers lock their shipment first. So waiting here means not meeting one half-way.
    list(Shipment.objects.select_for_update().order_by("pk").values_list("pk"))
    for model in _EMPTIED:
        model.objects.all().delete()
    world = World(id=1, scenario=scenario.name, profile=profile, **profiles.PROFILES[profile])
    world.save(force_update=True)
    clock.put(at)
    scenario.build(at)
    # Whoever looks back beyond the start sees the start.
    PastState.objects.update(at=datetime.min.replace(tzinfo=UTC))
    return at


def listing() -> list[dict[str, object]]:
    """The scenarios there are."""
    return [
        {"name": scenario.name, "title": scenario.title, "now": clock.as_text(scenario.starts_at)}
        for scenario in SCENARIOS.values()
    ]

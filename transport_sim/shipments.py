"""Reading, locking and versioning shipments."""

import base64
import binascii
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import Q

from transport_sim import clock, journal, webhooks, windows
from transport_sim.models import Shipment, Stop
from transport_sim.preconditions import entity_tag
from transport_sim.problems import Problem


def find(shipment_id: str) -> Shipment:
    """Read a shipment, or refuse with 404."""
    return _present(Shipment.objects.filter(pk=shipment_id).first(), shipment_id)


def lock(shipment_id: str) -> Shipment:
    """Read a shipment and keep every other writer of it out until the transaction ends."""
    found = Shipment.objects.select_for_update().filter(pk=shipment_id).first()
    return _present(found, shipment_id)


def _present(shipment: Shipment | None, shipment_id: str) -> Shipment:
    if shipment is None:
        raise Problem(
            status=404,
            code="shipment_not_found",
            detail=f"There is no shipment {shipment_id}. Check the id.",
        )
    return shipment


def new_version(shipment: Shipment, *, by: str, at: datetime) -> None:
    """Save a locked shipment under its next version; tell the change feed and subscribers."""
    shipment.version += 1
    shipment.updated_by = by
    shipment.updated_at = at
    shipment.save(force_update=True)
    journal.record_change(
        record_type="shipment",
        record_id=shipment.pk,
        shipment_id=shipment.pk,
        version=shipment.version,
        at=at,
        by=by,
    )
    webhooks.announce_shipment(shipment, at=at)


def by_ids(ids: Sequence[str]) -> dict[str, object]:
    """Read many shipments, in the order asked for, and name those that do not exist."""
    found = Shipment.objects.in_bulk(ids)
    present = [found[shipment_id] for shipment_id in ids if shipment_id in found]
    return {
        "items": as_json_list(present),
        "missing": [shipment_id for shipment_id in ids if shipment_id not in found],
    }


def updated_since(*, since: datetime | None, cursor: str | None, limit: int) -> dict[str, object]:
    """One page of shipments by time of update; ``cursor`` goes on where a page ended."""
    rows = Shipment.objects.order_by("updated_at", "pk")
    if since is not None:
        rows = rows.filter(updated_at__gte=since)
    if cursor is not None:
        at, shipment_id = _read_cursor(cursor)
        rows = rows.filter(Q(updated_at__gt=at) | Q(updated_at=at, pk__gt=shipment_id))
    found = list(rows[: limit + 1])
    page = found[:limit]
    return {
        "items": as_json_list(page),
        "next_cursor": _cursor_after(page[-1]) if len(found) > limit else None,
    }


def _cursor_after(shipment: Shipment) -> str:
    place = f"{shipment.updated_at.isoformat()} {shipment.pk}"
    return base64.urlsafe_b64encode(place.encode()).decode()


def _read_cursor(cursor: str) -> tuple[datetime, str]:
    try:
        place = base64.urlsafe_b64decode(cursor.encode()).decode()
        at, _, shipment_id = place.partition(" ")
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None or "\x00" in shipment_id:
            raise ValueError(cursor)
    except (ValueError, binascii.Error) as error:
        raise Problem(
            status=400, code="malformed_cursor", detail="Send next_cursor back as you got it."
        ) from error
    return moment, shipment_id


def as_json(shipment: Shipment) -> dict[str, object]:
    """A shipment as the API shows it."""
    return as_json_list([shipment])[0]


def as_json_list(shipments: Sequence[Shipment]) -> list[dict[str, object]]:
    """Shipments as the API shows them, with all their stops read at once."""
    stops = stops_of(shipment.pk for shipment in shipments)
    return [_render(shipment, stops.get(shipment.pk, [])) for shipment in shipments]


def stops_of(shipment_ids: Iterable[str]) -> dict[str, list[Stop]]:
    """The stops of each shipment, in the order of travel."""
    grouped: dict[str, list[Stop]] = {}
    wanted = list(shipment_ids)
    for stop in Stop.objects.filter(shipment_id__in=wanted).order_by("shipment_id", "sequence"):
        grouped.setdefault(stop.shipment_id, []).append(stop)
    return grouped


def _render(shipment: Shipment, stops: Sequence[Stop]) -> dict[str, object]:
    return {
        "id": shipment.pk,
        "version": shipment.version,
        "etag": entity_tag(shipment.version),
        "updated_at": clock.as_text(shipment.updated_at),
        "updated_by": shipment.updated_by,
        "status": shipment.status,
        "customer": {
            "id": shipment.customer_code,
            "name": shipment.customer_name,
            "email": shipment.customer_email,
            "tier": shipment.customer_tier,
        },
        "equipment": shipment.equipment,
        "weight_kg": weight_text(shipment),
        "lane": shipment.lane,
        "carrier": carrier_json(shipment),
        "stops": [_render_stop(stop) for stop in stops],
    }


def weight_text(shipment: Shipment) -> str:
    """The weight in kg as a plain decimal without needless zeros."""
    text = f"{shipment.weight_kg:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def carrier_json(shipment: Shipment) -> dict[str, object] | None:
    """Who carries the shipment and who said so, or None."""
    if shipment.carrier_scac is None:
        return None
    return {
        "scac": shipment.carrier_scac,
        "name": shipment.carrier_name,
        "assigned_by": shipment.carrier_assigned_by,
        "assigned_at": clock.as_optional_text(shipment.carrier_assigned_at),
        "booking_id": shipment.carrier_booking_id,
    }


def _render_stop(stop: Stop) -> dict[str, object]:
    return {
        "id": stop.pk,
        "sequence": stop.sequence,
        "kind": stop.kind,
        "place": stop.place,
        "zone": stop.zone,
        "window": window_json(stop),
    }


def window_json(stop: Stop) -> dict[str, object]:
    """The appointment window as instants and as wall times at the stop."""
    return {
        "start": clock.as_text(stop.window_start),
        "end": clock.as_text(stop.window_end),
        "start_local": windows.local_text(stop.window_start, stop.zone),
        "end_local": windows.local_text(stop.window_end, stop.zone),
    }

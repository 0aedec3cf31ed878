"""Changes to a shipment's own fields, the same for the API and for employees."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from transport_sim import shipments, windows
from transport_sim.fields import SCAC, Fields
from transport_sim.models import SHIPMENT_STATUSES, Shipment, Stop
from transport_sim.problems import Problem


@dataclass(frozen=True)
class CarrierEdit:
    """A carrier put in by hand, without a booking."""

    scac: str
    name: str


@dataclass(frozen=True)
class WindowField:
    """A new window and the field it came from, for refusals that need the stop's zone."""

    field: Fields
    edit: windows.WindowEdit


@dataclass(frozen=True)
class ShipmentEdit:
    """A merge patch: None means "leave as it is", except for ``carrier_removed``."""

    status: str | None = None
    equipment: str | None = None
    weight_kg: Decimal | None = None
    carrier: CarrierEdit | None = None
    carrier_removed: bool = False
    windows: tuple[WindowField, ...] = ()


def read_edit(patch: Fields) -> ShipmentEdit:
    """Read a merge patch of a shipment and refuse anything else."""
    removed = patch.is_null("carrier")
    edit = ShipmentEdit(
        status=patch.choice("status", SHIPMENT_STATUSES) if patch.has("status") else None,
        equipment=patch.text("equipment", longest=32) if patch.has("equipment") else None,
        weight_kg=patch.decimal("weight_kg") if patch.has("weight_kg") else None,
        carrier=_read_carrier(patch) if patch.has("carrier") and not removed else None,
        carrier_removed=removed,
        windows=_read_windows(patch) if patch.has("stops") else (),
    )
    patch.done()
    return edit


def _read_carrier(patch: Fields) -> CarrierEdit:
    field = patch.child("carrier")
    carrier = CarrierEdit(scac=field.matching("scac", SCAC), name=field.text("name"))
    field.done()
    return carrier


def _read_windows(patch: Fields) -> tuple[WindowField, ...]:
    found = []
    for stop in patch.children("stops"):
        stop_id = stop.identifier("id")
        field = stop.child("window")
        found.append(WindowField(field, windows.read_window(field, stop_id=stop_id)))
        field.done()
        stop.done()
    return tuple(found)


def apply_edit(
    shipment: Shipment, edit: ShipmentEdit, *, by: str, at: datetime
) -> dict[str, object]:
    """Apply an edit to a locked shipment and say what changed, old and new.

    Stops are saved here; the shipment is saved with its next version by the caller.
    """
    changed: dict[str, object] = {}
    if edit.equipment is not None and edit.equipment != shipment.equipment:
        changed["equipment"] = {"old": shipment.equipment, "new": edit.equipment}
        shipment.equipment = edit.equipment
    if edit.weight_kg is not None and edit.weight_kg != shipment.weight_kg:
        old = shipments.weight_text(shipment)
        shipment.weight_kg = edit.weight_kg
        changed["weight_kg"] = {"old": old, "new": shipments.weight_text(shipment)}
    _apply_carrier(shipment, edit, changed, by=by, at=at)
    _apply_status(shipment, edit.status, changed)
    for window in edit.windows:
        _apply_window(shipment, window, changed)
    return changed


def _apply_carrier(
    shipment: Shipment,
    edit: ShipmentEdit,
    changed: dict[str, object],
    *,
    by: str,
    at: datetime,
) -> None:
    old = shipments.carrier_json(shipment)
    if edit.carrier_removed and old is not None:
        remove_carrier(shipment)
    elif edit.carrier is not None and _differs(shipment, edit.carrier):
        shipment.carrier_scac = edit.carrier.scac
        shipment.carrier_name = edit.carrier.name
        shipment.carrier_assigned_by = by
        shipment.carrier_assigned_at = at
        shipment.carrier_booking_id = None
        if shipment.status == "uncovered":
            shipment.status = "booked"
    else:
        return
    changed["carrier"] = {"old": old, "new": shipments.carrier_json(shipment)}


def _differs(shipment: Shipment, carrier: CarrierEdit) -> bool:
    return (shipment.carrier_scac, shipment.carrier_name) != (carrier.scac, carrier.name)


def remove_carrier(shipment: Shipment) -> None:
    """Leave a locked shipment without a carrier; a booked one is uncovered again."""
    shipment.carrier_scac = None
    shipment.carrier_name = None
    shipment.carrier_assigned_by = None
    shipment.carrier_assigned_at = None
    shipment.carrier_booking_id = None
    if shipment.status == "booked":
        shipment.status = "uncovered"


def _apply_status(shipment: Shipment, status: str | None, changed: dict[str, object]) -> None:
    if status is not None and status != shipment.status:
        changed["status"] = {"old": shipment.status, "new": status}
        shipment.status = status
    covered = shipment.carrier_scac is not None
    if (shipment.status == "uncovered" and covered) or (
        shipment.status == "booked" and not covered
    ):
        raise Problem(
            status=422,
            code="status_carrier_mismatch",
            detail="An uncovered shipment has no carrier and a booked one has. Change both.",
        )


def _apply_window(shipment: Shipment, window: WindowField, changed: dict[str, object]) -> None:
    stop = Stop.objects.filter(shipment_id=shipment.pk, pk=window.edit.stop_id).first()
    if stop is None:
        raise Problem(
            status=422,
            code="stop_not_found",
            detail=f"{shipment.pk} has no stop {window.edit.stop_id}. Read its stops.",
        )
    start, end = windows.resolve(window.field, window.edit, zone=stop.zone)
    if (start, end) == (stop.window_start, stop.window_end):
        return
    old = shipments.window_json(stop)
    stop.window_start, stop.window_end = start, end
    stop.save(update_fields=["window_start", "window_end"])
    changed[f"window {stop.pk}"] = {"old": old, "new": shipments.window_json(stop)}

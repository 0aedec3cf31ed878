"""Appointment windows: an instant and the wall time at the stop's own place."""

from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from transport_sim.fields import Fields


@dataclass(frozen=True)
class WindowEdit:
    """A new window of one stop: wall times of the stop's zone, or UTC instants."""

    stop_id: str
    start: datetime
    end: datetime

    @property
    def is_local(self) -> bool:
        """True when the times are wall times that still need the stop's zone."""
        return self.start.tzinfo is None


def read_window(window: Fields, *, stop_id: str) -> WindowEdit:
    """Read either start_local and end_local, or start and end."""
    if window.has("start_local") or window.has("end_local"):
        edit = WindowEdit(
            stop_id=stop_id,
            start=window.local_time("start_local"),
            end=window.local_time("end_local"),
        )
    else:
        edit = WindowEdit(stop_id=stop_id, start=window.instant("start"), end=window.instant("end"))
    return edit


def resolve(window: Fields, edit: WindowEdit, *, zone: str) -> tuple[datetime, datetime]:
    """Give the window as UTC instants.

    Refuses wall times that the zone skips or has twice on that date, and a window that ends
    before it starts.
    """
    start, end = edit.start, edit.end
    if edit.is_local:
        start = _instant(window, "start_local", start, zone)
        end = _instant(window, "end_local", end, zone)
    if end <= start:
        window.refuse("end_local" if edit.is_local else "end", "send an end after the start")
    return start, end


def local_text(at: datetime, zone: str) -> str:
    """The wall time in ``zone``, to the minute, without offset."""
    return at.astimezone(ZoneInfo(zone)).replace(tzinfo=None).isoformat(timespec="minutes")


def _instant(window: Fields, name: str, local: datetime, zone: str) -> datetime:
    place = ZoneInfo(zone)
    try:
        first = local.replace(tzinfo=place, fold=0).astimezone(UTC)
        second = local.replace(tzinfo=place, fold=1).astimezone(UTC)
    except OverflowError:
        window.refuse(name, "send a wall time within the years 1 to 9999")
    if first.astimezone(place).replace(tzinfo=None) != local:
        window.refuse(name, f"the clocks of {zone} skip this time; send another")
    if first != second:
        window.refuse(name, f"{zone} has this time twice; send start and end in UTC instead")
    return first

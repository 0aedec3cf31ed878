"""Fact values as people read them: local time with its zone, money with its currency."""

from datetime import datetime

from cases.vocabulary.clocks import instant_from, local_text, zone_named
from cases.vocabulary.facts import FactKind, FactSpec, Value
from cases.vocabulary.money import money_from

NONE = "none"


def window_text(value: Value) -> str:
    """`Wed 25 Nov 10:00–12:00 EST`, in the zone of the place."""
    start, end = instant_from(value["start"]), instant_from(value["end"])
    zone = zone_named(value["zone"])
    first, last = start.astimezone(zone), end.astimezone(zone)
    if first.date() == last.date() and first.tzname() == last.tzname():
        return f"{first:%a} {first.day} {first:%b} {first:%H:%M}–{last:%H:%M} {last.tzname()}"
    return f"{local_text(start, zone=value['zone'])} – {local_text(end, zone=value['zone'])}"


def say(spec: FactSpec, value: Value, *, relative_to: datetime | None = None) -> str:
    """The value of a fact as a short phrase; `none` when the source has none."""
    if value is None:
        return NONE
    match spec.kind:
        case FactKind.PARTY:
            by = f", set by {value['set_by']}" if value.get("set_by") else ""
            return f"{value['name']} ({value['code']}){by}"
        case FactKind.MONEY:
            return str(money_from(value))
        case FactKind.WEIGHT:
            return f"{value} kg"
        case FactKind.WINDOW:
            return window_text(value)
        case FactKind.EXPIRY:
            moment = local_text(
                instant_from(value["expires_at"]), zone=value["zone"], relative_to=relative_to
            )
            return (
                f"open until {moment}" if value["state"] == "open" else f"{value['state']} {moment}"
            )
        case FactKind.NOTICE:
            return f"{value['about']}, sent by {value['sent_by']}"
        case FactKind.TEXT:
            return str(value)

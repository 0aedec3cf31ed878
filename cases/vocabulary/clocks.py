"""Instants, zones and shift boundaries. Instants are UTC; wall times need an IANA zone."""

from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from cases.vocabulary.errors import InvalidInput

# Systems fill empty fields with their smallest and largest dates (years 1 and 9999).
BELIEVABLE_YEARS = range(1900, 9000)
ONE_MINUTE = timedelta(minutes=1)


@cache
def _known_zones() -> frozenset[str]:
    return frozenset(available_timezones())


def zone_named(name: str) -> ZoneInfo:
    """The IANA zone of that name, such as `America/Chicago`.

    Raises `InvalidInput` for abbreviations and offsets ("CST", "GMT+3"): they name no rules.
    """
    if name not in _known_zones() or ("/" not in name and name != "UTC"):
        raise InvalidInput(f"{name!r} is not an IANA zone. Use one like America/Chicago.")
    return ZoneInfo(name)


def instant_from(text: str) -> datetime:
    """Read an ISO 8601 instant; one without an offset is refused, since its zone is unknown."""
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{text!r} is not an ISO 8601 time.") from error
    if moment.tzinfo is None:
        raise InvalidInput(f"{text!r} has no zone; a time without a zone cannot be compared.")
    if moment.year not in BELIEVABLE_YEARS:
        raise InvalidInput(f"{text!r} is not a time that business is done at.")
    return moment.astimezone(UTC)


def iso(moment: datetime) -> str:
    """The canonical text of an instant: UTC, with Z, whole seconds unless it has fractions."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def local_text(moment: datetime, *, zone: str, relative_to: datetime | None = None) -> str:
    """`Tue 24 Nov 10:00 EST`; only `10:00 EST` when `relative_to` is on the same local day."""
    local = moment.astimezone(zone_named(zone))
    clock = f"{local:%H:%M} {local.tzname()}"
    if relative_to is not None and relative_to.astimezone(local.tzinfo).date() == local.date():
        return clock
    return f"{local:%a} {local.day} {local:%b} {clock}"


def first_instant_at(wall: datetime, *, zone: ZoneInfo) -> datetime:
    """The first instant at which clocks in `zone` show `wall` or, where they skip it, later."""
    usual = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if usual.astimezone(zone).replace(tzinfo=None) == wall:
        return usual
    instant = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    while instant.astimezone(zone).replace(tzinfo=None) < wall:
        instant += ONE_MINUTE
    return instant

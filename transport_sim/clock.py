"""The simulator's clock: the database's clock plus an offset that the control plane sets."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

NOW = "SELECT clock_timestamp() + clock_offset, clock_offset FROM transport_sim_world WHERE id = 1"
_SET = "UPDATE transport_sim_world SET clock_offset = %s - clock_timestamp() WHERE id = 1"
_ADVANCE = (
    "UPDATE transport_sim_world SET clock_offset = clock_offset + make_interval(secs => %s)"
    " WHERE id = 1"
)
_REAL = "UPDATE transport_sim_world SET clock_offset = interval '0' WHERE id = 1"


@dataclass(frozen=True)
class Reading:
    """What the clock says: an instant in UTC and its distance from the real clock."""

    now: datetime
    offset: timedelta


def read() -> Reading:
    """Read the clock. It keeps ticking inside a transaction."""
    with connection.cursor() as cursor:
        cursor.execute(NOW)
        now, offset = cursor.fetchone()
    return Reading(now=now, offset=offset)


def now() -> datetime:
    """The simulator's present instant, UTC."""
    return read().now


def put(at: datetime) -> None:
    """Make the clock show ``at`` (aware) and tick on from there."""
    _change(_SET, at)


def advance(seconds: float) -> None:
    """Move the clock forward by ``seconds``."""
    _change(_ADVANCE, seconds)


def follow_real_time() -> None:
    """Take the offset away."""
    _change(_REAL)


def _change(statement: str, *parameters: datetime | float) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)


def as_text(at: datetime) -> str:
    """Write an aware UTC instant as ISO-8601 with Z."""
    return at.isoformat().replace("+00:00", "Z")


def as_optional_text(at: datetime | None) -> str | None:
    """Write an instant that may not have come yet."""
    return None if at is None else as_text(at)

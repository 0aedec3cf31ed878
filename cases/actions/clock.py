"""Moving the business clock: only where the settings say that it may move (demo and tests)."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, connection, transaction

from cases import audit
from cases.actions.change import actor_for, busy_is_a_conflict
from cases.clock import business_now
from cases.models import ClockOffset, ClockRequest, Person
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.clocks import iso
from cases.vocabulary.errors import Conflict, InvalidInput, Refused


def _check_movable() -> None:
    if not settings.MOVABLE_CLOCK:
        raise Refused("The business clock cannot be moved here.")


def set_business_clock(*, to: datetime) -> None:
    """Make the business clock read `to` now; it keeps ticking. Raises `Refused` where fixed."""
    _check_movable()
    with transaction.atomic(), connection.cursor() as cursor:
        before = business_now()
        cursor.execute("SELECT clock_timestamp()")
        (real,) = cursor.fetchone()
        ClockOffset.objects.update_or_create(pk=1, defaults={"offset": to - real})
        audit.append_to_house(
            by=SYSTEM, at=to, event="clock_moved", data={"before": iso(before), "to": iso(to)}
        )


def move_business_clock(*, by: timedelta) -> None:
    """Move the business clock on by a duration. Raises `Refused` where fixed."""
    set_business_clock(to=business_now() + by)


def ask_to_advance(*, until: datetime, by: Person, at: datetime) -> None:
    """Ask the demo's own process to let time pass until `until`; one request at a time."""
    _check_movable()
    if until <= at:
        raise InvalidInput("Time only moves forward.")
    try:
        with busy_is_a_conflict("this"), transaction.atomic():
            ClockRequest.objects.create(
                until=until,
                asked_by=str(by),
                asked_at=at,
                progress=f"Waiting for the night to begin, until {iso(until)}.",
            )
            audit.append_to_house(
                by=actor_for(by), at=at, event="clock_advance_asked", data={"until": iso(until)}
            )
    except IntegrityError as error:
        if "one_clock_request_at_a_time" not in str(error):
            raise
        raise Conflict("The night is already passing. Wait until it is morning.") from error


def open_clock_request() -> ClockRequest | None:
    """The request that is to be carried out, or None."""
    return ClockRequest.objects.filter(done_at=None).first()


def report_progress(*, request: ClockRequest, progress: str, done_at: datetime | None) -> None:
    """Say how far the night is; `done_at` ends the request."""
    request.progress, request.done_at = progress[:200], done_at
    request.save(update_fields=("progress", "done_at"))

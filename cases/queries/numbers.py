"""The numbers a lead acts on, per desk and period, from the record: ten queries at most.

What each counts is said in its own words on the page (P34).
"""

from datetime import datetime

from cases.models import Desk
from cases.queries.desks import desk_choices
from cases.queries.duty import starts_of
from cases.queries.numbers_decisions import corrections, decided_in, time_to_decision
from cases.queries.numbers_handovers import handover_latency, stale_at_resume
from cases.queries.numbers_shapes import NumbersPage, Period
from cases.queries.numbers_standing import closed_in, done, standing_now
from cases.queries.numbers_unread import time_unread
from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.numbers import days_until, shifts_until

DAYS = (7, 30)
DAY, SHIFT = "day", "shift"


def period_of(*, desk: Desk, days: int, by: str, at: datetime) -> Period:
    """The last 7 or 30 local days of the desk up to `at`, in days or in shifts.

    Raises `InvalidInput` for any other period.
    """
    if days not in DAYS or by not in {DAY, SHIFT}:
        raise InvalidInput("Numbers are shown for the last 7 or 30 days, by day or by shift.")
    if by == DAY:
        return Period(parts=days_until(at, zone=desk.zone, days=days), at=at)
    parts = shifts_until(at, zone=desk.zone, starts=starts_of(desk), days=days)
    return Period(parts=parts, at=at)


def numbers_page(*, desk: Desk, days: int, by: str, at: datetime) -> NumbersPage:
    """Every number of the desk for the period; raises `InvalidInput` like `period_of`."""
    period = period_of(desk=desk, days=days, by=by, at=at)
    decided = decided_in(desk=desk, period=period)
    closed = closed_in(desk=desk, period=period)
    return NumbersPage(
        desk_id=desk.pk,
        desk=desk.name,
        zone=desk.zone,
        desks=desk_choices(),
        at=at,
        since=period.since,
        standing=standing_now(desk=desk, done=len(closed)),
        numbers=(
            stale_at_resume(desk=desk, period=period),
            time_unread(desk=desk, period=period),
            corrections(decided, period=period),
            time_to_decision(decided, period=period),
            handover_latency(desk=desk, period=period),
            done(closed, period=period),
        ),
    )

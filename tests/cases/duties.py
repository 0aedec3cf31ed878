"""A desk with a roster: Marta works days, Dana evenings, and Priya leads."""

from datetime import date, timedelta

from cases.actions import roster
from cases.clock import business_now
from cases.models import Case, Person, ShiftPattern
from cases.vocabulary.rosters import Position
from cases.vocabulary.shifts import EVERY_DAY, USUAL_STARTS
from tests.cases.builders import EVENING, Cast, an_open_case, at_business_time

FIRST_DAY = date(2026, 11, 1)
NIGHT = EVENING + timedelta(hours=1)


def stands(
    cast: Cast,
    shift: str,
    position: Position,
    person: Person | None,
    *,
    first: date = FIRST_DAY,
    last: date | None = None,
) -> None:
    """Somebody stands in a position of a shift, from November on unless said otherwise."""
    roster.put_on_watch(
        wanted=roster.NewWatch(
            shift_id=ShiftPattern.objects.get(desk=cast.desk, name=shift).pk,
            position=position,
            person=person,
            first_day=first,
            last_day=last,
            days=EVERY_DAY,
        ),
        by=cast.lead,
        at=business_now(),
    )


def with_a_roster(cast: Cast) -> Cast:
    """The cast on the roster; the clock says Monday 18:00."""
    at_business_time(NIGHT)
    roster.set_shifts(desk=cast.desk, starts=USUAL_STARTS, by=cast.lead, at=NIGHT)
    stands(cast, "Day", Position.PRIMARY, cast.owner)
    stands(cast, "Evening", Position.PRIMARY, cast.colleague)
    return cast


def owned_by(cast: Cast, person: Person | None, subject: str = "S-318") -> Case:
    """An open case with that owner."""
    case = an_open_case(cast, subject=subject)
    Case.objects.filter(pk=case.pk).update(owner=person)
    case.refresh_from_db()
    return case

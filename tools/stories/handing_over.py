"""What people of the demo do with a sheet, as its page would let them."""

import time
from datetime import timedelta

from tools.stories.record import StoryBroke, wait_until
from tools.stories.s318 import END_OF_SHIFT, Night

# isort: split
from cases.actions import sheets
from cases.actions.sheet_answers import GivenAnswer, Kind, answer_row
from cases.clock import business_now
from cases.models import Handover, Person
from cases.queries.handover import find_handover, sheet_of
from cases.queries.handover_seen import seen_of
from cases.queries.handover_shapes import Sheet
from cases.vocabulary.errors import RowOvertaken

MINUTE = timedelta(minutes=1)
MOST_LOOKS, LOOK_SECONDS = 5, 1.0


def take_over(night: Night) -> None:
    """P. Raman, who leads, publishes the sheet of the afternoon; R. Kim takes it, and signs."""
    kim, number = night.person("kim"), Handover.objects.get(boundary=END_OF_SHIFT).pk
    night.set_clocks(END_OF_SHIFT + MINUTE)
    wait_until(lambda: _is_read(number), what="S-318 is read for the evening")
    publish(number, by=night.person("priya"))
    shown, shown_at = _sheet(number), business_now()
    night.set_clocks(END_OF_SHIFT + 2 * MINUTE)
    for row in shown.rows:
        given = GivenAnswer(row_id=row.row_id, kind=Kind.ACCEPT, seen=row.seen, shown_at=shown_at)
        answer_row(given=given, by=kim, at=business_now())
    seen = seen_of(_sheet(number))
    sheets.sign(handover_id=number, seen=seen, by=kim, at=business_now())


def publish(number: int, *, by: Person) -> None:
    """Hand the sheet over as it stands; where it changed meanwhile, look at it again first."""
    for _ in range(MOST_LOOKS):
        seen = seen_of(_sheet(number))
        try:
            sheets.publish(handover_id=number, seen=seen, by=by, at=business_now())
        except RowOvertaken:
            time.sleep(LOOK_SECONDS)
        else:
            return
    raise StoryBroke(f"The sheet never stood still long enough for {by} to publish it.")


def _sheet(number: int) -> Sheet:
    return sheet_of(handover=find_handover(number), at=business_now())


def _is_read(number: int) -> bool:
    return not any(row.only_as_blocked for row in _sheet(number).rows)

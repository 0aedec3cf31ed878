"""Finding what is due and nudging a worker for each; it starts no work itself."""

from collections.abc import Callable

from agent.desk import Desk
from agent.lanes import Lane, lane_of

MOST_PER_SWEEP = 100


def sweep_due(*, desk: Desk, send: Callable[[int, Lane], None]) -> int:
    """Nudge a worker for every case that is due and free; says how many.

    Only nudges: whoever takes the case claims it first, so a message too many does no harm and a
    lost one is sent again by a later sweep.
    """
    due = desk.due(limit=MOST_PER_SWEEP)
    for case_id in due:
        send(case_id, lane_of(desk.situation(case_id=case_id).stage))
    return len(due)

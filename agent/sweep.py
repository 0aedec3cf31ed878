"""Finding what is due and nudging a worker for each; it starts no work itself."""

from collections.abc import Callable

from agent.desk import Desk
from cases.vocabulary.lanes import Lane, lane_of

MOST_PER_SWEEP = 100


def sweep_due(*, desk: Desk, send: Callable[[int, Lane], None]) -> int:
    """Nudge a worker for every case that is due and free; says how many.

    Only nudges: whoever takes the case claims it first, so a message too many does no harm and a
    lost one is sent again by a later sweep. No case is looked into: one that cannot be described
    must not keep those behind it from being found.
    """
    due = desk.due(limit=MOST_PER_SWEEP)
    for case in due:
        send(case.case_id, lane_of(case.stage))
    return len(due)

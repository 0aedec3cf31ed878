"""Finding what is due and nudging a worker for each; it starts no work itself."""

from collections.abc import Callable

from agent.desk import Desk
from cases.vocabulary.lanes import Lane

MOST_PER_SWEEP = 100
MOST_WAITING = 200


def sweep_due(
    *, desk: Desk, waiting: Callable[[Lane], int], send: Callable[[int, Lane], None]
) -> int:
    """Nudge a worker for every case that is due and free; says how many.

    Only nudges: whoever takes the case claims it first, so a message too many does no harm and a
    lost one is sent again by a later sweep. No case is looked into: one that cannot be described
    must not keep those behind it from being found. What came in from outside is applied first, so
    that it counts already.

    Each lane is swept by itself, so that none waits behind another, and one in which `waiting`
    counts enough messages gets no more: nobody takes them, and they would pile up without end.
    """
    desk.apply_received_events(limit=MOST_PER_SWEEP)
    nudged = 0
    for lane in Lane:
        if waiting(lane) >= MOST_WAITING:
            continue
        for case in desk.due(lane=lane, limit=MOST_PER_SWEEP):
            send(case.case_id, lane)
            nudged += 1
    return nudged

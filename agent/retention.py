"""What may be forgotten: the checkpoints of cases that are over.

A visit forgets them itself when its case closed. This finds what is left behind: by a worker that
died or lost its lease meanwhile, and wrote once more after the others had forgotten the case.
"""

import structlog

from agent.checkpoints import Checkpoints
from agent.desk import Desk
from agent.runner import case_of, thread_of

log = structlog.get_logger()


def forget_what_is_over(*, desk: Desk, checkpoints: Checkpoints) -> int:
    """Forget every case that is not open; says how many. Doing it twice changes nothing.

    Open cases are left alone, and so are threads that no case of ours is kept under. A case that is
    over stays over, so nothing can be resumed between the question and the forgetting.
    """
    kept = {case_id for thread in checkpoints.threads() if (case_id := case_of(thread)) is not None}
    over = kept - desk.open_among(case_ids=kept)
    checkpoints.forget(*map(thread_of, sorted(over)))
    if over:
        log.info("checkpoints_forgotten", cases=len(over))
    return len(over)

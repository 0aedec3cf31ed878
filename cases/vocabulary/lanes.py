"""The lanes of work: each has a queue of its own and can be paused on its own."""

from enum import StrEnum

from cases.vocabulary.stages import Stage


class Lane(StrEnum):
    """A part of the work."""

    INTAKE = "intake"
    REFRESH = "refresh"
    PLANNING = "planning"
    EXECUTION = "execution"
    RECONCILIATION = "reconciliation"


LANES: dict[Stage, Lane] = {
    Stage.INVESTIGATING: Lane.PLANNING,
    Stage.WAITING_FOR_REVIEW: Lane.REFRESH,
    Stage.EXECUTING: Lane.EXECUTION,
    Stage.VERIFYING: Lane.RECONCILIATION,
    Stage.RECONCILING: Lane.RECONCILIATION,
    Stage.BLOCKED: Lane.REFRESH,
    Stage.ESCALATED: Lane.REFRESH,
    Stage.WAITING_FOR_ACCEPTANCE: Lane.REFRESH,
    Stage.CLOSED: Lane.REFRESH,
}
"""The lane to which the agent's work on a case in that stage belongs."""


def lane_of(stage: Stage) -> Lane:
    """The lane in which a case at this stage is worked on."""
    return LANES[stage]

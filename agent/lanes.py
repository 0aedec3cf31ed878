"""The lanes of work, each a queue of its own, so that a release never waits behind planning."""

from enum import StrEnum

from cases.vocabulary.stages import Stage


class Lane(StrEnum):
    """A part of the work with its own queue."""

    REFRESH = "refresh"
    PLANNING = "planning"
    EXECUTION = "execution"


def lane_of(stage: Stage) -> Lane:
    """The lane in which a case at this stage is worked on."""
    match stage:
        case Stage.EXECUTING | Stage.VERIFYING | Stage.RECONCILING:
            return Lane.EXECUTION
        case Stage.INVESTIGATING:
            return Lane.PLANNING
        case _:
            return Lane.REFRESH

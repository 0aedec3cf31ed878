"""Where a case goes on, read from the record alone. Pure, so that every stage can be checked."""

from typing import Literal

from cases.vocabulary.stages import Stage
from cases.vocabulary.work import EffectState, Situation

type Start = Literal["gather", "revalidate", "verify", "wait", "__end__"]


def route(situation: Situation) -> Start:
    """The step with which work goes on now: `wait` when nothing is due, `__end__` when closed."""
    match situation.stage:
        case Stage.INVESTIGATING:
            return "gather"
        case Stage.WAITING_FOR_REVIEW | Stage.ESCALATED | Stage.WAITING_FOR_ACCEPTANCE:
            return "gather" if situation.refresh_is_due else "wait"
        case Stage.BLOCKED:
            return "gather" if situation.try_is_due else "wait"
        case Stage.EXECUTING:
            return "revalidate"
        case Stage.VERIFYING | Stage.RECONCILING:
            return "verify"
        case Stage.CLOSED:
            return "__end__"


def is_to_be_read(situation: Situation) -> bool:
    """Whether the sources are to be read for a plan or a comparison."""
    return route(situation) == "gather"


def is_to_be_planned(situation: Situation) -> bool:
    """Whether a plan is wanted; false as soon as a proposal stands or a person took over."""
    return situation.stage is Stage.INVESTIGATING


def is_to_be_acted_on(situation: Situation) -> bool:
    """Whether a release is to be carried out."""
    return situation.stage is Stage.EXECUTING


def is_to_be_verified(situation: Situation) -> bool:
    """Whether targets are to be read again for what was attempted."""
    return situation.stage in {Stage.EXECUTING, Stage.VERIFYING, Stage.RECONCILING}


def has_unknown_outcome(situation: Situation) -> bool:
    """Whether an attempt may or may not have happened; until that is known, nothing new starts."""
    return any(work.state is EffectState.UNKNOWN for work in situation.effects)

"""The stages of a case: what may follow, who must act, and which clock runs.

This table is the only place that decides. The diagram in `docs/stages.md` is made from it.
"""

from dataclasses import dataclass
from enum import StrEnum

from cases.vocabulary.errors import ImpossibleTransition


class Stage(StrEnum):
    """Where a case stands."""

    INVESTIGATING = "investigating"
    WAITING_FOR_REVIEW = "waiting_for_review"
    EXECUTING = "executing"
    VERIFYING = "verifying"
    RECONCILING = "reconciling"
    BLOCKED = "blocked"
    ESCALATED = "escalated"
    WAITING_FOR_ACCEPTANCE = "waiting_for_acceptance"
    CLOSED = "closed"


class Turn(StrEnum):
    """Whose turn it is."""

    AGENT = "agent"
    OPERATOR = "operator"
    LEAD = "lead"
    NOBODY = "nobody"


class Clock(StrEnum):
    """Which clock runs while a case stands in a stage."""

    NONE = "none"
    DECIDE_BY = "decide_by"
    NEXT_TRY = "next_try"
    VALID_UNTIL = "valid_until"
    READ_BACK = "read_back"


@dataclass(frozen=True, kw_only=True)
class StageRule:
    """One row of the stage table."""

    label: str
    meaning: str
    turn: Turn
    clock: Clock
    following: frozenset[Stage]


STAGES: dict[Stage, StageRule] = {
    Stage.INVESTIGATING: StageRule(
        label="Investigating",
        meaning="The agent reads the sources and prepares a proposal.",
        turn=Turn.AGENT,
        clock=Clock.NONE,
        following=frozenset(
            {
                Stage.WAITING_FOR_REVIEW,
                Stage.WAITING_FOR_ACCEPTANCE,
                Stage.BLOCKED,
                Stage.ESCALATED,
                Stage.CLOSED,
            }
        ),
    ),
    Stage.WAITING_FOR_REVIEW: StageRule(
        label="Waiting for review",
        meaning="A proposal is ready and a person decides.",
        turn=Turn.OPERATOR,
        clock=Clock.DECIDE_BY,
        following=frozenset(
            {
                Stage.EXECUTING,
                Stage.INVESTIGATING,
                Stage.WAITING_FOR_ACCEPTANCE,
                Stage.BLOCKED,
                Stage.ESCALATED,
                Stage.CLOSED,
            }
        ),
    ),
    Stage.EXECUTING: StageRule(
        label="Executing",
        meaning="A release is in force; the agent re-reads the facts and acts.",
        turn=Turn.AGENT,
        clock=Clock.VALID_UNTIL,
        following=frozenset(
            {
                Stage.VERIFYING,
                Stage.RECONCILING,
                Stage.INVESTIGATING,
                Stage.WAITING_FOR_ACCEPTANCE,
                Stage.BLOCKED,
                Stage.ESCALATED,
            }
        ),
    ),
    Stage.VERIFYING: StageRule(
        label="Verifying",
        meaning="The target is read again to see the effect and its adoption.",
        turn=Turn.AGENT,
        clock=Clock.READ_BACK,
        following=frozenset(
            {
                Stage.EXECUTING,
                Stage.RECONCILING,
                Stage.INVESTIGATING,
                Stage.WAITING_FOR_ACCEPTANCE,
                Stage.BLOCKED,
                Stage.ESCALATED,
            }
        ),
    ),
    Stage.RECONCILING: StageRule(
        label="Outcome unknown",
        meaning="An attempt may or may not have happened; it is looked up, never guessed.",
        turn=Turn.AGENT,
        clock=Clock.READ_BACK,
        following=frozenset(
            {
                Stage.EXECUTING,
                Stage.VERIFYING,
                Stage.INVESTIGATING,
                Stage.WAITING_FOR_ACCEPTANCE,
                Stage.BLOCKED,
                Stage.ESCALATED,
            }
        ),
    ),
    Stage.BLOCKED: StageRule(
        label="Blocked",
        meaning="The agent cannot go on; the owner sees why, and what it waits for.",
        turn=Turn.OPERATOR,
        clock=Clock.NEXT_TRY,
        following=frozenset(
            {
                Stage.INVESTIGATING,
                Stage.WAITING_FOR_REVIEW,
                Stage.WAITING_FOR_ACCEPTANCE,
                Stage.EXECUTING,
                Stage.VERIFYING,
                Stage.RECONCILING,
                Stage.ESCALATED,
                Stage.CLOSED,
            }
        ),
    ),
    Stage.ESCALATED: StageRule(
        label="Escalated",
        meaning="No plan stands; a person decides what happens next.",
        turn=Turn.LEAD,
        clock=Clock.NONE,
        following=frozenset(
            {
                Stage.INVESTIGATING,
                Stage.RECONCILING,
                Stage.WAITING_FOR_ACCEPTANCE,
                Stage.BLOCKED,
                Stage.CLOSED,
            }
        ),
    ),
    Stage.WAITING_FOR_ACCEPTANCE: StageRule(
        label="Waiting for acceptance",
        meaning="Everything released is done, or nothing is left to do; the owner says so.",
        turn=Turn.OPERATOR,
        clock=Clock.NONE,
        following=frozenset({Stage.CLOSED, Stage.INVESTIGATING, Stage.BLOCKED}),
    ),
    Stage.CLOSED: StageRule(
        label="Closed",
        meaning="The owner accepted the outcome or closed the case with a reason.",
        turn=Turn.NOBODY,
        clock=Clock.NONE,
        following=frozenset(),
    ),
}


def check_transition(*, present: Stage, following: Stage) -> None:
    """Raise `ImpossibleTransition` unless the table lets `following` come after `present`."""
    if following not in STAGES[present].following:
        raise ImpossibleTransition(
            f"A case that is {STAGES[present].label.lower()} cannot become "
            f"{STAGES[following].label.lower()}. Reload the case to see where it stands."
        )


def diagram() -> str:
    """The table as a Mermaid state diagram, in the order of the table."""
    lines = ["stateDiagram-v2", "    [*] --> investigating"]
    for stage, rule in STAGES.items():
        lines.append(f"    {stage.value}: {rule.label} ({rule.turn.value})")
        lines.extend(
            f"    {stage.value} --> {following.value}"
            for following in STAGES
            if following in rule.following
        )
    lines.append("    closed --> [*]")
    return "\n".join(lines) + "\n"

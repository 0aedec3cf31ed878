"""Where a case goes on follows from the record alone, for every stage."""

import pytest

from agent.routing import route
from cases.vocabulary.lanes import Lane, lane_of
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import Situation

QUIET = {
    Stage.INVESTIGATING: "gather",
    Stage.WAITING_FOR_REVIEW: "wait",
    Stage.EXECUTING: "revalidate",
    Stage.VERIFYING: "verify",
    Stage.RECONCILING: "verify",
    Stage.BLOCKED: "wait",
    Stage.ESCALATED: "wait",
    Stage.WAITING_FOR_ACCEPTANCE: "wait",
    Stage.CLOSED: "__end__",
}
ON_REFRESH = {Stage.WAITING_FOR_REVIEW, Stage.ESCALATED, Stage.WAITING_FOR_ACCEPTANCE}


def situation(stage: Stage, *, refresh: bool = False, next_try: bool = False) -> Situation:
    """A case at that stage."""
    return Situation(
        case_id=7,
        kind="freight_exception",
        case_type="E02",
        subject="S-318",
        stage=stage,
        records=(),
        release_in_force=False,
        refresh_is_due=refresh,
        try_is_due=next_try,
        effects=(),
    )


@pytest.mark.parametrize("stage", list(Stage))
def test_a_case_goes_on_by_its_stage_when_no_clock_has_run_out(stage: Stage) -> None:
    assert route(situation(stage)) == QUIET[stage]


@pytest.mark.parametrize("stage", list(Stage))
def test_a_due_refresh_wakes_only_those_who_wait_for_a_person(stage: Stage) -> None:
    expected = "gather" if stage in ON_REFRESH else QUIET[stage]
    assert route(situation(stage, refresh=True)) == expected


@pytest.mark.parametrize("stage", list(Stage))
def test_a_due_try_wakes_only_the_blocked(stage: Stage) -> None:
    expected = "gather" if stage is Stage.BLOCKED else QUIET[stage]
    assert route(situation(stage, next_try=True)) == expected


def test_a_release_has_a_lane_of_its_own() -> None:
    alone = {stage for stage in Stage if lane_of(stage) is Lane.EXECUTION}
    assert alone == {Stage.EXECUTING}


def test_looking_outcomes_up_has_a_lane_of_its_own() -> None:
    alone = {stage for stage in Stage if lane_of(stage) is Lane.RECONCILIATION}
    assert alone == {Stage.VERIFYING, Stage.RECONCILING}

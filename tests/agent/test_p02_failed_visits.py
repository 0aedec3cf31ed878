"""P2, P12: an error nobody foresaw ends the visit, stands on the case, and is not repeated fast."""

from dataclasses import dataclass

import pytest
from structlog.testing import capture_logs

from agent.runner import Visit
from cases.vocabulary.errors import Conflict
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import Comparison, Grant
from tests.agent.rig import Rig
from tests.agent.twin import DeskTwin

LEASE_SECONDS = 61


@dataclass(kw_only=True)
class FailingDesk(DeskTwin):
    """A database that breaks in the middle of planning, `failures` times."""

    failures: int = 1
    error: Exception = OSError("the database went away")

    def propose(self, *, grant: Grant, request_id: int) -> None:
        """See `Desk.propose`."""
        if self.failures:
            self.failures -= 1
            raise self.error
        super().propose(grant=grant, request_id=request_id)


def test_p02_an_error_stands_on_the_case_with_the_next_try_and_costs_no_second_plan() -> None:
    rig = Rig(desk=FailingDesk())
    assert rig.visit() is Visit.FAILED
    assert (
        rig.desk.events[-1] == "blocked: The agent's visit failed: OSError: the database went away"
    )
    assert (rig.desk.stage, rig.desk.worker) == (Stage.BLOCKED, "")
    assert rig.visit() is Visit.NOT_CLAIMED
    rig.desk.pass_time(seconds=31)
    assert rig.visit() is Visit.PAUSED
    assert rig.planner.asked == 1
    assert len(rig.desk.proposals) == 1


def test_p02_the_words_of_an_error_are_made_fit_to_be_kept() -> None:
    rig = Rig(desk=FailingDesk(error=ValueError("a\x00b\ud800c" + "x" * 9000)))
    with capture_logs() as logged:
        rig.visit()
    assert "visit_failed" in {entry["event"] for entry in logged}
    said = rig.desk.events[-1].removeprefix("blocked: The agent's visit failed: ValueError: ")
    assert said.startswith("a\ufffdb\ufffdcxxx")
    assert len(said) <= 500


@dataclass(kw_only=True)
class MuteDesk(FailingDesk):
    """A record to which not even the failure can be told."""

    def block(self, *, grant: Grant, reason: str) -> None:
        """See `Desk.block`."""
        raise OSError("still away")


def test_p02_when_not_even_the_error_can_be_written_the_lease_spaces_out_the_next_try() -> None:
    rig = Rig(desk=MuteDesk())
    assert rig.visit() is Visit.FAILED
    assert rig.visit() is Visit.NOT_CLAIMED
    rig.desk.pass_time(seconds=LEASE_SECONDS)
    assert rig.visit() is Visit.PAUSED
    assert rig.world.calls == ["read"], "only the step that failed was done again"


def test_p18_a_worker_that_fails_after_it_lost_its_lease_says_nothing_on_the_case() -> None:
    rig = Rig()

    def taken_over_and_broken() -> None:
        rig.desk.take_over()
        raise RuntimeError("too late to matter")

    rig.world.on_read = taken_over_and_broken
    assert rig.visit() is Visit.LEASE_LOST
    assert rig.desk.count("blocked") == 0
    assert rig.desk.worker == "another worker"


@dataclass(kw_only=True)
class ContradictingDesk(DeskTwin):
    """A record that refuses comparisons, as if a person were faster, `conflicts` times."""

    conflicts: int

    def compare_with_now(self, *, grant: Grant) -> Comparison:
        """See `Desk.compare_with_now`."""
        if self.conflicts:
            self.conflicts -= 1
            raise Conflict("the case moved on")
        return super().compare_with_now(grant=grant)


def test_p11_a_record_that_moved_on_is_asked_again_in_the_same_visit() -> None:
    rig = Rig(desk=ContradictingDesk(conflicts=1))
    assert rig.visit() is Visit.PAUSED
    assert rig.desk.stage is Stage.WAITING_FOR_REVIEW
    assert rig.world.calls == ["read", "read"]


@pytest.mark.parametrize("conflicts", [2, 1000])
def test_p12_a_record_that_keeps_moving_on_ends_the_visit_instead_of_tiring_the_source(
    conflicts: int,
) -> None:
    rig = Rig(desk=ContradictingDesk(conflicts=conflicts))
    assert rig.visit() is Visit.FAILED
    assert rig.world.calls == ["read", "read"]
    assert rig.desk.count("blocked: The agent's visit failed: Conflict: the case moved on") == 1
    assert not rig.desk.is_free()

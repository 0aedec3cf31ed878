"""The one door from the agent to the record.

`Desk` says what may be asked and reported; `RecordDesk` asks the record itself. Business time is
taken from the database for each step. Nodes and runner know only the protocol.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Protocol

from cases.actions import effects, evidence, planning, read_backs, runs
from cases.queries import flows, situation
from cases.vocabulary.work import (
    AttemptOrder,
    CallResult,
    Capabilities,
    Comparison,
    DueCase,
    FlowInUse,
    Grant,
    PlanQuestion,
    Situation,
    SourceReading,
    TargetLook,
)


class Desk(Protocol):
    """What the agent may ask of the record and report; fenced writes raise `LeaseLost`."""

    def due(self, *, limit: int) -> Sequence[DueCase]:
        """Cases whose work is due and unclaimed, longest waiting first; marks them as nudged."""

    def claim(self, *, case_id: int, worker: str, lease: timedelta) -> Grant | None:
        """Claim the case's run if it is due and free; None when someone else has it."""

    def renew(self, *, grant: Grant, lease: timedelta) -> Grant:
        """Prolong the lease from now; raises `LeaseLost` when it is no longer this worker's."""

    def let_go(self, *, grant: Grant) -> None:
        """Give the run back; what is due next follows from the case. Harmless when already lost."""

    def visit_failed(self, *, grant: Grant, reason: str) -> None:
        """A visit ended in an error nobody foresaw: say so on the case, and when the next try is.

        `reason` is short and can be kept. A closed case raises `Conflict`.
        """

    def situation(self, *, case_id: int) -> Situation:
        """Where the case stands now, read fresh."""

    def record_readings(self, *, grant: Grant, readings: Sequence[SourceReading]) -> None:
        """Keep what was read, links to new records included; failures are kept too."""

    def compare_with_now(self, *, grant: Grant) -> Comparison:
        """Weigh the newest readings against the standing proposal and write down what follows."""

    def ask_for_plan(self, *, grant: Grant, planner: str) -> PlanQuestion:
        """Open the planning round, or find it open; an earlier answer comes with the question."""

    def record_plan(self, *, grant: Grant, request_id: int, answer: dict[str, Any]) -> None:
        """Keep the planner's answer before it is used; an earlier answer is never replaced."""

    def propose(self, *, grant: Grant, request_id: int) -> None:
        """Turn the recorded answer into a proposal, an escalation, or 'nothing left to do'."""

    def clear_to_act(self, *, grant: Grant) -> bool:
        """Whether the release still holds on facts just read; when not, the case says why."""

    def begin_attempt(self, *, grant: Grant, effect_id: int) -> AttemptOrder | None:
        """Commit an attempt before its call; None when it must not start (the case says why)."""

    def finish_attempt(
        self, *, grant: Grant, attempt_id: int, result: CallResult, capabilities: Capabilities
    ) -> None:
        """Record how the call ended."""

    def back_off(self, *, grant: Grant, reason: str, delay: timedelta) -> None:
        """Someone else holds the resource: say so and try again after `delay`."""

    def record_looks(
        self, *, grant: Grant, looks: Sequence[TargetLook], capabilities: Capabilities
    ) -> None:
        """Keep fresh looks at the targets and settle what they settle."""

    def escalate(self, *, grant: Grant, reason: str) -> None:
        """Hand the case to a person, with the reason."""


class RecordDesk:
    """The door to the real record. `agent` is the agent identity's name and version."""

    def __init__(self, *, agent_name: str, agent_version: str) -> None:
        self._agent = runs.agent_actor(name=agent_name, version=agent_version)

    def due(self, *, limit: int) -> Sequence[DueCase]:
        """See `Desk.due`."""
        return runs.nudge_due(agent=self._agent, limit=limit)

    def flows_in_use(self) -> Sequence[FlowInUse]:
        """Open cases per flow version, for the gate before a deploy."""
        return flows.flows_in_use()

    def claim(self, *, case_id: int, worker: str, lease: timedelta) -> Grant | None:
        """See `Desk.claim`."""
        return runs.claim(case_id=case_id, agent=self._agent, worker=worker, lease=lease)

    def renew(self, *, grant: Grant, lease: timedelta) -> Grant:
        """See `Desk.renew`."""
        return runs.renew(grant=grant, lease=lease)

    def let_go(self, *, grant: Grant) -> None:
        """See `Desk.let_go`."""
        runs.let_go(grant=grant)

    def visit_failed(self, *, grant: Grant, reason: str) -> None:
        """See `Desk.visit_failed`."""
        runs.visit_failed(grant=grant, by=self._agent, reason=reason)

    def situation(self, *, case_id: int) -> Situation:
        """See `Desk.situation`."""
        return situation.situation_of(case_id=case_id)

    def record_readings(self, *, grant: Grant, readings: Sequence[SourceReading]) -> None:
        """See `Desk.record_readings`."""
        evidence.record_readings(grant=grant, by=self._agent, readings=readings)

    def compare_with_now(self, *, grant: Grant) -> Comparison:
        """See `Desk.compare_with_now`."""
        return evidence.compare_with_now(grant=grant, by=self._agent)

    def ask_for_plan(self, *, grant: Grant, planner: str) -> PlanQuestion:
        """See `Desk.ask_for_plan`."""
        return planning.ask_for_plan(grant=grant, by=self._agent, planner=planner)

    def record_plan(self, *, grant: Grant, request_id: int, answer: dict[str, Any]) -> None:
        """See `Desk.record_plan`."""
        planning.record_plan(grant=grant, by=self._agent, request_id=request_id, answer=answer)

    def propose(self, *, grant: Grant, request_id: int) -> None:
        """See `Desk.propose`."""
        planning.propose(grant=grant, by=self._agent, request_id=request_id)

    def clear_to_act(self, *, grant: Grant) -> bool:
        """See `Desk.clear_to_act`."""
        return effects.clear_to_act(grant=grant, by=self._agent)

    def begin_attempt(self, *, grant: Grant, effect_id: int) -> AttemptOrder | None:
        """See `Desk.begin_attempt`."""
        return effects.begin_attempt(grant=grant, by=self._agent, effect_id=effect_id)

    def finish_attempt(
        self, *, grant: Grant, attempt_id: int, result: CallResult, capabilities: Capabilities
    ) -> None:
        """See `Desk.finish_attempt`."""
        effects.finish_attempt(
            grant=grant,
            by=self._agent,
            attempt_id=attempt_id,
            result=result,
            capabilities=capabilities,
        )

    def back_off(self, *, grant: Grant, reason: str, delay: timedelta) -> None:
        """See `Desk.back_off`."""
        effects.back_off(grant=grant, by=self._agent, reason=reason, delay=delay)

    def record_looks(
        self, *, grant: Grant, looks: Sequence[TargetLook], capabilities: Capabilities
    ) -> None:
        """See `Desk.record_looks`."""
        read_backs.record_looks(grant=grant, by=self._agent, looks=looks, capabilities=capabilities)

    def escalate(self, *, grant: Grant, reason: str) -> None:
        """See `Desk.escalate`."""
        planning.escalate(grant=grant, by=self._agent, reason=reason)

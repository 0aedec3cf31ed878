"""The one door from the agent to the record.

`Desk` says what may be asked and reported; `RecordDesk` asks the record itself. Business time is
taken from the database for each step. Nodes and runner know only the protocol.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from cases.actions import (
    deadlines,
    effects,
    events,
    evidence,
    lapses,
    planning,
    read_backs,
    repeats,
    runs,
)
from cases.queries import flows, situation
from cases.vocabulary.lanes import Lane
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

    def apply_received_events(self, *, limit: int) -> int:
        """Apply what came in from outside and was not applied yet; says how many events."""

    def due(self, *, lane: Lane, limit: int) -> Sequence[DueCase]:
        """Cases of a lane whose work is due and unclaimed; marks them as nudged."""

    def escalate_overdue(self) -> int:
        """Put what nobody decided in time before the desk's lead, whatever is paused; how many."""

    def keep_owned(self) -> int:
        """Let no open case be without an available owner or a running escalation; how many moved.

        The record itself does it, whatever is paused.
        """

    def claim(self, *, case_id: int, worker: str, lease: timedelta) -> Grant | None:
        """Claim the case's run if it is due and free; None when someone else has it."""

    def renew(self, *, grant: Grant, lease: timedelta) -> Grant:
        """Prolong the lease from now for one more step; out of budget, the case is blocked instead.

        Raises `LeaseLost` when it is no longer this worker's, `CallsPaused` when a person stopped
        this work.
        """

    def permit_call(self, *, grant: Grant, lease: timedelta, lane: Lane | None = None) -> Grant:
        """Permit and count one call to the outside, right before it is made; raises like `renew`.

        `lane` is that of the call, where it differs from that of the case's stage: neither may be
        paused.
        When the record cannot be asked, whatever error that is goes up: no call is made.
        """

    def keep_alive(self, *, grant: Grant, lease: timedelta) -> None:
        """Prolong the lease while a long step goes on; raises `LeaseLost`."""

    def hang_up(self) -> None:
        """Give back what the calling thread holds open towards the record."""

    def let_go(self, *, grant: Grant) -> None:
        """Give the run back; what is due next follows from the case. Harmless when already lost."""

    def block(self, *, grant: Grant, reason: str) -> None:
        """Nothing can be done for now: say why on the case, and when the next try is.

        `reason` is short and can be kept. A closed case raises `Conflict`.
        """

    def adopt_flow(self, *, grant: Grant, flow_version: int) -> Grant:
        """The case goes on under another flow version from now on."""

    def situation(self, *, case_id: int) -> Situation:
        """Where the case stands now, read fresh."""

    def open_among(self, *, case_ids: Collection[int]) -> set[int]:
        """Which of these cases are open; one that is not never is again."""

    def record_readings(
        self, *, grant: Grant, readings: Sequence[SourceReading], asked_at: datetime
    ) -> None:
        """Keep what was read, links to new records included; failures are kept too.

        `asked_at` is when it was asked for: what changed after that need not be in it.
        """

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

    def begin_attempt(
        self, *, grant: Grant, effect_id: int, capabilities: Capabilities
    ) -> AttemptOrder | None:
        """Commit an attempt before its call; None when it must not start (the case says why)."""

    def finish_attempt(
        self, *, grant: Grant, attempt_id: int, result: CallResult, capabilities: Capabilities
    ) -> None:
        """Record how the call ended."""

    def back_off(self, *, grant: Grant, reason: str, delay: timedelta) -> None:
        """Someone else holds the resource: say so and try again after `delay`."""

    def record_looks(
        self, *, grant: Grant, looks: Sequence[TargetLook], capabilities: Capabilities
    ) -> bool:
        """Keep fresh looks at the targets and settle what they settle.

        True when only a call repeated under its key can tell whether an attempt happened.
        """

    def begin_repeat(self, *, grant: Grant, capabilities: Capabilities) -> AttemptOrder | None:
        """Commit one more attempt under the key of an unknown one; None when it must not start."""


class RecordDesk:
    """The door to the real record. `agent` is the agent identity's name and version."""

    def __init__(self, *, agent_name: str, agent_version: str) -> None:
        self._agent = runs.agent_actor(name=agent_name, version=agent_version)

    def apply_received_events(self, *, limit: int) -> int:
        """See `Desk.apply_received_events`."""
        return events.apply_received_events(limit=limit)

    def due(self, *, lane: Lane, limit: int) -> Sequence[DueCase]:
        """See `Desk.due`."""
        return runs.nudge_due(agent=self._agent, limit=limit, lane=lane)

    def escalate_overdue(self) -> int:
        """See `Desk.escalate_overdue`."""
        return deadlines.escalate_overdue()

    def keep_owned(self) -> int:
        """See `Desk.keep_owned`."""
        return lapses.keep_owned()

    def flows_in_use(self) -> Sequence[FlowInUse]:
        """Open cases per flow version, for the gate before a deploy."""
        return flows.flows_in_use()

    def claim(self, *, case_id: int, worker: str, lease: timedelta) -> Grant | None:
        """See `Desk.claim`."""
        return runs.claim(case_id=case_id, agent=self._agent, worker=worker, lease=lease)

    def renew(self, *, grant: Grant, lease: timedelta) -> Grant:
        """See `Desk.renew`."""
        return runs.renew(grant=grant, agent=self._agent, lease=lease)

    def permit_call(self, *, grant: Grant, lease: timedelta, lane: Lane | None = None) -> Grant:
        """See `Desk.permit_call`."""
        return runs.permit_call(grant=grant, agent=self._agent, lease=lease, lane=lane)

    def keep_alive(self, *, grant: Grant, lease: timedelta) -> None:
        """See `Desk.keep_alive`."""
        runs.keep_alive(grant=grant, lease=lease)

    def hang_up(self) -> None:
        """See `Desk.hang_up`."""
        runs.hang_up()

    def let_go(self, *, grant: Grant) -> None:
        """See `Desk.let_go`."""
        runs.let_go(grant=grant)

    def block(self, *, grant: Grant, reason: str) -> None:
        """See `Desk.block`."""
        runs.block(grant=grant, by=self._agent, reason=reason)

    def adopt_flow(self, *, grant: Grant, flow_version: int) -> Grant:
        """See `Desk.adopt_flow`."""
        return runs.adopt_flow(grant=grant, by=self._agent, flow_version=flow_version)

    def situation(self, *, case_id: int) -> Situation:
        """See `Desk.situation`."""
        return situation.situation_of(case_id=case_id)

    def open_among(self, *, case_ids: Collection[int]) -> set[int]:
        """See `Desk.open_among`."""
        return situation.open_among(case_ids=case_ids)

    def record_readings(
        self, *, grant: Grant, readings: Sequence[SourceReading], asked_at: datetime
    ) -> None:
        """See `Desk.record_readings`."""
        evidence.record_readings(grant=grant, by=self._agent, readings=readings, asked_at=asked_at)

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

    def begin_attempt(
        self, *, grant: Grant, effect_id: int, capabilities: Capabilities
    ) -> AttemptOrder | None:
        """See `Desk.begin_attempt`."""
        return effects.begin_attempt(
            grant=grant, by=self._agent, effect_id=effect_id, capabilities=capabilities
        )

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
    ) -> bool:
        """See `Desk.record_looks`."""
        return read_backs.record_looks(
            grant=grant, by=self._agent, looks=looks, capabilities=capabilities
        )

    def begin_repeat(self, *, grant: Grant, capabilities: Capabilities) -> AttemptOrder | None:
        """See `Desk.begin_repeat`."""
        return repeats.begin_repeat(grant=grant, by=self._agent, capabilities=capabilities)

"""A twin of the record in memory: one case, the rules the graph leans on, and every write noted.

It is strict where the graph could do harm: fencing, the stage table, one attempt at a time.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from cases.vocabulary.errors import CallsPaused
from cases.vocabulary.freight import FREIGHT
from cases.vocabulary.lanes import Lane, lane_of
from cases.vocabulary.playbook import PlanKind, material_facts, plan_from
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import (
    AttemptOrder,
    CallOutcome,
    CallResult,
    Capabilities,
    Comparison,
    DueCase,
    EffectState,
    EffectWork,
    Grant,
    PlanQuestion,
    ReadOutcome,
    RecordKey,
    Situation,
    SourceReading,
    TargetLook,
    TurnedDown,
)
from tests.agent.case_twin import CaseTwin, ProposalTwin
from tests.agent.world import SHIPMENT


class DeskTwin(CaseTwin):
    """`Desk` over one case in memory."""

    def apply_received_events(self, *, limit: int) -> int:
        """See `Desk.apply_received_events`: nothing comes in here."""
        return 0

    def due(self, *, lane: Lane, limit: int) -> Sequence[DueCase]:
        """See `Desk.due`."""
        is_here = self.is_free() and lane_of(self.stage) is lane
        return [DueCase(case_id=self.case_id, stage=self.stage)] if is_here else []

    def escalate_overdue(self) -> int:
        """See `Desk.escalate_overdue`: nothing waits for people here."""
        return 0

    def keep_owned(self) -> int:
        """See `Desk.keep_owned`: its one case has an owner."""
        return 0

    def claim(self, *, case_id: int, worker: str, lease: timedelta) -> Grant | None:
        """See `Desk.claim`."""
        if not self.is_free():
            return None
        self.token += 1
        self.worker, self.lease_until = worker, self.now + lease
        return self.grant()

    def renew(self, *, grant: Grant, lease: timedelta) -> Grant:
        """See `Desk.renew`."""
        self.fence(grant)
        self.lease_until = self.now + lease
        return self.grant()

    def permit_call(self, *, grant: Grant, lease: timedelta, lane: Lane | None = None) -> Grant:
        """See `Desk.permit_call`."""
        if self.paused_because:
            raise CallsPaused(self.paused_because)
        return self.renew(grant=grant, lease=lease)

    def keep_alive(self, *, grant: Grant, lease: timedelta) -> None:
        """See `Desk.keep_alive`."""
        self.fence(grant)
        self.lease_until = self.now + lease

    def hang_up(self) -> None:
        """See `Desk.hang_up`: there is nothing to give back."""

    def let_go(self, *, grant: Grant) -> None:
        """See `Desk.let_go`."""
        if grant.fencing_token == self.token:
            self.worker, self.lease_until = "", None

    def adopt_flow(self, *, grant: Grant, flow_version: int) -> Grant:
        """See `Desk.adopt_flow`."""
        self.write(grant, f"flow migrated: {self.flow_version} to {flow_version}")
        self.flow_version = flow_version
        return self.grant()

    def block(self, *, grant: Grant, reason: str) -> None:
        """See `Desk.block`."""
        self.write(grant, f"blocked: {reason}")
        self.stand_blocked()

    def situation(self, *, case_id: int) -> Situation:
        """See `Desk.situation`."""
        return Situation(
            case_id=self.case_id,
            kind=FREIGHT.kind,
            case_type="E02",
            subject=SHIPMENT,
            stage=self.stage,
            records=tuple(RecordKey(record_type=t, record_id=i) for t, i in self.newest_attempt),
            release_in_force=self.released is not None,
            refresh_is_due=self.refresh_due_at is not None and self.refresh_due_at <= self.now,
            try_is_due=self.next_try_at is not None and self.next_try_at <= self.now,
            effects=tuple(self.effects.values()),
        )

    def open_among(self, *, case_ids: Collection[int]) -> set[int]:
        """See `Desk.open_among`."""
        return {self.case_id} & set(case_ids) if self.stage is not Stage.CLOSED else set()

    def record_readings(
        self, *, grant: Grant, readings: Sequence[SourceReading], asked_at: datetime
    ) -> None:
        """See `Desk.record_readings`."""
        self.write(grant, "readings")
        for reading in readings:
            key = (reading.record_type, reading.record_id)
            self.newest_attempt[key] = reading
            if reading.outcome is ReadOutcome.READ:
                self.latest[key] = reading

    def compare_with_now(self, *, grant: Grant) -> Comparison:
        """See `Desk.compare_with_now`."""
        self.fence(grant)
        comparison = self._compare()
        self.write(grant, f"compared: {comparison}")
        return comparison

    def _compare(self) -> Comparison:
        if self.is_unreadable():
            self.stand_blocked()
            return Comparison.BLOCKED
        if self.released is not None:
            self.enter(Stage.EXECUTING)
            return Comparison.ACT
        ready = next((p for p in self.proposals if p.state == "ready"), None)
        if ready is None:
            self.enter(Stage.INVESTIGATING)
            return Comparison.PLAN
        if all(goal.achieved(self.sheet()) for goal in FREIGHT.goals.values()):
            ready.state = "withdrawn"
            self.enter(Stage.WAITING_FOR_ACCEPTANCE)
            self.due_at = self.refresh_due_at = None
            return Comparison.CLEAR
        if self.changed(ready):
            self.plan_anew(ready)
            return Comparison.REPLACE
        self.enter(Stage.WAITING_FOR_REVIEW)
        self.wait_for_shift()
        return Comparison.RETAIN

    def ask_for_plan(self, *, grant: Grant, planner: str) -> PlanQuestion:
        """See `Desk.ask_for_plan`."""
        self.write(grant, f"asked {planner}")
        answer = self.requests.setdefault(self.planning_round, None)
        return PlanQuestion(
            request_id=self.planning_round,
            planning_round=self.planning_round,
            kind=FREIGHT.kind,
            case_type="E02",
            sheet=self.sheet(),
            turned_down=tuple(
                TurnedDown(number=p.number, reason="no", actions=p.actions)
                for p in self.proposals
                if p.state == "sent_back"
            ),
            now=self.now,
            answer=answer,
        )

    def record_plan(self, *, grant: Grant, request_id: int, answer: dict[str, Any]) -> None:
        """See `Desk.record_plan`."""
        self.write(grant, "plan recorded")
        if self.requests[request_id] is None:
            self.requests[request_id] = answer

    def propose(self, *, grant: Grant, request_id: int) -> None:
        """See `Desk.propose`."""
        plan = plan_from(self.requests[request_id])
        self.planning_round += 1
        if plan.kind is PlanKind.ESCALATE:
            self.escalate(grant=grant, reason=plan.summary)
            return
        if plan.kind is PlanKind.NOTHING_LEFT:
            self.enter(Stage.WAITING_FOR_ACCEPTANCE)
            self.write(grant, "nothing left")
            self.due_at = None
            return
        facts = material_facts(playbook=FREIGHT, actions=plan.actions, sheet=self.sheet())
        number = len(self.proposals) + 1
        self.proposals.append(ProposalTwin(number=number, actions=plan.actions, facts=facts))
        self.write(grant, f"proposed {number}")
        self.enter(Stage.WAITING_FOR_REVIEW)
        self.wait_for_shift()

    def clear_to_act(self, *, grant: Grant) -> bool:
        """See `Desk.clear_to_act`."""
        self.write(grant, "last look")
        if self.released is None or self.stage is not Stage.EXECUTING:
            return False
        if self.open_attempt is not None:
            self.make_unknown(self.open_attempt)
            return False
        if self.is_unreadable():
            self.stand_blocked()
            return False
        if self.changed(self.released):
            self.plan_anew(self.released)
            return False
        return True

    def begin_attempt(
        self, *, grant: Grant, effect_id: int, capabilities: Capabilities
    ) -> AttemptOrder | None:
        """See `Desk.begin_attempt`."""
        self.fence(grant)
        effect = self.effects.get(effect_id)
        if self.stage is not Stage.EXECUTING or self.released is None or effect is None:
            return None
        if self.open_attempt is not None:
            self.make_unknown(effect_id)
            return None
        return self._start(grant, effect)

    def _start(self, grant: Grant, effect: EffectWork) -> AttemptOrder:
        self.write(grant, f"attempt {effect.reference}")
        self.open_attempt = effect.effect_id
        self.attempts.append(effect.effect_id)
        return AttemptOrder(
            attempt_id=len(self.attempts),
            effect=effect,
            subject=SHIPMENT,
            subject_version=self.latest[("shipment", SHIPMENT)].version,
        )

    def finish_attempt(
        self, *, grant: Grant, attempt_id: int, result: CallResult, capabilities: Capabilities
    ) -> None:
        """See `Desk.finish_attempt`."""
        self.write(grant, f"attempt ended: {result.outcome}")
        effect_id = self.attempts[attempt_id - 1]
        self.open_attempt = None
        match result.outcome:
            case CallOutcome.ANSWERED:
                self.set_effect(effect_id, EffectState.ANSWERED)
                self.enter(Stage.VERIFYING)
                self.due_at = self.now
            case CallOutcome.UNKNOWN:
                self.make_unknown(effect_id)
                self.due_at = self.now + capabilities.consistency_window
            case CallOutcome.WORLD_MOVED:
                assert self.released is not None
                self.plan_anew(self.released)
            case CallOutcome.REFUSED:
                self.escalate(grant=grant, reason=result.detail)
            case CallOutcome.NOT_SENT:
                self.due_at = self.now + timedelta(seconds=5)

    def back_off(self, *, grant: Grant, reason: str, delay: timedelta) -> None:
        """See `Desk.back_off`."""
        self.write(grant, f"backed off: {reason}")
        self.due_at = self.now + delay

    def record_looks(
        self, *, grant: Grant, looks: Sequence[TargetLook], capabilities: Capabilities
    ) -> bool:
        """See `Desk.record_looks`."""
        self.write(grant, f"looks: {[look.found for look in looks]}")
        if any(not look.readable for look in looks):
            self.stand_blocked()
            return False
        if any(not look.searchable for look in looks):
            self.due_at = self.now + timedelta(seconds=1)
            return capabilities.key_lifetime is not None
        for look in looks:
            adopted = look.state in {"confirmed", "delivered"}
            found = EffectState.ADOPTED if adopted else EffectState.CONFIRMED
            self.set_effect(look.effect_id, found if look.found else EffectState.WANTED)
        states = {effect.state for effect in self.effects.values()}
        if EffectState.CONFIRMED in states:
            self.due_at = self.now + timedelta(seconds=1)
        elif EffectState.WANTED in states:
            self.enter(Stage.EXECUTING)
            self.due_at = self.now
        else:
            self.enter(Stage.VERIFYING)
            self.enter(Stage.WAITING_FOR_ACCEPTANCE)
            self.due_at, self.released = None, None
        return False

    def begin_repeat(self, *, grant: Grant, capabilities: Capabilities) -> AttemptOrder | None:
        """See `Desk.begin_repeat`."""
        self.fence(grant)
        unknown = (e for e in self.effects.values() if e.state is EffectState.UNKNOWN)
        effect = next(unknown, None)
        return None if effect is None else self._start(grant, effect)

    def escalate(self, *, grant: Grant, reason: str) -> None:
        """No plan stands; a person decides."""
        self.write(grant, f"escalated: {reason}")
        self.enter(Stage.ESCALATED)
        self.due_at = None

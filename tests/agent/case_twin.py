"""One case in memory, as people and time move it. What the agent may do to it is in `twin`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from cases.vocabulary.errors import LeaseLost
from cases.vocabulary.facts import FactSheet, MaterialFact, Reading, compare
from cases.vocabulary.freight import FREIGHT
from cases.vocabulary.playbook import PlannedAction
from cases.vocabulary.stages import Stage, check_transition
from cases.vocabulary.work import (
    EffectState,
    EffectWork,
    Grant,
    ReadOutcome,
    SourceReading,
)
from tests.agent.world import EVENING, SHIPMENT

SHIFT = timedelta(hours=8)
RETRY = timedelta(seconds=30)


@dataclass(kw_only=True)
class ProposalTwin:
    """A proposal: its actions, what it rests on, and what became of it."""

    number: int
    actions: tuple[PlannedAction, ...]
    facts: tuple[MaterialFact, ...]
    state: str = "ready"


@dataclass(kw_only=True)
class CaseTwin:
    """One case in memory; `events` is its audit, `now` its clock."""

    now: datetime = EVENING
    case_id: int = 7
    flow_version: int = 1
    stage: Stage = Stage.INVESTIGATING
    due_at: datetime | None = EVENING
    refresh_due_at: datetime | None = None
    next_try_at: datetime | None = None
    token: int = 0
    worker: str = ""
    lease_until: datetime | None = None
    paused_because: str = ""
    planning_round: int = 1
    events: list[str] = field(default_factory=list)
    latest: dict[tuple[str, str], SourceReading] = field(default_factory=dict)
    newest_attempt: dict[tuple[str, str], SourceReading] = field(default_factory=dict)
    requests: dict[int, dict[str, Any] | None] = field(default_factory=dict)
    proposals: list[ProposalTwin] = field(default_factory=list)
    released: ProposalTwin | None = None
    effects: dict[int, EffectWork] = field(default_factory=dict)
    open_attempt: int | None = None
    attempts: list[int] = field(default_factory=list)

    # What people and time do

    def pass_time(self, **spans: float) -> None:
        """Let the business clock run."""
        self.now += timedelta(**spans)

    def wake(self) -> None:
        """A spurious reason to look at the case: due, although nothing is to be done."""
        self.due_at = self.now

    def release(self, number: int) -> None:
        """A person releases a proposal; its outside actions become effects."""
        proposal = self.proposals[number - 1]
        if proposal.state != "ready":
            raise AssertionError(f"proposal {number} is {proposal.state}")
        proposal.state, self.released = "released", proposal
        for position, planned in enumerate(proposal.actions, start=1):
            target = FREIGHT.action(planned.action).target_record
            if target is not None:
                self.effects[100 * number + position] = EffectWork(
                    effect_id=100 * number + position,
                    position=position,
                    action=planned.action,
                    target_record=target,
                    parameters=planned.parameters,
                    key=uuid4(),
                    reference=f"WB-{self.case_id}-{number}-{position}",
                    state=EffectState.WANTED,
                    target_record_id="",
                )
        self.enter(Stage.EXECUTING)
        self.due_at = self.now

    def withdraw_release(self) -> None:
        """A person takes the release back before anything started."""
        self.released = None
        self.effects.clear()
        self.enter(Stage.ESCALATED)
        self.due_at = None

    def send_back(self, number: int) -> None:
        """A person asks for another plan."""
        self.proposals[number - 1].state = "sent_back"
        self.planning_round += 1
        self.enter(Stage.INVESTIGATING)
        self.due_at = self.now

    def close(self) -> None:
        """The owner closes the case."""
        self.enter(Stage.CLOSED)
        self.due_at = self.now

    def take_over(self) -> None:
        """Another worker claims the case, as after a lease that ran out."""
        self.token += 1
        self.worker, self.lease_until = "another worker", self.now + timedelta(seconds=60)

    def sheet(self) -> FactSheet:
        """The newest successful readings."""
        return FactSheet(
            subject_type="shipment",
            subject_id=SHIPMENT,
            readings=tuple(
                Reading(
                    record_type=key[0],
                    record_id=key[1],
                    version=reading.version,
                    observed_at=self.now,
                    fields=reading.fields,
                )
                for key, reading in self.latest.items()
            ),
        )

    def count(self, event: str) -> int:
        """How often something was written whose note begins so."""
        return sum(note.startswith(event) for note in self.events)

    def is_free(self) -> bool:
        is_due = self.due_at is not None and self.due_at <= self.now
        return is_due and (self.lease_until is None or self.lease_until <= self.now)

    def grant(self) -> Grant:
        assert self.lease_until is not None
        return Grant(
            case_id=self.case_id,
            fencing_token=self.token,
            worker=self.worker,
            lease_until=self.lease_until,
            flow_version=self.flow_version,
        )

    def fence(self, grant: Grant) -> None:
        if grant.fencing_token != self.token or self.lease_until is None:
            raise LeaseLost("taken over by a newer worker")
        if self.lease_until <= self.now:
            raise LeaseLost("the lease ended")

    def write(self, grant: Grant, event: str) -> None:
        self.fence(grant)
        self.events.append(event)

    def enter(self, stage: Stage) -> None:
        if stage is not self.stage:
            check_transition(present=self.stage, following=stage)
            self.stage, self.next_try_at = stage, None

    def stand_blocked(self) -> None:
        self.enter(Stage.BLOCKED)
        self.next_try_at = self.due_at = self.now + RETRY

    def wait_for_shift(self) -> None:
        self.refresh_due_at = self.due_at = self.now + SHIFT

    def is_unreadable(self) -> bool:
        return any(r.outcome is ReadOutcome.FAILED for r in self.newest_attempt.values())

    def changed(self, proposal: ProposalTwin) -> bool:
        done = {e.position for e in self.effects.values() if e.state is EffectState.ADOPTED}
        actions: Mapping[int, PlannedAction] = dict(enumerate(proposal.actions, start=1))
        expected = {
            key: leaves(actions[position].parameters)
            for position in done
            for key, leaves in FREIGHT.action(actions[position].action).leaves_behind.items()
        }
        open_facts = [fact for fact in proposal.facts if not done.issuperset(fact.positions)]
        return bool(
            compare(specs=FREIGHT.facts, material=open_facts, sheet=self.sheet(), expected=expected)
        )

    def plan_anew(self, proposal: ProposalTwin) -> None:
        proposal.state, self.released = "stale", None
        self.effects.clear()
        self.planning_round += 1
        self.enter(Stage.INVESTIGATING)
        self.due_at = self.now

    def make_unknown(self, effect_id: int) -> None:
        self.open_attempt = None
        self.set_effect(effect_id, EffectState.UNKNOWN)
        self.enter(Stage.RECONCILING)
        self.due_at = self.now

    def set_effect(self, effect_id: int, state: EffectState) -> None:
        self.effects[effect_id] = replace(self.effects[effect_id], state=state)

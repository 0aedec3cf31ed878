"""The whole engine before a transport system of one kind: record, graph, adapter, all real."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from agent.desk import RecordDesk
from agent.planner.rules import RulePlanner
from agent.runner import Runner
from agent.sources.base import NoLease, Permit, TargetLease
from agent.sources.transport import TransportSource
from cases.actions import decisions
from cases.actions.clock import move_business_clock
from cases.clock import business_now
from cases.models import Case
from cases.vocabulary.work import AttemptOrder, CallResult, Capabilities
from tests.agent.rig import MemoryCheckpoints
from tests.agent.world import nothing
from tests.cases.builders import EVENING, Cast, an_answer, an_open_case, at_business_time
from tests.simulator import Simulator
from tools.simulator_control import LedgerEntry

AGENT = "watchbill-agent"


class Watched(TransportSource):
    """The real adapter; the world may move before a lease, and the worker die after a call."""

    before_lease: Callable[[], object] = nothing
    after_call: Callable[[], object] = nothing

    def take_lease(
        self, *, subject: str, holder: str, ttl: timedelta, permit: Permit
    ) -> TargetLease | NoLease:
        """See `Source.take_lease`."""
        self.before_lease()
        return super().take_lease(subject=subject, holder=holder, ttl=ttl, permit=permit)

    def perform(
        self, *, order: AttemptOrder, fencing_token: int | None, permit: Permit
    ) -> CallResult:
        """See `Source.perform`."""
        result = super().perform(order=order, fencing_token=fencing_token, permit=permit)
        self.after_call()
        return result


@dataclass(kw_only=True)
class Engine:
    """S-318 at 17:00 and workers that each live for one visit; both clocks move together."""

    simulator: Simulator
    cast: Cast
    capabilities: Capabilities
    profile: str
    case: Case = field(init=False)
    checkpoints: MemoryCheckpoints = field(default_factory=MemoryCheckpoints)

    def __post_init__(self) -> None:
        """Load the world, let Bluewater name a price, and open the case."""
        self.simulator.control.reset(profile=self.profile, now=EVENING)
        self.simulator.control.settings(lookup_by_reference=self.capabilities.lookup_by_reference)
        at_business_time(EVENING)
        self.simulator.control.actor(
            "carrier_offers_quote",
            shipment_id="S-318",
            quote_id="QX-71",
            scac="BLUX",
            name="Bluewater Express",
            amount_minor=179_000,
            currency="USD",
            expires_at="2026-11-24T06:00:00Z",
            expires_zone="America/Chicago",
        )
        self.case = an_open_case(self.cast)

    def visit(
        self,
        *,
        before_lease: Callable[[], object] = nothing,
        after_call: Callable[[], object] = nothing,
    ) -> None:
        """One visit by a new worker."""
        source = Watched(
            address=self.simulator.url,
            token=self.simulator.token,
            timeout=timedelta(seconds=1),
            capabilities=self.capabilities,
        )
        source.before_lease, source.after_call = before_lease, after_call
        runner = Runner(
            desk=RecordDesk(agent_name="exception-bot", agent_version="1.0"),
            source=source,
            planner=RulePlanner(),
            checkpoints=self.checkpoints,
            worker="test",
        )
        try:
            runner.advance(case_id=self.case.pk)
        finally:
            source.close()
            self.case.refresh_from_db()

    def pass_time(self, *, seconds: float) -> None:
        """Both clocks go on."""
        move_business_clock(by=timedelta(seconds=seconds))
        self.simulator.control.advance_clock(seconds=seconds)

    def work_until(self, stage: str) -> None:
        """Visit, and let time pass between visits, until the case stands there."""
        for _ in range(12):
            self.visit()
            if self.case.stage == stage:
                return
            self.pass_time(seconds=6)
        raise AssertionError(f"still {self.case.stage}: {self.case.stage_reason}")

    def release(self) -> None:
        """The owner releases the proposal that waits."""
        answer = an_answer(self.case)
        decisions.release(answer=answer, by=self.cast.owner, at=business_now())
        self.case.refresh_from_db()

    def our_effects(self) -> list[LedgerEntry]:
        """What we caused, from the transport system's own ledger."""
        return [entry for entry in self.simulator.control.ledger() if entry.principal == AGENT]

"""S-318 on real parts for tests: real workers, broker, simulator and record."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from agent.runner import LEASE
from cases.actions import clock, decisions, intake
from cases.clock import business_now
from cases.models import Case, Proposal, Run
from cases.vocabulary.actors import SYSTEM
from tests.cases.builders import Cast
from tests.crashes.nursery import Nursery
from tools.simulator_control import LedgerEntry, SimulatorControl
from tools.stories.house import ALONE, House
from tools.stories.record import wait_until
from tools.stories.s318 import MORNING, NIGHT

END_OF_SHIFT = datetime(2026, 11, 23, 23, 0, tzinfo=UTC)
LEASE_IS_OVER = LEASE + timedelta(seconds=1)


@dataclass(kw_only=True)
class NightDesk:
    """The desk at 17:00 with one open case, and everything that may happen to it.

    `env` is what the workers of this test know besides the usual.
    """

    house: House
    nursery: Nursery
    control: SimulatorControl
    cast: Cast
    planner_log: Path
    env: dict[str, str] = field(default_factory=dict)
    case_id: int = field(default=0, init=False)

    @property
    def case(self) -> Case:
        """The case, read fresh."""
        return Case.objects.get(pk=self.case_id)

    def proposal(self, number: int) -> Proposal:
        """Version `number`, read fresh."""
        return self.case.proposals.get(number=number)

    def set_clocks(self, moment: datetime) -> None:
        """Both clocks together."""
        self.control.set_clock(moment)
        clock.set_business_clock(to=moment)

    def let_lease_run_out(self) -> None:
        """Time passes: the lease of a worker that died is over."""
        self.set_clocks(business_now() + LEASE_IS_OVER)

    def open_world(self) -> None:
        """17:00: S-318 has no carrier, Bluewater's rate is good until midnight."""
        self.control.reset(scenario="s318", now=END_OF_SHIFT)
        self.set_clocks(END_OF_SHIFT)
        self.offer_rate("QX-71", amount_minor=179000, expires_at="2026-11-24T06:00:00Z")

    def open_case(self) -> None:
        """17:00, and a case about S-318 was just opened."""
        self.open_world()
        self.case_id = self.open_another("S-318")

    def open_another(self, subject: str) -> int:
        """A case about that shipment, with the same desk and owner; says its number."""
        wanted = intake.NewCase(
            kind="freight_exception",
            case_type="E02",
            subject=subject,
            title="Carrier fell off",
            system="transport",
            desk=self.cast.desk,
            owner=self.cast.owner,
        )
        return intake.open_case(wanted=wanted, by=SYSTEM, at=business_now()).case_id

    def offer_rate(self, quote_id: str, *, amount_minor: int, expires_at: str) -> None:
        """Bluewater names a price."""
        self.control.actor(
            "carrier_offers_quote",
            shipment_id="S-318",
            quote_id=quote_id,
            scac="BLUX",
            name="Bluewater Express",
            amount_minor=amount_minor,
            currency="USD",
            expires_at=expires_at,
            expires_zone="America/Chicago",
        )

    def world_moves(self) -> None:
        """The night of S-318: window to 14:00, Oakline assigned, and it is 08:00."""
        self.control.batch(NIGHT)
        self.set_clocks(MORNING)

    def start_worker(
        self,
        name: str = "worker",
        *,
        pool: str = "solo",
        options: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> int:
        """A worker whose plans are counted; one process, unless `pool` says prefork."""
        return self._start(name, pool=pool, options=options, env=env or {})

    def start_dying_worker(self, point: str, *, deed: str = "die") -> None:
        """A worker of a single process to which `deed` happens at `point`."""
        self._start("dying", pool="solo", options=(), env={"POINT": point, "DEED": deed})

    def _start(
        self, name: str, *, pool: str, options: Sequence[str], env: Mapping[str, str]
    ) -> int:
        usual = [f"--pool={pool}", "--concurrency=2", *ALONE, f"-n{name}@%h", "--loglevel=WARNING"]
        return self.nursery.start(
            name,
            options=[*usual, *options],
            env={"PLANNER_LOG": str(self.planner_log), **self.env, **env},
        )

    def wait_for_death(self) -> None:
        """The dying worker is gone, killed by signal 9."""
        status = self.nursery.wait("dying", timeout=30)
        assert status == 128 + 9, f"the worker ended with {status} instead of being killed"

    def wait_until_let_go(self) -> None:
        """No worker holds the case."""
        self.wait_for(
            lambda: Run.objects.get(case_id=self.case_id).lease_until is None,
            "the worker let the case go",
        )

    def wait_for(self, holds: Callable[[], bool], what: str) -> None:
        """Wait for the record to show something."""
        wait_until(holds, what=what, patience=40)

    def wait_for_stage(self, stage: str) -> None:
        """Wait until the case stands there."""
        self.wait_for(lambda: self.case.stage == stage, f"the case is {stage}")

    def wait_for_proposal(self, number: int, state: str = "ready") -> None:
        """Wait until that version is in that state."""
        self.wait_for(
            lambda: self.case.proposals.filter(number=number, state=state).exists(),
            f"proposal {number} is {state}",
        )

    def answer(self, number: int) -> decisions.Answer:
        """The answer of someone whose page shows version `number`."""
        return decisions.Answer(
            case_id=self.case_id,
            case_version=self.case.version,
            proposal_number=number,
            digest=self.proposal(number).digest,
            nonce=uuid4(),
        )

    def release(self, number: int) -> None:
        """The owner releases that version."""
        decisions.release(answer=self.answer(number), by=self.cast.owner, at=business_now())

    def our_effects(self) -> list[str]:
        """Kinds of all effects we caused, from the transport system's own ledger."""
        return [entry.kind for entry in self.ledger() if entry.principal == "watchbill-agent"]

    def ledger(self) -> list[LedgerEntry]:
        """Every true effect on S-318, by anybody."""
        return self.control.ledger(shipment_id="S-318")

    def plans_answered(self) -> int:
        """How many times a planner in any process gave an answer."""
        if not self.planner_log.exists():
            return 0
        return len(self.planner_log.read_text(encoding="utf-8").splitlines())

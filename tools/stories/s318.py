"""S-318 overnight, step by step: what people, employees, carriers and the clock do.

Every step waits until the record shows it. Times are Chicago's; the case's own zone is shown on the
pages. Nothing here decides anything: the agent, the record and the simulator do.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from uuid import uuid4

from tools.simulator_control import SimulatorControl
from tools.stories.house import House
from tools.stories.record import instant, wait_until

# isort: split
from django.core.management import call_command

from cases.actions import clock, closing, decisions, intake, ownership
from cases.clock import business_now
from cases.models import AuditEvent, Case, Desk, Person, Proposal
from cases.vocabulary.actors import SYSTEM

SHIPMENT = "S-318"
OPENED_AT = instant("2026-11-23T16:00:00-06:00")
WEIGHED_AT = instant("2026-11-23T16:20:00-06:00")
FIRST_RATE_OVER_AT = instant("2026-11-23T16:31:00-06:00")
REQUOTED_AT = instant("2026-11-23T16:52:00-06:00")
END_OF_SHIFT = instant("2026-11-23T17:00:00-06:00")
MORNING = instant("2026-11-24T08:00:00-06:00")

NIGHT = (
    {
        "actor": "employee_moves_window",
        "shipment_id": SHIPMENT,
        "stop_id": "S-318-2",
        "start_local": "2026-11-25T14:00",
        "end_local": "2026-11-25T16:00",
        "employee": "J. Ortiz",
    },
    {
        "actor": "employee_assigns_carrier",
        "shipment_id": SHIPMENT,
        "scac": "OAKX",
        "name": "Oakline Freight",
        "employee": "J. Ortiz",
    },
)


def quiet(_: str) -> None:
    """Tell nobody."""


@dataclass(kw_only=True)
class Night:
    """The story in the making; `tell` gets a sentence for each thing that happens.

    `scenario` is the simulator's world in which S-318 is.
    """

    house: House
    control: SimulatorControl
    tell: Callable[[str], None] = quiet
    scenario: str = "s318"
    case_id: int = field(default=0, init=False)

    @property
    def case(self) -> Case:
        """The case, read fresh."""
        return Case.objects.get(pk=self.case_id)

    def proposal(self, number: int) -> Proposal:
        """Version `number`, read fresh."""
        return self.case.proposals.get(number=number)

    def person(self, username: str) -> Person:
        """Somebody of the demo desk."""
        return Person.objects.get(username=username)

    def set_clocks(self, moment: datetime) -> None:
        """Move the desk's and the transport system's clock together."""
        self.control.set_clock(moment)
        clock.set_business_clock(to=moment)

    def evening(self) -> None:
        """16:00 to 17:00: versions 1 and 2 have their history, version 3 waits for a release."""
        self.control.reset(scenario=self.scenario, now=OPENED_AT)
        self.house.send_events(self.control)
        self.set_clocks(OPENED_AT)
        call_command("demo_people", verbosity=0)
        self._open()
        self._first_rate_runs_out()
        self._second_is_sent_back()

    def _open(self) -> None:
        opened = intake.open_case(
            wanted=intake.NewCase(
                kind="freight_exception",
                case_type="E02",
                subject=SHIPMENT,
                title="Carrier fell off, rebook",
                system="transport",
                desk=Desk.objects.get(),
                owner=self.person("kim"),
            ),
            by=SYSTEM,
            at=business_now(),
        )
        self.case_id = opened.case_id
        self._wait_for(1, Proposal.State.READY)
        self.tell("16:00  The carrier fell off. Proposal 1 books Bluewater at a rate until 16:30.")

    def _first_rate_runs_out(self) -> None:
        self.set_clocks(WEIGHED_AT)
        self._weigh("18300")
        closing.refresh_now(case_id=self.case_id, by=self.person("kim"), at=business_now())
        wait_until(lambda: self._retained() == 1, what="proposal 1 is retained at version 40")
        self.tell("16:20  The load is weighed: 50 kg more, nothing material, proposal 1 holds.")
        self.set_clocks(FIRST_RATE_OVER_AT)
        self._wait_for(2, Proposal.State.READY)
        self.tell("16:31  That rate ran out. Proposal 2 books Nordline instead.")

    def _second_is_sent_back(self) -> None:
        self.set_clocks(REQUOTED_AT)
        self._weigh("18280")
        self.control.actor(
            "carrier_offers_quote",
            shipment_id=SHIPMENT,
            quote_id="QX-71",
            scac="BLUX",
            name="Bluewater Express",
            amount_minor=179000,
            currency="USD",
            expires_at="2026-11-24T06:00:00Z",
            expires_zone="America/Chicago",
        )
        self.set_clocks(END_OF_SHIFT)
        decisions.send_back(
            answer=self.answer(2, reason="Too dear. Bluewater has just quoted again, use that."),
            by=self.person("kim"),
            at=business_now(),
        )
        self._wait_for(3, Proposal.State.READY)
        self.tell("17:00  R. Kim sends it back. Proposal 3 books Bluewater until midnight, at v41.")

    def _weigh(self, kilograms: str) -> None:
        self.control.actor(
            "employee_edits",
            shipment_id=SHIPMENT,
            employee="Dock 4",
            patch={"weight_kg": kilograms},
        )

    def answer(self, number: int, *, reason: str = "") -> decisions.Answer:
        """The answer of someone whose page shows version `number`."""
        return decisions.Answer(
            case_id=self.case_id,
            case_version=self.case.version,
            proposal_number=number,
            digest=self.proposal(number).digest,
            nonce=uuid4(),
            reason=reason,
        )

    def world_moves(self) -> None:
        """Overnight, in one edit by an employee: version 42. The clocks come to 08:00."""
        self.employee_edits()
        self.set_clocks(MORNING)
        self.tell("08:00  Proposal 3's rate ended at midnight.")

    def employee_edits(self) -> None:
        """02:40: one edit by an employee makes version 42."""
        self.control.batch(NIGHT)
        self.tell("02:40  J. Ortiz moves the delivery to 14:00 and assigns Oakline. Version 42.")

    def hand_over(self) -> None:
        """08:00: the lead hands the case to the morning's operator."""
        ownership.assign_case(
            case_id=self.case_id,
            to=self.person("marta"),
            by=self.person("priya"),
            at=business_now(),
        )
        self.tell("08:00  P. Raman hands the case to M. Ortega, who has the day shift.")

    def wait_for_revision(self) -> None:
        """The refresh at the shift boundary has made version 3 stale and version 4 ready."""
        self._wait_for(4, Proposal.State.READY)
        self.tell("08:00  A new worker refreshed. Proposal 3 is stale, proposal 4 is ready.")

    def wait_for_outcome(self) -> None:
        """Everything version 4 wanted has been done, read back and taken up."""
        wait_until(
            lambda: self.case.stage == "waiting_for_acceptance",
            what="the released message is sent, read back and delivered",
        )

    def _wait_for(self, number: int, state: Proposal.State) -> None:
        wait_until(
            lambda: self.case.proposals.filter(number=number, state=state).exists(),
            what=f"proposal {number} is {state.value}",
        )

    def _retained(self) -> int:
        return AuditEvent.objects.filter(case_id=self.case_id, event="proposal_retained").count()

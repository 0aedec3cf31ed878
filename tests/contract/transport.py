"""The simulated transport system as a `Target`: its own control plane stages and counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

from agent.sources.transport import TransportSource
from cases.vocabulary.facts import Value
from cases.vocabulary.work import EffectWork
from tests.agent import samples
from tests.simulator import Simulator
from tools.ports import free_port

BOOKINGS = "/v1/bookings"
QUOTE = {
    "quote_id": "QX-68",
    "scac": "NRDX",
    "carrier_name": "Nordline Express",
    "amount": {"amount_minor": 191_000, "currency": "USD"},
}


@dataclass(frozen=True, kw_only=True)
class TransportTarget:
    """S-318 on Monday at 16:00, in a transport system of one profile."""

    simulator: Simulator
    source: TransportSource

    @property
    def unplugged(self) -> TransportSource:
        """See `Target.unplugged`."""
        return TransportSource(
            address=f"http://127.0.0.1:{free_port()}",
            token=self.simulator.token,
            timeout=timedelta(seconds=1),
            capabilities=self.source.capabilities,
        )

    @property
    def subject(self) -> str:
        """See `Target.subject`."""
        return "S-318"

    def wanted(self) -> EffectWork:
        """See `Target.wanted`: book Nordline at its open rate."""
        return samples.effect(
            key=uuid4(),
            reference=f"WB-{uuid4().hex[:8]}",
            parameters={"shipment": self.subject, **QUOTE},
        )

    def reads_back(self, effect: EffectWork) -> Mapping[str, Value]:
        """See `Target.reads_back`."""
        names = ("quote_id", "scac", "amount")
        return {"shipment_id": self.subject, **{name: effect.parameters[name] for name in names}}

    def effects_of(self, effect: EffectWork) -> int:
        """See `Target.effects_of`."""
        entries = self.simulator.control.ledger()
        return sum(entry.client_reference == effect.reference for entry in entries)

    def calls(self) -> int:
        """See `Target.calls`."""
        return len(self.simulator.control.calls())

    def somebody_changes_the_subject(self) -> None:
        """See `Target.somebody_changes_the_subject`."""
        self.simulator.control.actor(
            "employee_edits", shipment_id="S-318", employee="J. Ortiz", patch={"equipment": "van"}
        )

    def lose_the_next_answer(self) -> None:
        """See `Target.lose_the_next_answer`."""
        self._once("connection_reset_after_commit")

    def lose_the_next_call(self) -> None:
        """See `Target.lose_the_next_call`."""
        self._once("connection_reset_before_commit")

    def ask_for_peace(self, rest: timedelta) -> None:
        """See `Target.ask_for_peace`."""
        self.simulator.control.fault("429", times=1, seconds=rest.total_seconds())

    def refuse_everything(self) -> None:
        """See `Target.refuse_everything`."""
        self.simulator.control.fault("503")

    def hide_what_is_new(self) -> None:
        """See `Target.hide_what_is_new`."""
        window = self.source.capabilities.consistency_window
        self.simulator.control.fault("404_after_create", seconds=window.total_seconds())

    def let_time_pass(self) -> None:
        """See `Target.let_time_pass`."""
        self.simulator.control.advance_clock(seconds=10)

    def hold(self, who: str) -> None:
        """See `Target.hold`."""
        self.simulator.control.actor(
            "other_takes_lease",
            shipment_id="S-318",
            holder=who,
            holder_kind="agent",
            ttl_seconds=60,
        )

    def open_record(self, employee: str) -> None:
        """An employee opens the shipment; where the system has record locks, that locks it."""
        self.simulator.control.actor(
            "employee_opens_record", shipment_id="S-318", employee=employee
        )

    def close_record(self, employee: str) -> None:
        """The employee closes it again."""
        self.simulator.control.actor(
            "employee_closes_record", shipment_id="S-318", employee=employee
        )

    def _once(self, kind: str) -> None:
        self.simulator.control.fault(kind, path_prefix=BOOKINGS, times=1)

"""Who has a shipment in hands: an employee with the record open, a person or agent with a lease.

An open record keeps writers out only where the system has record locks (profile
``locked_by_user``). Elsewhere it is open and nobody is told.
"""

from dataclasses import dataclass
from datetime import timedelta

from transport_sim import clock, leases
from transport_sim.fields import Fields
from transport_sim.models import HOLDER_KINDS, OpenRecord
from transport_sim.problems import Problem
from transport_sim.scene import Scene, Step


@dataclass(frozen=True)
class RecordOpening:
    """An employee opens a shipment to edit it; it stays open until that employee closes it."""

    shipment_id: str
    employee: str

    def play(self, scene: Scene) -> None:
        """Open the record, or refuse with 409 while a colleague has it open."""
        held, _ = OpenRecord.objects.get_or_create(
            shipment_id=self.shipment_id,
            defaults={"employee": self.employee, "since": scene.now},
        )
        _require_own(held, self.employee)

    def record(self, scene: Scene) -> dict[str, object]:
        """Who has the shipment open."""
        return _opened(self.shipment_id)


@dataclass(frozen=True)
class RecordClosing:
    """An employee closes a shipment, saved or not."""

    shipment_id: str
    employee: str

    def play(self, scene: Scene) -> None:
        """Close the record; closing it again changes nothing."""
        held = OpenRecord.objects.filter(pk=self.shipment_id).first()
        if held is not None:
            _require_own(held, self.employee)
            held.delete()

    def record(self, scene: Scene) -> dict[str, object]:
        """Nobody has the shipment open."""
        return _opened(self.shipment_id)


@dataclass(frozen=True)
class LeaseTaking:
    """Another agent, or a person, takes the lease, whoever has it."""

    shipment_id: str
    holder: leases.Holder
    lifetime: timedelta

    def play(self, scene: Scene) -> None:
        """Grant the lease; the token of the one before is stale from now on."""
        leases.hand_over(
            leases.LeaseRequest(
                resource=leases.shipment_resource(self.shipment_id),
                holder=self.holder,
                lifetime=self.lifetime,
            )
        )

    def record(self, scene: Scene) -> dict[str, object]:
        """The lease."""
        return leases.newest(leases.shipment_resource(self.shipment_id))


def _require_own(held: OpenRecord, employee: str) -> None:
    if held.employee != employee:
        raise Problem(
            status=409,
            code="record_open",
            detail=f"{held.shipment_id} is open at {held.employee}. Let them close it.",
        )


def _opened(shipment_id: str) -> dict[str, object]:
    held = OpenRecord.objects.filter(pk=shipment_id).first()
    return {
        "shipment_id": shipment_id,
        "open_at": None if held is None else held.employee,
        "since": None if held is None else clock.as_text(held.since),
    }


def opens_record(step: Fields) -> Step:
    """Read who opens which shipment."""
    return RecordOpening(
        shipment_id=step.identifier("shipment_id"), employee=step.text("employee", longest=100)
    )


def closes_record(step: Fields) -> Step:
    """Read who closes which shipment."""
    return RecordClosing(
        shipment_id=step.identifier("shipment_id"), employee=step.text("employee", longest=100)
    )


def takes_lease(step: Fields) -> Step:
    """Read who takes the lease of which shipment, and for how long."""
    return LeaseTaking(
        shipment_id=step.identifier("shipment_id"),
        holder=leases.Holder(
            name=step.text("holder"), kind=step.choice("holder_kind", HOLDER_KINDS)
        ),
        lifetime=leases.read_lifetime(step),
    )

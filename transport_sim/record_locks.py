"""423: systems that lock a whole shipment while an employee has it on the screen."""

from transport_sim import clock
from transport_sim.models import OpenRecord, World
from transport_sim.problems import Problem


def require_closed(shipment_id: str) -> None:
    """Refuse with 423 while an employee has the shipment open, where the system has such locks.

    Under the shipment's row lock this holds until the commit: opening needs that lock as well.
    """
    if not World.objects.get().record_locks:
        return
    held = OpenRecord.objects.filter(pk=shipment_id).first()
    if held is not None:
        raise Problem(
            status=423,
            code="record_locked",
            detail=f"{held.employee} has {shipment_id} open. Nothing was done; try again later.",
            retryable=True,
            locked_by=held.employee,
            locked_since=clock.as_text(held.since),
        )

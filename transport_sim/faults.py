"""The misbehaviour that was ordered, and how often it is still to happen.

What each kind does is written in misbehaviour.py (calls) and webhooks.py (deliveries).
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import F, Q

from transport_sim.models import Fault


@dataclass(frozen=True)
class FaultOrder:
    """What to do wrong, to which calls or events, how often (None: until deleted), how long."""

    kind: str
    method: str
    path_prefix: str
    event: str
    times: int | None
    seconds: float


def take(concerned: Callable[[Fault], bool]) -> Fault | None:
    """Use the oldest fault that is concerned once, if there is one."""
    waiting = Fault.objects.filter(Q(times_left__isnull=True) | Q(times_left__gt=0))
    for fault in waiting.order_by("pk"):
        if not concerned(fault):
            continue
        if fault.times_left is None:
            return fault
        # Conditional update: of two at once only one gets the last "time".
        left = Fault.objects.filter(pk=fault.pk, times_left__gt=0)
        if left.update(times_left=F("times_left") - 1):
            return fault
    return None


def order(fault: FaultOrder) -> dict[str, object]:
    """Keep a fault in force from the next call on."""
    row = Fault.objects.create(
        kind=fault.kind,
        method=fault.method,
        path_prefix=fault.path_prefix,
        event=fault.event,
        times_left=fault.times,
        seconds=fault.seconds,
    )
    return _as_json(row)


def listing() -> list[dict[str, object]]:
    """All ordered faults, used up ones included, oldest first."""
    return [_as_json(fault) for fault in Fault.objects.order_by("pk")]


def clear() -> None:
    """Behave well again from the next call on."""
    Fault.objects.all().delete()


def _as_json(fault: Fault) -> dict[str, object]:
    return {
        "id": fault.pk,
        "kind": fault.kind,
        "method": fault.method or None,
        "path_prefix": fault.path_prefix or None,
        "event": fault.event or None,
        "times_left": fault.times_left,
        "seconds": fault.seconds,
    }

"""Whether work that is due is being taken: for monitors, which cannot read a queue."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from cases.clock import business_now
from cases.models import AgentIdentity, Pause, Run
from cases.vocabulary.lanes import LANES

PATIENCE = timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True)
class Health:
    """What a monitor is told: whether all is well, or in words why not.

    `waiting` counts cases that nobody took within `PATIENCE` although their work is due.
    """

    is_well: bool
    words: str
    waiting: int = 0

    def as_value(self) -> dict[str, Any]:
        """The JSON form."""
        return {"ok": self.is_well, "words": self.words, "waiting": self.waiting}


def health() -> Health:
    """How it stands now; a record that cannot be read is an answer, not an error."""
    try:
        left = _left_waiting(at=business_now())
        waiting = left.count()
        is_swept = left.filter(nudged_at__gt=Now() - PATIENCE).exists()
    except DatabaseError:
        return Health(is_well=False, words="The record cannot be read.")
    if not waiting:
        return Health(is_well=True, words="Due work is being taken.")
    said = f"Work has been due for more than {int(PATIENCE.total_seconds()) // 60} minutes"
    if is_swept:
        words = f"{said}, and no worker takes it: start workers, or more of them."
    else:
        words = f"{said}, and no sweep has run: start beat and a worker for its queue."
    return Health(is_well=False, words=words, waiting=waiting)


def _left_waiting(*, at: datetime) -> QuerySet[Run]:
    """Runs due and free for too long; what a person paused for every agent does not count."""
    since = at - PATIENCE
    free = Q(lease_until=None) | Q(lease_until__lte=since)
    left = Run.objects.filter(free, due_at__lte=since)
    agents = AgentIdentity.objects.filter(is_active=True)
    names = [{identity.name, str(identity)} for identity in agents]
    for pause in Pause.objects.filter(lifted_at=None):
        if not pause.agent or all(pause.agent in known for known in names):
            left = left.exclude(_stopped_by(pause))
    return left


def _stopped_by(pause: Pause) -> Q:
    """The runs of its lane and kind."""
    stopped = Q(pk__isnull=False)
    if pause.lane:
        stages = [stage.value for stage, lane in LANES.items() if lane.value == pause.lane]
        stopped &= Q(case__stage__in=stages)
    if pause.kind:
        stopped &= Q(case__kind=pause.kind)
    return stopped

"""What is paused, by whom and why, and what is still in flight."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cases import policies
from cases.models import Attempt, Pause, Person
from cases.vocabulary.lanes import Lane
from cases.vocabulary.playbooks import PLAYBOOKS

LATEST = 10


@dataclass(frozen=True, kw_only=True)
class PauseRow:
    """One pause: its scope in words, who set it when and why, and who lifted it."""

    pause_id: int
    scope: str
    set_by: str
    set_at: datetime
    reason: str
    lifted_by: str
    lifted_at: datetime | None
    lift_reason: str


@dataclass(frozen=True, kw_only=True)
class PausesPage:
    """The page of the kill switch.

    `against` is the sentence against pausing for this person, empty when they may. `in_flight`
    counts calls that began before a pause and have not been answered.
    """

    standing: Sequence[PauseRow]
    lifted: Sequence[PauseRow]
    in_flight: int
    lanes: Sequence[str]
    kinds: Sequence[tuple[str, str]]
    against: str


def _row(pause: Pause) -> PauseRow:
    return PauseRow(
        pause_id=pause.pk,
        scope=str(pause),
        set_by=pause.set_by,
        set_at=pause.set_at,
        reason=pause.reason,
        lifted_by=pause.lifted_by,
        lifted_at=pause.lifted_at,
        lift_reason=pause.lift_reason,
    )


def standing_pauses() -> Sequence[PauseRow]:
    """Every pause that stands, oldest first; one query."""
    return [_row(pause) for pause in Pause.objects.filter(lifted_at=None)]


def pauses_page(*, person: Person) -> PausesPage:
    """The page for this person; three queries."""
    lifted = Pause.objects.filter(lifted_at__isnull=False).order_by("-lifted_at", "-id")[:LATEST]
    return PausesPage(
        standing=standing_pauses(),
        lifted=[_row(pause) for pause in lifted],
        in_flight=Attempt.objects.filter(outcome=Attempt.Outcome.OPEN).count(),
        lanes=[lane.value for lane in Lane],
        kinds=[(playbook.kind, playbook.label) for playbook in PLAYBOOKS.values()],
        against=policies.reason_against(policies.check_may_pause, person=person),
    )

"""Where cases stand, counted apart: done, waiting for a decision, for confirmation, the rest."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count

from cases.actions.releases import AT_THE_TARGET
from cases.models import Case, Desk
from cases.models.case import open_cases
from cases.queries.acts import View
from cases.queries.numbers_shapes import MOST_BEHIND, Behind, Line, Number, Period, Standing, Unit
from cases.queries.values import counted
from cases.vocabulary.numbers import by_part
from cases.vocabulary.stages import Stage

CONFIRMATION = "confirmation"
PLACES = (
    (
        Stage.WAITING_FOR_REVIEW.value,
        "Waiting for a decision",
        "A proposal is ready, and nobody decided on it yet.",
        "ready",
        View.ALL,
    ),
    (
        CONFIRMATION,
        "Waiting for confirmation",
        "Attempted, but not yet seen in the target and taken up by the other party, or of unknown "
        "outcome; also while blocked.",
        "unknown",
        View.ALL,
    ),
    (
        Stage.WAITING_FOR_ACCEPTANCE.value,
        "Waiting for acceptance",
        "Everything released was taken up, or nothing is left to do; the owner has not said so.",
        "waiting",
        View.ALL,
    ),
    (
        Stage.BLOCKED.value,
        "Blocked",
        "A needed fact cannot be read, or the agent cannot go on, before anything was attempted.",
        "blocked",
        View.BLOCKED,
    ),
    (
        Stage.ESCALATED.value,
        "Escalated",
        "No plan stands; a person decides what happens next.",
        "blocked",
        View.ALL,
    ),
    ("agent", "With the agent", "It investigates, or carries a release out.", "waiting", View.ALL),
)
"""Each open case stands in exactly one of these."""


class Closed(NamedTuple):
    """A closed case."""

    at: datetime
    case_id: int
    subject: str
    by: str
    reason: str


def standing_now(*, desk: Desk, done: int) -> tuple[Standing, ...]:
    """How many of the desk's cases stand where; `done` were closed in the period. One query."""
    counts = open_counts(desk)
    return (
        Standing(
            key="done",
            label="Done",
            count=done,
            counts="Closed in this time: the owner accepted the outcome, or gave a reason.",
            tone="done",
        ),
        *(
            Standing(
                key=key, label=label, count=counts.get(key, 0), counts=says, tone=tone, view=view
            )
            for key, label, says, tone, view in PLACES
        ),
    )


def open_counts(desk: Desk) -> Mapping[str, int]:
    """How many open cases of the desk stand in each place; one query."""
    found = open_cases(Case.objects.filter(desk=desk)).values_list("stage", "blocked_from")
    counts: Counter[str] = Counter()
    for stage, blocked_from, number in found.annotate(number=Count("id")).order_by():
        counts[_place_of(Stage(stage), Stage(blocked_from or stage))] += number
    return counts


def _place_of(stage: Stage, underlying: Stage) -> str:
    if underlying in AT_THE_TARGET:
        return CONFIRMATION
    if stage in {Stage.INVESTIGATING, Stage.EXECUTING}:
        return "agent"
    return stage.value


def closed_in(*, desk: Desk, period: Period) -> list[Closed]:
    """The desk's cases that were closed in the period, in order; one query."""
    found = Case.objects.filter(
        desk=desk,
        stage=Stage.CLOSED.value,
        closed_at__gte=period.since,
        closed_at__lte=period.at,
    )
    names = ("closed_at", "id", "subject", "closed_by", "stage_reason")
    return [Closed(*row) for row in found.order_by("closed_at", "id").values_list(*names)]


def done(closed: Sequence[Closed], *, period: Period) -> Number:
    """How many cases were closed; what waits for anything is not among them."""
    parts = by_part(closed, parts=period.parts, at=lambda one: one.at)
    return Number(
        key="done",
        title="Done",
        value=str(len(closed)),
        says=f"{counted(len(closed), 'case')} closed.",
        counts=(
            "Cases that a person closed, with the outcome accepted or a reason why nothing has to "
            "be done, at the time of closing. Released, confirmed or taken up alone is not done."
        ),
        unit=Unit.COUNT,
        columns=("Cases closed",),
        lines=tuple(
            Line(label=part.label, cells=(str(len(some)),), bar=len(some))
            for part, some in zip(period.parts, parts, strict=True)
        ),
        bar="cases closed",
        mark="",
        behind_title="Closed last",
        behind=tuple(
            Behind(case_id=one.case_id, subject=one.subject, says=f"by {one.by}: {one.reason}")
            for one in closed[: -MOST_BEHIND - 1 : -1]
        ),
        is_empty=not closed,
    )

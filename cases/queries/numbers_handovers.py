"""What handovers brought, in numbers: proposals stale at resume, and handover latency."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, DateTimeField, F, Min, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from cases.actions.sheet_answers import MOVES
from cases.models import Desk, Handover, HandoverRow, Proposal, RowAnswer
from cases.queries.numbers_shapes import MOST_BEHIND, Behind, Line, Number, Period, Unit
from cases.queries.values import counted
from cases.vocabulary.numbers import NOTHING, by_part, duration_text, median, share_text

PROPOSAL = "case__proposals"
RAN_OUT = (Proposal.State.STALE, Proposal.State.EXPIRED)


class Resumed(NamedTuple):
    """One handover: on how many rows a proposal waited, and on how many it no longer held."""

    handover_id: int
    boundary: datetime
    waiting: int
    stale: int


class Taken(NamedTuple):
    """A row that was accepted or assigned, the first time."""

    handover_id: int
    boundary: datetime
    case_id: int
    subject: str
    at: datetime

    @property
    def took(self) -> timedelta:
        """How long after the boundary; nothing where it was before."""
        return max(self.at - self.boundary, NOTHING)


def rows_in(*, desk: Desk, period: Period) -> QuerySet[HandoverRow]:
    """The rows of the desk's handovers whose boundary lies in the period."""
    return HandoverRow.objects.filter(
        handover__desk=desk,
        handover__boundary__gte=period.since,
        handover__boundary__lte=period.at,
    )


def waiting_rows(*, desk: Desk, period: Period) -> QuerySet[HandoverRow]:
    """Those on which a proposal waited for a decision when the row was put on the sheet.

    A proposal is ready once and never again, so that its newest change says until when it was.
    """
    is_ready = {f"{PROPOSAL}__state": Proposal.State.READY}
    return rows_in(desk=desk, period=period).filter(
        Q(**is_ready) | Q(**{f"{PROPOSAL}__state_since__gt": F("added_at")}),
        Q(**{f"{PROPOSAL}__decisions": None})
        | Q(**{f"{PROPOSAL}__decisions__at__gt": F("added_at")}),
        **{f"{PROPOSAL}__created_at__lte": F("added_at")},
    )


def _ran_out_by_then(*, at: datetime) -> Q:
    """It no longer held, undecided, before the row was taken over or else the shift ended."""
    taken = RowAnswer.objects.filter(row=OuterRef("pk"), kind__in=MOVES).order_by("at")
    following = Handover.objects.filter(
        desk=OuterRef("handover__desk"), boundary__gt=OuterRef("handover__boundary")
    ).order_by("boundary")
    resumed_at = Coalesce(
        Subquery(taken.values("at")[:1]),
        Subquery(following.values("boundary")[:1]),
        Value(at, output_field=DateTimeField()),
    )
    return Q(
        **{
            f"{PROPOSAL}__state__in": RAN_OUT,
            f"{PROPOSAL}__decisions": None,
            f"{PROPOSAL}__state_since__lte": resumed_at,
        }
    )


def stale_at_resume(*, desk: Desk, period: Period) -> Number:
    """How many of the proposals that one shift left to the next no longer held; two queries."""
    waiting = waiting_rows(desk=desk, period=period).alias(ran_out=_ran_out_by_then(at=period.at))
    counts = (
        waiting.order_by("handover__boundary")
        .values("handover_id", "handover__boundary")
        .annotate(waiting=Count("id"), stale=Count("id", filter=Q(ran_out=True)))
    )
    resumed = [
        Resumed(*row)
        for row in counts.values_list("handover_id", "handover__boundary", "waiting", "stale")
    ]
    parts = by_part(resumed, parts=period.parts, at=lambda one: one.boundary)
    stale, left = sum(one.stale for one in resumed), sum(one.waiting for one in resumed)
    return Number(
        key="stale",
        title="Resumed with a stale proposal",
        value=share_text(stale, left),
        says=f"{stale} of {counted(left, 'proposal')} that one shift left to the next.",
        counts=(
            "Of the rows on handover sheets whose proposal waited for a decision when the sheet "
            "was opened: those whose proposal went stale or expired before the row was accepted or "
            "assigned, or, where nobody did, before the next handover. What was not read counts as "
            "holding. Each handover counts at its boundary."
        ),
        unit=Unit.COUNT,
        columns=("Stale or expired", "Proposals waiting", "Share"),
        lines=tuple(
            _stale_line(part.label, some) for part, some in zip(period.parts, parts, strict=True)
        ),
        bar="stale or expired",
        mark="proposals waiting",
        behind_title="Newest of them",
        behind=_newest_stale(waiting.filter(ran_out=True)),
        is_empty=not left,
    )


def _stale_line(label: str, resumed: Sequence[Resumed]) -> Line:
    stale, left = sum(one.stale for one in resumed), sum(one.waiting for one in resumed)
    return Line(
        label=label,
        cells=(str(stale), str(left), share_text(stale, left)),
        bar=stale if left else None,
        mark=left or None,
    )


def _newest_stale(rows: QuerySet[HandoverRow]) -> tuple[Behind, ...]:
    found = rows.order_by("-handover__boundary", "-id").values_list(
        *("case_id", "case__subject", "handover_id"),
        *(f"{PROPOSAL}__number", f"{PROPOSAL}__state", f"{PROPOSAL}__state_reason"),
    )
    return tuple(
        Behind(
            case_id=case_id,
            subject=subject,
            says=f"proposal {number} {Proposal.State(state).label.lower()}: {reason}",
            handover_id=handover_id,
        )
        for case_id, subject, handover_id, number, state, reason in found[:MOST_BEHIND]
    )


def taken_in(*, desk: Desk, period: Period) -> list[Taken]:
    """The rows that were accepted or assigned, each at its first time, in order; one query."""
    rows = rows_in(desk=desk, period=period).filter(answers__kind__in=MOVES)
    names = ("handover_id", "handover__boundary", "case_id", "case__subject")
    found = rows.values("id", *names).annotate(taken_at=Min("answers__at"))
    return [Taken(*row) for row in found.order_by("taken_at", "id").values_list(*names, "taken_at")]


def handover_latency(*, desk: Desk, period: Period) -> Number:
    """How long after a boundary rows were taken over; two queries."""
    taken = taken_in(desk=desk, period=period)
    left = rows_in(desk=desk, period=period).count() - len(taken)
    took = [one.took for one in taken]
    parts = by_part(taken, parts=period.parts, at=lambda one: one.boundary)
    return Number(
        key="latency",
        title="Handover latency",
        value=duration_text(median(took)),
        says=_latency_says(took, left),
        counts=(
            "From the shift boundary until a row of its sheet was first accepted or assigned; "
            "before the boundary counts as 0. Not taken over are rows that were escalated, asked "
            "about or refused, closed first, or left without an answer."
        ),
        unit=Unit.SECONDS,
        columns=("Rows taken over", "Median", "Last"),
        lines=tuple(
            _latency_line(part.label, [one.took for one in some])
            for part, some in zip(period.parts, parts, strict=True)
        ),
        bar="median",
        mark="last",
        behind_title="Taken over last",
        behind=tuple(
            Behind(
                case_id=one.case_id,
                subject=one.subject,
                says=f"after {duration_text(one.took)}",
                handover_id=one.handover_id,
            )
            for one in sorted(taken, key=lambda one: one.took, reverse=True)[:MOST_BEHIND]
        ),
        is_empty=not took and not left,
    )


def _latency_says(took: Sequence[timedelta], left: int) -> str:
    if not took:
        return f"No row was taken over in this time; {counted(left, 'row')} stood on sheets."
    return (
        f"Median of {counted(len(took), 'row')} taken over; the last after "
        f"{duration_text(max(took))}. {counted(left, 'row was', 'rows were')} not taken over."
    )


def _latency_line(label: str, took: Sequence[timedelta]) -> Line:
    middle, last = median(took), max(took, default=None)
    return Line(
        label=label,
        cells=(str(len(took)), duration_text(middle), duration_text(last)),
        bar=None if middle is None else middle.total_seconds(),
        mark=None if last is None else last.total_seconds(),
    )

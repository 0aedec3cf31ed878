"""What people decided, in numbers: corrections per release, and time to decision."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import QuerySet

from cases.models import Decision, Desk, Proposal
from cases.queries.numbers_shapes import MOST_BEHIND, Behind, Line, Number, Period, Unit
from cases.queries.values import counted
from cases.vocabulary.numbers import by_part, duration_text, median, nine_of_ten, ratio_text

KINDS = {
    Decision.Kind.RELEASE: "released",
    Decision.Kind.REJECT: "rejected",
    Decision.Kind.SEND_BACK: "sent back",
}


class Decided(NamedTuple):
    """One decision, with the proposal it was about."""

    kind: str
    at: datetime
    case_id: int
    subject: str
    number: int
    made_at: datetime
    state: str

    @property
    def took(self) -> timedelta:
        """How long the proposal was ready before."""
        return self.at - self.made_at

    @property
    def is_release(self) -> bool:
        """Whether it released the proposal, withdrawn or not."""
        return self.kind == Decision.Kind.RELEASE

    @property
    def is_withdrawn(self) -> bool:
        """Whether a person took the release back; nothing else withdraws what was released."""
        return self.is_release and self.state == Proposal.State.WITHDRAWN

    @property
    def corrects(self) -> bool:
        """Whether a person corrected the agent with it, or themselves afterwards."""
        return self.is_withdrawn or not self.is_release

    @property
    def word(self) -> str:
        """`sent back`."""
        return "released, then withdrawn" if self.is_withdrawn else KINDS[Decision.Kind(self.kind)]


def decisions_in(*, desk: Desk, period: Period) -> QuerySet[Decision]:
    """Every decision that counted at the desk in the period."""
    return Decision.objects.filter(case__desk=desk, at__gte=period.since, at__lte=period.at)


def decided_in(*, desk: Desk, period: Period) -> list[Decided]:
    """The same as plain values, in order; one query."""
    found = decisions_in(desk=desk, period=period).order_by("at", "id")
    return [
        Decided(*row)
        for row in found.values_list(
            *("kind", "at", "case_id", "case__subject"),
            *("proposal__number", "proposal__created_at", "proposal__state"),
        )
    ]


def corrections(decided: Sequence[Decided], *, period: Period) -> Number:
    """How often people corrected the agent, for each release."""
    corrected = [one for one in decided if one.corrects]
    releases = sum(one.is_release for one in decided)
    parts = by_part(decided, parts=period.parts, at=lambda one: one.at)
    return Number(
        key="corrections",
        title="Corrections per release",
        value=ratio_text(len(corrected), releases),
        says=f"{counted(len(corrected), 'correction')}, {counted(releases, 'release')}.",
        counts=(
            "A correction is a proposal version that somebody sent back or rejected, or a release "
            "that somebody withdrew, at the time of the decision. New versions that the agent "
            "makes because facts changed are none."
        ),
        unit=Unit.COUNT,
        columns=("Sent back", "Rejected", "Withdrawn", "Releases", "Per release"),
        lines=tuple(
            _corrections_line(part.label, some)
            for part, some in zip(period.parts, parts, strict=True)
        ),
        bar="corrections",
        mark="releases",
        behind_title="Corrected last",
        behind=tuple(
            _behind(one, f"proposal {one.number} {one.word}")
            for one in corrected[: -MOST_BEHIND - 1 : -1]
        ),
        is_empty=not decided,
    )


def _corrections_line(label: str, decided: Sequence[Decided]) -> Line:
    back, rejected, withdrawn = (
        sum(one.kind == Decision.Kind.SEND_BACK for one in decided),
        sum(one.kind == Decision.Kind.REJECT for one in decided),
        sum(one.is_withdrawn for one in decided),
    )
    corrected, releases = back + rejected + withdrawn, sum(one.is_release for one in decided)
    return Line(
        label=label,
        cells=(
            *(str(back), str(rejected), str(withdrawn), str(releases)),
            ratio_text(corrected, releases),
        ),
        bar=corrected if decided else None,
        mark=releases if decided else None,
    )


def time_to_decision(decided: Sequence[Decided], *, period: Period) -> Number:
    """How long proposals were ready before somebody decided."""
    took = [one.took for one in decided]
    parts = by_part(decided, parts=period.parts, at=lambda one: one.at)
    slowest = sorted(decided, key=lambda one: one.took, reverse=True)[:MOST_BEHIND]
    return Number(
        key="decision",
        title="Time to decision",
        value=duration_text(median(took)),
        says=(
            f"Median of {counted(len(took), 'decision')}; nine of ten came within "
            f"{duration_text(nine_of_ten(took))}."
            if took
            else "Nothing was decided in this time."
        ),
        counts=(
            "From the moment a proposal version was ready until somebody released it, rejected it "
            "or sent it back, nights included, at the time of the decision. Versions on which "
            "nobody decided, and refused clicks, are not in it."
        ),
        unit=Unit.SECONDS,
        columns=("Decisions", "Median", "Nine of ten within"),
        lines=tuple(
            _time_line(part.label, [one.took for one in some])
            for part, some in zip(period.parts, parts, strict=True)
        ),
        bar="median",
        mark="nine of ten within",
        behind_title="Waited longest",
        behind=tuple(
            _behind(one, f"proposal {one.number} {one.word} after {duration_text(one.took)}")
            for one in slowest
        ),
        is_empty=not decided,
    )


def _time_line(label: str, took: Sequence[timedelta]) -> Line:
    middle, most = median(took), nine_of_ten(took)
    return Line(
        label=label,
        cells=(str(len(took)), duration_text(middle), duration_text(most)),
        bar=None if middle is None else middle.total_seconds(),
        mark=None if most is None else most.total_seconds(),
    )


def _behind(one: Decided, says: str) -> Behind:
    return Behind(case_id=one.case_id, subject=one.subject, says=says)

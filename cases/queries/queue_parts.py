"""What the rows of a queue are made of, for all its cases in a fixed number of queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, OuterRef, Window
from django.db.models.functions import RowNumber

from cases.models import CaseSource, Proposal, ProposedAction
from cases.queries.escalations import EscalationView, escalations_of
from cases.queries.sources import SourceState, state_of


@dataclass(kw_only=True)
class Parts:
    """One case's two newest versions, newest first, its sources, and its most urgent escalation."""

    versions: list[Mapping[str, Any]] = field(default_factory=list)
    sources: list[SourceState] = field(default_factory=list)
    escalation: EscalationView | None = None

    def subject(self, record_type: str) -> SourceState | None:
        """The source record the case is about."""
        return next((s for s in self.sources if s.record_type == record_type), None)

    @property
    def failed_at(self) -> datetime | None:
        """Since when a source cannot be read."""
        failed = [source.failed_at for source in self.sources if source.failed_at is not None]
        return min(failed, default=None)

    @property
    def changes(self) -> tuple[str, ...]:
        """What the newest version says that changed."""
        newest = self.versions[0]["changes"] if self.versions else []
        return tuple(change["label"] for change in newest)


def parts_of(ids: Sequence[int]) -> Mapping[int, Parts]:
    """Case to its parts, for every one of `ids`; three queries."""
    found = {case_id: Parts() for case_id in ids}
    for row in _versions(ids):
        found[row["case_id"]].versions.append(row)
    links = (
        CaseSource.objects.filter(case_id__in=ids)
        .select_related("record__latest", "record__last_attempt")
        .order_by("case_id", "record_id")
    )
    for link in links:
        found[link.case_id].sources.append(state_of(link.record))
    for case_id, escalations in escalations_of(ids).items():
        found[case_id].escalation = escalations[0]
    return found


def _versions(ids: Sequence[int]) -> list[Mapping[str, Any]]:
    names = (
        ProposedAction.objects.filter(proposal=OuterRef("pk")).order_by("position").values("action")
    )
    rank = Window(RowNumber(), partition_by=F("case_id"), order_by=F("number").desc())
    rows = (
        Proposal.objects.filter(case_id__in=ids)
        .annotate(rank=rank)
        .filter(rank__lte=2)
        .order_by("case_id", "-number")
        .annotate(names=ArraySubquery(names))
        .values(
            *("case_id", "number", "state", "changes", "valid_until"),
            *("cost_minor", "currency", "names"),
        )
    )
    return [{**row} for row in rows]

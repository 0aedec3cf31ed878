"""What the rows of a handover sheet are made of, for all its cases in a fixed number of queries."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, OuterRef, Window
from django.db.models.functions import RowNumber

from cases.models import Case, CaseLine, CaseSource, Effect, Escalation, Proposal, ProposedAction
from cases.queries.catalogue import playbook_for
from cases.queries.facts_table import live_changes
from cases.queries.sources import SourceState, sheet_from, state_of
from cases.vocabulary.playbook import Playbook


@dataclass(kw_only=True)
class Parts:
    """One case: its two newest versions (newest first), sources, lines, escalations and doubts.

    `doubts` are effects whose outcome is unknown; `escalations` are those under way.
    `named_at` is when a source's feed told last of a change for which no refresh has read it since.
    """

    proposals: list[Proposal] = field(default_factory=list)
    sources: list[SourceState] = field(default_factory=list)
    lines: list[CaseLine] = field(default_factory=list)
    escalations: list[Escalation] = field(default_factory=list)
    doubts: list[Effect] = field(default_factory=list)
    named_at: datetime | None = None

    def named(self, *, at: datetime | None) -> None:
        """A feed named one of its records at this instant, if at all."""
        if at is not None:
            self.named_at = max(at, self.named_at or at)

    @property
    def newest(self) -> Proposal | None:
        """The newest version."""
        return self.proposals[0] if self.proposals else None

    @property
    def number(self) -> int | None:
        """The newest version's number."""
        return None if self.newest is None else self.newest.number

    @property
    def ready(self) -> Proposal | None:
        """The version that waits for a decision."""
        newest = self.newest
        return newest if newest is not None and newest.state == Proposal.State.READY else None

    @property
    def action_names(self) -> list[str]:
        """The actions of the newest version."""
        return getattr(self.newest, "names", [])

    def lines_of(self, sort: CaseLine.Sort) -> list[CaseLine]:
        """The standing lines of one sort."""
        return [line for line in self.lines if line.sort == sort]


def parts_of(ids: Sequence[int]) -> Mapping[int, Parts]:
    """Case to its parts, for every one of `ids`; five queries."""
    found = {case_id: Parts() for case_id in ids}
    for proposal in _proposals(ids):
        found[proposal.case_id].proposals.append(proposal)
    links = CaseSource.objects.filter(case_id__in=ids).order_by("case_id", "record_id")
    for link in links.select_related("record__latest", "record__last_attempt"):
        found[link.case_id].sources.append(state_of(link.record))
        found[link.case_id].named(at=link.record.named_at)
    for line in CaseLine.objects.filter(case_id__in=ids, ended_at=None):
        found[line.case_id].lines.append(line)
    running = Escalation.objects.filter(case_id__in=ids, ended_at=None)
    for escalation in running.select_related("to", "next_to"):
        found[escalation.case_id].escalations.append(escalation)
    doubts = Effect.objects.filter(decision__case_id__in=ids, state=Effect.State.UNKNOWN)
    for effect in doubts.select_related("decision", "proposed_action").order_by("id"):
        found[effect.decision.case_id].doubts.append(effect)
    return found


def _proposals(ids: Sequence[int]) -> Iterable[Proposal]:
    names = ProposedAction.objects.filter(proposal=OuterRef("pk")).order_by("position")
    rank = Window(RowNumber(), partition_by=F("case_id"), order_by=F("number").desc())
    return (
        Proposal.objects.filter(case_id__in=ids)
        .annotate(rank=rank, names=ArraySubquery(names.values("action")))
        .filter(rank__lte=2)
        .order_by("case_id", "-number")
    )


def playbook_of_parts(case: Case, parts: Parts) -> Playbook:
    """The case's playbook; for an unknown kind one that takes the first record as the subject."""
    subject = parts.sources[0].record_type if parts.sources else "source"
    return playbook_for(case.kind, subject_type=subject)


def overtaken_facts(case: Case, playbook: Playbook, parts: Parts) -> tuple[str, ...]:
    """Material facts that changed since the version that waits for a decision was made."""
    if parts.ready is None:
        return ()
    sheet = sheet_from(case=case, subject_type=playbook.subject_type, sources=parts.sources)
    return tuple(change["label"] for change in live_changes(playbook, parts.ready, sheet))

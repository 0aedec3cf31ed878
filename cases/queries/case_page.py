"""Everything the case page shows, gathered in a fixed number of queries."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from cases import policies
from cases.models import Case, Person
from cases.queries.banner import Axis, Banner, axes_of, banner_of
from cases.queries.budgets import budget_of
from cases.queries.catalogue import Undescribed, type_label, undescribed
from cases.queries.controls import Controls, controls_for
from cases.queries.distrust import WentBack, sources_that_went_back
from cases.queries.duty import Roster, roster_of
from cases.queries.escalations import EscalationView, escalations_in_order
from cases.queries.facts_table import FactTable, facts_table
from cases.queries.loading import Loaded, before, load_case, versions_to_compare
from cases.queries.notebook import Notebook, notebook_of
from cases.queries.outcome import DecisionView, decision_view
from cases.queries.presence import Presence, owners_at_desk
from cases.queries.proposal_view import (
    ProposalView,
    VersionLink,
    few_words,
    proposal_view,
    recap_sentence,
    version_links,
)
from cases.queries.refreshing import rereads_since
from cases.queries.sources import SourceState, sheet_from
from cases.queries.timeline import Entry, latest_entries
from cases.queries.unknown_outcomes import (
    Finding,
    UnknownOutcome,
    finding_of,
    unknown_outcomes,
    unsettled,
)
from cases.queries.values import zone_of_place
from cases.vocabulary.budgets import Spending
from cases.vocabulary.playbook import Playbook
from cases.vocabulary.stages import STAGES, Stage, Turn

LATEST = 8


@dataclass(frozen=True, kw_only=True)
class CaseHead:
    """Who and what the case is; `zone` is the stop's, `desk_zone` the desk's.

    `rereads_since` is since when its facts are to be read again, None while what was read counts.
    """

    case_id: int
    kind: str
    version: int
    subject: str
    subject_label: str
    title: str
    type_label: str
    stage: str
    stage_label: str
    stage_meaning: str
    stage_reason: str
    stage_since: datetime
    rereads_since: datetime | None
    owner: str
    owner_id: int | None
    presence: Presence | None
    desk: str
    desk_zone: str
    zone: str
    source_name: str
    is_closed: bool
    agent_works: bool
    changed_at: datetime


@dataclass(frozen=True, kw_only=True)
class Panel:
    """The decision panel of the version shown: to decide, decided, or why neither.

    `newer` is the version to look at instead.
    """

    proposal: ProposalView | None
    recap: str
    button: str
    decision: DecisionView | None
    newer: int | None


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """Someone who may own the case."""

    person_id: int
    name: str
    role: str


@dataclass(frozen=True, kw_only=True)
class CasePage:
    """The case page for one person at one instant."""

    at: datetime
    head: CaseHead
    axes: tuple[Axis, Axis, Axis]
    banner: Banner | None
    facts: FactTable
    sources: tuple[SourceState, ...]
    proposal: ProposalView | None
    versions: tuple[VersionLink, ...]
    newest: int | None
    compared: tuple[int, int] | None
    panel: Panel
    controls: Controls
    notebook: Notebook
    unknown: Undescribed
    outcomes: tuple[UnknownOutcome, ...]
    finding: Finding | None
    went_back: tuple[WentBack, ...]
    candidates: tuple[Candidate, ...]
    next_work: str
    next_work_at: datetime | None
    budget: tuple[Spending, ...]
    escalations: tuple[EscalationView, ...]
    timeline: tuple[Entry, ...]


def case_page(*, case_id: int, person: Person, at: datetime, number: int | None = None) -> CasePage:
    """The page with version `number` of the proposal, or the newest one; 15 queries at most.

    Ten are made first, for the case with all that hangs on it and for the desk's roster. Raises
    `NotFound` for an unknown case or version.
    """
    loaded = load_case(case_id, number)
    roster = roster_of(loaded.case.desk, since=at)
    case, playbook, shown = loaded.case, loaded.playbook, loaded.shown
    table = _table(loaded)
    view = None if shown is None else proposal_view(playbook=playbook, case=case, proposal=shown)
    head = _head(loaded, roster, at)
    unknown = _unknown(case, view)
    outcomes = unknown_outcomes(loaded, at=at)
    return CasePage(
        at=at,
        head=head,
        axes=_axes(loaded, table, at),
        banner=_banner(loaded, table, outcomes),
        facts=table,
        sources=loaded.sources,
        proposal=view,
        versions=version_links(case=case, proposals=loaded.proposals, shown=shown),
        newest=loaded.newest,
        compared=versions_to_compare(loaded.proposals, shown),
        panel=_panel(loaded, view),
        controls=_controls(loaded, person, unknown, outcomes, at),
        notebook=notebook_of(loaded, person=person, place_zone=head.zone, at=at),
        unknown=unknown,
        outcomes=outcomes,
        finding=finding_of(case),
        went_back=sources_that_went_back(case=case, playbook=playbook, records=loaded.records),
        candidates=_candidates(roster.people.values()),
        next_work=case.run.due_reason,
        next_work_at=case.run.due_at,
        budget=budget_of(case, raises=loaded.raises),
        escalations=_escalations(loaded, roster),
        timeline=tuple(latest_entries(case_id=case.pk, playbook=playbook, limit=LATEST)),
    )


def _table(loaded: Loaded) -> FactTable:
    sheet = sheet_from(
        case=loaded.case, subject_type=loaded.playbook.subject_type, sources=loaded.sources
    )
    return facts_table(
        playbook=loaded.playbook,
        shown=loaded.shown,
        previous=before(loaded.proposals, loaded.shown),
        sheet=sheet,
        sources=loaded.sources,
    )


def _banner(loaded: Loaded, table: FactTable, outcomes: Sequence[UnknownOutcome]) -> Banner | None:
    return banner_of(
        case=loaded.case,
        table=table,
        proposals=loaded.proposals,
        unsettled=unsettled(outcomes),
    )


def _axes(loaded: Loaded, table: FactTable, at: datetime) -> tuple[Axis, Axis, Axis]:
    release = loaded.release
    return axes_of(
        case=loaded.case,
        table=table,
        proposals=loaded.proposals,
        effects=() if release is None else list(release.effects.all()),
        release=release,
        at=at,
    )


def _unknown(case: Case, view: ProposalView | None) -> Undescribed:
    if view is None:
        return undescribed(kind=case.kind)
    names = [action.name for action in view.actions]
    return undescribed(kind=case.kind, number=view.number, names=names)


def _controls(
    loaded: Loaded,
    person: Person,
    unknown: Undescribed,
    outcomes: Sequence[UnknownOutcome],
    at: datetime,
) -> Controls:
    return controls_for(
        case=loaded.case,
        person=person,
        shown=loaded.shown,
        standing=loaded.standing,
        release_in_force=loaded.release is not None and loaded.release.ended_at is None,
        unknown=unknown,
        unsettled=unsettled(outcomes),
        holding=loaded.holding[0] if loaded.holding else None,
        at=at,
    )


def _head(loaded: Loaded, roster: Roster, at: datetime) -> CaseHead:
    case, playbook, rule = loaded.case, loaded.playbook, STAGES[loaded.case.current_stage]
    fields = next((s.fields for s in loaded.sources if s.record_type == playbook.subject_type), {})
    return CaseHead(
        case_id=case.pk,
        kind=case.kind,
        version=case.version,
        subject=case.subject,
        subject_label=playbook.subject_label,
        title=case.title,
        type_label=type_label(playbook, case.case_type),
        stage=case.stage,
        stage_label=rule.label,
        stage_meaning=rule.meaning,
        stage_reason=case.stage_reason,
        stage_since=case.stage_since,
        rereads_since=rereads_since(case, at=at),
        owner="" if case.owner is None else str(case.owner),
        owner_id=case.owner_id,
        presence=owners_at_desk([case], roster=roster, at=at).get(case.pk),
        desk=case.desk.name,
        desk_zone=case.desk.zone,
        zone=zone_of_place(playbook=playbook, fields=fields, otherwise=case.desk.zone),
        source_name=playbook.wording.get("source", "source"),
        is_closed=case.current_stage is Stage.CLOSED,
        agent_works=rule.turn is Turn.AGENT,
        changed_at=case.changed_at,
    )


def _panel(loaded: Loaded, view: ProposalView | None) -> Panel:
    case, playbook, newest = loaded.case, loaded.playbook, loaded.newest
    decision = loaded.standing
    newer = newest if view is not None and newest is not None and newest > view.number else None
    return Panel(
        proposal=view,
        recap="" if view is None else recap_sentence(playbook=playbook, case=case, view=view),
        button="" if view is None else _button(playbook, view),
        decision=None
        if decision is None
        else decision_view(playbook=playbook, case=case, decision=decision),
        newer=newer,
    )


def _button(playbook: Playbook, view: ProposalView) -> str:
    names = [action.name for action in view.actions]
    does = few_words(playbook=playbook, names=names, cost=view.cost)
    return f"{playbook.wording.get('release', 'Release')} v{view.number} – {does}"


def _candidates(people: Iterable[Person]) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(person_id=person.pk, name=str(person), role=person.get_role_display())
        for person in people
        if not policies.reason_against(policies.check_may_own, person=person)
    )


def _escalations(loaded: Loaded, roster: Roster) -> tuple[EscalationView, ...]:
    for row in loaded.escalations:
        row.to = roster.people[row.to_id]
        row.next_to = None if row.next_to_id is None else roster.people[row.next_to_id]
    return escalations_in_order(loaded.escalations)

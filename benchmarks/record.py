"""Ten thousand open cases in the record, each with a proposal that waits for a release.

Put in by bulk inserts, with the facts that the simulator gives and the plan that the playbook makes
of them, so that the record looks as if each case had been worked on.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction

from agent.sources.transport import TransportSource
from cases import audit
from cases.actions.batch import save_many
from cases.actions.evidence import observation_of
from cases.actions.seal import proposal_digest
from cases.models import (
    Case,
    CaseSource,
    Desk,
    Evidence,
    Observation,
    Person,
    Proposal,
    ProposedAction,
    Run,
    SourceRecord,
)
from cases.queries.sheets import sheet_among
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.facts import FactSheet
from cases.vocabulary.playbook import material_facts
from cases.vocabulary.playbooks import playbook_of, type_of
from cases.vocabulary.refreshing import CaseToRead, NotRead, ReadingsBySubject

KIND, TYPE = "freight_exception", "E02"
BOUNDARY_BEFORE = timedelta(minutes=30)


def open_cases_about(
    names: Sequence[str],
    *,
    source: TransportSource,
    desk: Desk,
    owner: Person,
    at: datetime,
    boundary: datetime,
) -> None:
    """A case waiting for review about each shipment, read at `at` and due again at `boundary`."""
    bulk = source.bulk
    for start in range(0, len(names), bulk.most_at_once):
        some = names[start : start + bulk.most_at_once]
        asked = [CaseToRead(case_id=0, subject=name, records=()) for name in some]
        told = bulk.read_many(cases=asked, permit=lambda: None)
        if isinstance(told, NotRead):
            raise RuntimeError(told.reason)
        with transaction.atomic():
            cases = _cases(some, desk=desk, owner=owner, at=at, boundary=boundary)
            sources = _sources(cases, told, at=at)
            _proposals(cases, sources, at=at, boundary=boundary)


def _cases(
    names: Sequence[str], *, desk: Desk, owner: Person, at: datetime, boundary: datetime
) -> list[Case]:
    cases = Case.objects.bulk_create(
        Case(
            kind=KIND,
            case_type=TYPE,
            subject=name,
            title="Carrier fell off, rebook",
            desk=desk,
            owner=owner,
            stage="waiting_for_review",
            stage_since=at,
            stage_reason="Proposal 1 is ready.",
            opened_at=at,
            changed_at=at,
            refreshed_at=at,
            refresh_due_at=boundary,
        )
        for name in names
    )
    Run.objects.bulk_create(Run(case=case, flow_version=1, due_at=boundary) for case in cases)
    return cases


def _sources(
    cases: Sequence[Case], told: ReadingsBySubject, *, at: datetime
) -> dict[int, list[SourceRecord]]:
    readings = [(case, reading) for case in cases for reading in told[case.subject]]
    records = SourceRecord.objects.bulk_create(
        SourceRecord(
            system=reading.system,
            record_type=reading.record_type,
            record_id=reading.record_id,
            highest_version=reading.version,
        )
        for _, reading in readings
    )
    observations = Observation.objects.bulk_create(
        observation_of(record=record, reading=reading, at=at)
        for record, (_, reading) in zip(records, readings, strict=True)
    )
    found: dict[int, list[SourceRecord]] = {case.pk: [] for case in cases}
    for record, observation, (case, _) in zip(records, observations, readings, strict=True):
        record.latest = record.last_attempt = observation
        found[case.pk].append(record)
    save_many(SourceRecord, records, ("latest", "last_attempt"))
    CaseSource.objects.bulk_create(
        CaseSource(case_id=case_id, record=record)
        for case_id, linked in found.items()
        for record in linked
    )
    return found


def _proposals(
    cases: Sequence[Case],
    sources: dict[int, list[SourceRecord]],
    *,
    at: datetime,
    boundary: datetime,
) -> None:
    sheets = {case.pk: sheet_among(case, sources[case.pk]) for case in cases}
    made = [_proposal(case, sheets[case.pk], at=at, boundary=boundary) for case in cases]
    proposals = Proposal.objects.bulk_create(proposal for proposal, _ in made)
    planned = []
    for proposal, (_, actions) in zip(proposals, made, strict=True):
        for action in actions:
            action.proposal = proposal
            planned.append(action)
    ProposedAction.objects.bulk_create(planned)
    Evidence.objects.bulk_create(
        Evidence(proposal=proposal, observation_id=reading.observation_id, bound_at=at)
        for proposal in proposals
        for reading in sheets[proposal.case_id].readings
    )
    audit.append_many(
        events=[
            audit.CaseEvent(
                case_id=case.pk, case_version=1, event="proposal_made", data={"number": 1}
            )
            for case in cases
        ],
        by=SYSTEM,
        at=at,
    )


def _proposal(
    case: Case, sheet: FactSheet, *, at: datetime, boundary: datetime
) -> tuple[Proposal, list[ProposedAction]]:
    playbook = playbook_of(case.kind)
    plan = playbook.candidates(type_of(kind=KIND, code=TYPE), sheet, at)[0]
    facts = [
        fact.as_value()
        for fact in material_facts(playbook=playbook, actions=plan.actions, sheet=sheet)
    ]
    expiries = [playbook.expiry_of(action, sheet) for action in plan.actions]
    valid_until = min((moment for moment in expiries if moment is not None), default=None)
    proposal = Proposal(
        case=case,
        number=1,
        state_since=at,
        author="exception-bot@1.0",
        created_at=at,
        summary=plan.summary,
        subject_version=41,
        facts=facts,
        decide_by=boundary + timedelta(hours=2),
        valid_until=valid_until,
        digest=proposal_digest(
            case=case, number=1, actions=plan.actions, facts=facts, valid_until=valid_until
        ),
    )
    actions = [
        ProposedAction(
            position=position,
            action=planned.action,
            parameters=dict(planned.parameters),
            depends_on=list(planned.depends_on),
        )
        for position, planned in enumerate(plan.actions, start=1)
    ]
    return proposal, actions

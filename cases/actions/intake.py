"""Opening a case, so that work on it is due at once."""

from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction

from cases import audit
from cases.actions.goals import write_down_goals
from cases.models import Case, CaseSource, Desk, Person, Run, SourceRecord
from cases.vocabulary.actors import Actor
from cases.vocabulary.errors import Conflict, InvalidInput
from cases.vocabulary.playbooks import playbook_of, type_of

PRESENT_FLOW = 1
LONGEST_SUBJECT = 300


@dataclass(frozen=True, kw_only=True)
class NewCase:
    """What a case is opened with: `subject` is its name in the outside `system`.

    An empty `title` becomes the label of the case type.
    """

    kind: str
    case_type: str
    subject: str
    system: str
    desk: Desk
    owner: Person | None
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class CaseOpened:
    """The id of the new case."""

    case_id: int


def open_case(*, wanted: NewCase, by: Actor, at: datetime) -> CaseOpened:
    """Open a case; the agent's work on it is due at once.

    Raises `InvalidInput` for an unknown kind or type or an unusable subject, and `Conflict` when an
    open case of this type about this subject exists: one exception, one case.
    """
    type_of(kind=wanted.kind, code=wanted.case_type)
    _check_subject(wanted.subject)
    try:
        with transaction.atomic():
            case = _create(wanted, by=by, at=at)
    except IntegrityError as error:
        if "one_open_case_per_exception" not in str(error):
            raise
        raise Conflict(
            f"An open case of type {wanted.case_type} about {wanted.subject} already exists."
        ) from error
    return CaseOpened(case_id=case.pk)


def _create(wanted: NewCase, *, by: Actor, at: datetime) -> Case:
    case = Case.objects.create(
        kind=wanted.kind,
        case_type=wanted.case_type,
        subject=wanted.subject,
        title=wanted.title or type_of(kind=wanted.kind, code=wanted.case_type).label,
        desk=wanted.desk,
        owner=wanted.owner,
        stage_since=at,
        opened_at=at,
        changed_at=at,
    )
    record, _ = SourceRecord.objects.get_or_create(
        system=wanted.system,
        record_type=playbook_of(wanted.kind).subject_type,
        record_id=wanted.subject,
    )
    CaseSource.objects.create(case=case, record=record)
    write_down_goals(case, at=at)
    Run.objects.create(
        case=case, flow_version=PRESENT_FLOW, due_at=at, due_reason="A case was opened."
    )
    audit.append(
        case=case,
        by=by,
        at=at,
        event="case_opened",
        data={
            "kind": case.kind,
            "case_type": case.case_type,
            "subject": case.subject,
            "title": case.title,
            "owner": "" if case.owner is None else str(case.owner),
        },
    )
    return case


def _check_subject(subject: str) -> None:
    if not subject.strip() or len(subject) > LONGEST_SUBJECT or not subject.isprintable():
        raise InvalidInput(
            f"A subject is 1 to {LONGEST_SUBJECT} printable characters, such as S-318."
        )

"""Opening a case, so that work on it is due at once."""

from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction

from cases import audit
from cases.models import Case, CaseSource, Desk, Person, Run, SourceRecord
from cases.vocabulary.actors import Actor
from cases.vocabulary.errors import Conflict, InvalidInput
from cases.vocabulary.playbooks import playbook_of, type_of

PRESENT_FLOW = 1
LONGEST_SUBJECT = 300


@dataclass(frozen=True, kw_only=True)
class CaseOpened:
    """The new case's id, and whether it already existed."""

    case_id: int


def open_case(
    *,
    kind: str,
    case_type: str,
    subject: str,
    title: str,
    system: str,
    desk: Desk,
    owner: Person | None,
    by: Actor,
    at: datetime,
) -> CaseOpened:
    """Open a case about `subject` as it is called in the outside `system`.

    Raises `InvalidInput` for an unknown kind or type or an unusable subject, and `Conflict` when an
    open case of this type about this subject exists: one exception, one case.
    """
    playbook = playbook_of(kind)
    case_type_spec = type_of(kind=kind, code=case_type)
    _check_subject(subject)
    try:
        with transaction.atomic():
            case = Case.objects.create(
                kind=kind,
                case_type=case_type,
                subject=subject,
                title=title or case_type_spec.label,
                desk=desk,
                owner=owner,
                stage_since=at,
                opened_at=at,
                changed_at=at,
            )
            record, _ = SourceRecord.objects.get_or_create(
                system=system, record_type=playbook.subject_type, record_id=subject
            )
            CaseSource.objects.create(case=case, record=record)
            Run.objects.create(
                case=case, flow_version=PRESENT_FLOW, due_at=at, due_reason="A case was opened."
            )
            audit.append(
                case=case,
                by=by,
                at=at,
                event="case_opened",
                data={
                    "kind": kind,
                    "case_type": case_type,
                    "subject": subject,
                    "title": case.title,
                    "owner": "" if owner is None else str(owner),
                },
            )
    except IntegrityError as error:
        if "one_open_case_per_exception" not in str(error):
            raise
        raise Conflict(
            f"An open case of type {case_type} about {subject} already exists."
        ) from error
    return CaseOpened(case_id=case.pk)


def _check_subject(subject: str) -> None:
    if not subject.strip() or len(subject) > LONGEST_SUBJECT or not subject.isprintable():
        raise InvalidInput(
            f"A subject is 1 to {LONGEST_SUBJECT} printable characters, such as S-318."
        )

"""The history of a case: its audit events, newest first, as sentences with before and after."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cases.models import AuditEvent
from cases.queries.event_words import QUIET_EVENTS, details_for, sentence_for
from cases.queries.facts_table import FactRow, changed_rows
from cases.vocabulary.playbook import Playbook

PAGE = 100
KINDS = {
    "person": "person",
    "agent": "agent",
    "system": "system",
}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One event: who, when, what, and what changed from what to what."""

    sequence: int
    at: datetime
    actor_kind: str
    actor_name: str
    event: str
    sentence: str
    changes: tuple[FactRow, ...]
    details: tuple[tuple[str, str], ...]
    case_version: int
    request_id: str
    digest: str
    is_quiet: bool


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """A page of events, newest first; `before` continues with older ones, None at the start."""

    entries: tuple[Entry, ...]
    total: int
    before: int | None


def entry_from(*, row: AuditEvent, playbook: Playbook) -> Entry:
    """One audit row in words."""
    data = row.data if isinstance(row.data, dict) else {"value": row.data}
    changes = data.get("changes") or []
    usable = [change for change in changes if isinstance(change, dict) and "key" in change]
    return Entry(
        sequence=row.sequence,
        at=row.at,
        actor_kind=KINDS.get(row.actor_kind, "system"),
        actor_name=row.actor_name,
        event=row.event,
        sentence=sentence_for(event=row.event, data=data),
        changes=tuple(changed_rows(playbook=playbook, changes=usable, by_record={})),
        details=tuple(details_for(data=data)),
        case_version=row.case_version,
        request_id=row.request_id,
        digest=row.digest,
        is_quiet=row.event in QUIET_EVENTS,
    )


def latest_entries(*, case_id: int, playbook: Playbook, limit: int) -> Sequence[Entry]:
    """The newest events that say something to a person; one query."""
    rows = (
        AuditEvent.objects.filter(case_id=case_id)
        .exclude(event__in=QUIET_EVENTS)
        .order_by("-sequence")[:limit]
    )
    return [entry_from(row=row, playbook=playbook) for row in rows]


def timeline_of(*, case_id: int, playbook: Playbook, before: int | None = None) -> Timeline:
    """A page of events older than `before`; two queries."""
    rows = AuditEvent.objects.filter(case_id=case_id)
    total = rows.count()
    if before is not None:
        rows = rows.filter(sequence__lt=before)
    found = list(rows.order_by("-sequence")[: PAGE + 1])
    return Timeline(
        entries=tuple(entry_from(row=row, playbook=playbook) for row in found[:PAGE]),
        total=total,
        before=found[PAGE - 1].sequence if len(found) > PAGE else None,
    )

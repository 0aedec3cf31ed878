"""The audit: appending an event under the case lock, and proving the chain unbroken."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection, transaction

from cases.models import AuditEvent, Case
from cases.vocabulary.actors import Actor
from cases.vocabulary.clocks import iso
from cases.vocabulary.digest import digest_of
from cases.vocabulary.errors import NotInTransaction

HOUSE = 0
"""The chain of what belongs to no case: people, desks, agents, clocks, pauses."""


def append(
    *, case: Case, by: Actor, at: datetime, event: str, data: dict[str, Any], request_id: str = ""
) -> AuditEvent:
    """Append one event to the case's chain; the caller holds the case lock.

    `at` is the business instant; `data` is plain JSON. Raises `NotInTransaction` outside one.
    """
    return _chain(
        AuditEvent(
            case_id=case.pk,
            case_version=case.version,
            at=at,
            actor_kind=by.kind.value,
            actor_name=by.name,
            actor_id=by.identity,
            event=event,
            data=data,
            request_id=request_id,
        )
    )


@dataclass(frozen=True, kw_only=True)
class CaseEvent:
    """An event to be appended to the chain of one case among many; `data` is plain JSON."""

    case_id: int
    case_version: int
    event: str
    data: dict[str, Any]


class _Link(NamedTuple):
    """A row to be copied into the table: an `AuditEvent` without what Django adds to it."""

    case_id: int
    sequence: int
    at: datetime
    actor_kind: str
    actor_name: str
    actor_id: str
    event: str
    case_version: int
    data: dict[str, Any]
    previous_digest: str
    request_id: str = ""
    digest: str = ""


def append_many(*, events: Sequence[CaseEvent], by: Actor, at: datetime) -> None:
    """Append events to the chains of many cases at once, in the given order.

    The caller holds the lock of every one of the cases. Raises `NotInTransaction` outside one.
    """
    _check_in_transaction()
    ends = _ends_of_chains({event.case_id for event in events})
    rows: list[_Link] = []
    for event in events:
        sequence, digest = ends[event.case_id]
        link = _Link(
            case_id=event.case_id,
            sequence=sequence + 1,
            at=at,
            actor_kind=by.kind.value,
            actor_name=by.name,
            actor_id=by.identity,
            event=event.event,
            case_version=event.case_version,
            data=event.data,
            previous_digest=digest,
        )
        digest = event_digest(link)
        ends[event.case_id] = sequence + 1, digest
        rows.append(link._replace(digest=digest))
    _copy(rows)


def _ends_of_chains(case_ids: Collection[int]) -> dict[int, tuple[int, str]]:
    """Sequence and digest of the last event of each case; 0 and empty where there is none."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT wanted.id, coalesce(last.sequence, 0), coalesce(last.digest, '')
            FROM unnest(%s::bigint[]) AS wanted(id)
            LEFT JOIN LATERAL (
                SELECT sequence, digest FROM cases_auditevent
                WHERE case_id = wanted.id ORDER BY sequence DESC LIMIT 1
            ) AS last ON true
            """,
            [list(case_ids)],
        )
        return {row[0]: (row[1], row[2]) for row in cursor.fetchall()}


def _copy(rows: Iterable[_Link]) -> None:
    columns = ", ".join(_Link._fields)
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY cases_auditevent ({columns}) FROM STDIN") as copy,
    ):
        for row in rows:
            copy.write_row(row._replace(data=json.dumps(row.data)))  # type: ignore[arg-type]


def append_to_house(*, by: Actor, at: datetime, event: str, data: dict[str, Any]) -> AuditEvent:
    """Append one event to the chain of the house; takes that chain's lock until the commit."""
    lock_house()
    return _chain(
        AuditEvent(
            case_id=HOUSE,
            case_version=0,
            at=at,
            actor_kind=by.kind.value,
            actor_name=by.name,
            actor_id=by.identity,
            event=event,
            data=data,
        )
    )


def lock_house() -> None:
    """Take the lock of the house's chain until the transaction ends; raises `NotInTransaction`."""
    _check_in_transaction()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('watchbill.audit.house'))")


def _check_in_transaction() -> None:
    if not transaction.get_connection().in_atomic_block:
        raise NotInTransaction("An audit event is written with the change it tells of.")


def _chain(row: AuditEvent) -> AuditEvent:
    """Put a row at the end of its chain."""
    _check_in_transaction()
    last = AuditEvent.objects.filter(case_id=row.case_id).order_by("-sequence").first()
    row.sequence = 1 if last is None else last.sequence + 1
    row.previous_digest = "" if last is None else last.digest
    row.digest = event_digest(row)
    row.save(force_insert=True)
    return row


def event_digest(row: AuditEvent | _Link) -> str:
    """The digest an untouched row must have, over everything it says and its predecessor."""
    return digest_of(
        {
            "case_id": row.case_id,
            "sequence": row.sequence,
            "at": iso(row.at),
            "actor": [row.actor_kind, row.actor_name, row.actor_id],
            "event": row.event,
            "case_version": row.case_version,
            "data": row.data,
            "request_id": row.request_id,
            "previous_digest": row.previous_digest,
        }
    )


def broken_links(events: Iterable[AuditEvent]) -> list[int]:
    """Sequence numbers of one case's events, in order, that were altered or do not follow on."""
    broken, previous, expected = [], "", 1
    for row in events:
        intact = (
            row.sequence == expected
            and row.previous_digest == previous
            and row.digest == event_digest(row)
        )
        if not intact:
            broken.append(row.sequence)
        previous, expected = row.digest, row.sequence + 1
    return broken

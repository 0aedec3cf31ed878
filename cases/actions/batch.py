"""Many cases changed in one transaction: each as always, written together, table by table."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import structlog
from django.db import Error, connection
from django.db.models import Field, Model

from cases import audit
from cases.actions.change import Change
from cases.models import Case, Escalation, Run
from cases.vocabulary.actors import Actor

CASE_FIELDS = (
    *("owner", "stage", "stage_since", "stage_reason", "version", "changed_at", "closed_at"),
    *("refresh_due_at", "refreshed_at", "next_try_at"),
    *("blocked_reason", "blocked_from", "blocked_since", "blocked_tries"),
)
RUN_FIELDS = ("due_at", "due_reason", "nudged_at")

log = structlog.get_logger()


@dataclass(kw_only=True)
class ChangeOfMany(Change):
    """A change of one case that is written together with those of others."""

    batch: "Batch"

    def record(self, event: str, **data: Any) -> None:
        """See `Change.record`."""
        self.batch.events.append(
            audit.CaseEvent(
                case_id=self.case.pk, case_version=self.case.version, event=event, data=data
            )
        )
        self.is_audited = True

    def keep(self, row: Model, *fields: str) -> None:
        """See `Change.keep`."""
        self.batch.saved.setdefault((type(row), fields), []).append(row)

    def add_missing(self, rows: Sequence[Model]) -> None:
        """See `Change.add_missing`."""
        if rows:
            self.batch.added.setdefault(type(rows[0]), []).extend(rows)

    def _end_escalations(self, reason: str, causes: Sequence[Escalation.Cause]) -> None:
        if self.case.pk in self.batch.escalated:
            super()._end_escalations(reason, causes)


@dataclass(kw_only=True)
class Batch:
    """What is to be written of many cases. `escalated` are those with a running escalation."""

    by: Actor
    at: datetime
    escalated: frozenset[int]
    events: list[audit.CaseEvent] = field(default_factory=list)
    saved: dict[tuple[type[Model], tuple[str, ...]], list[Model]] = field(default_factory=dict)
    added: dict[type[Model], list[Model]] = field(default_factory=dict)
    changed: list[ChangeOfMany] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)

    @contextmanager
    def changing(
        self, *, case: Case, run: Run, rest_until: datetime | None
    ) -> Iterator[ChangeOfMany]:
        """Change one locked case; where that fails nothing of it is written, and `failed` names it.

        Raises what the database raises: nothing is known of any of the cases then.
        """
        events = len(self.events)
        saved = {key: len(rows) for key, rows in self.saved.items()}
        added = {table: len(rows) for table, rows in self.added.items()}
        change = ChangeOfMany(
            case=case, run=run, by=self.by, at=self.at, rest_until=rest_until, batch=self
        )
        try:
            yield change
            if change.finish():
                self.changed.append(change)
        except Error:
            raise
        except Exception:
            log.exception("case_left_out_of_batch", case_id=case.pk)
            del self.events[events:]
            for key, kept in self.saved.items():
                del kept[saved.get(key, 0) :]
            for table, new in self.added.items():
                del new[added.get(table, 0) :]
            self.failed.append(case.pk)

    def write(self) -> None:
        """Write it all, in the transaction that has locked the cases."""
        for (table, names), rows in self.saved.items():
            save_many(table, rows, names)
        for table, rows in self.added.items():
            table._default_manager.bulk_create(rows, ignore_conflicts=True)
        save_many(Case, [change.case for change in self.changed], CASE_FIELDS)
        save_many(Run, [change.run for change in self.changed], RUN_FIELDS)
        audit.append_many(events=self.events, by=self.by, at=self.at)


@contextmanager
def changing_many(*, cases: Sequence[Case], by: Actor, at: datetime) -> Iterator[Batch]:
    """Change cases that the transaction has locked; all is written when the block ends."""
    running = Escalation.objects.filter(case__in=cases, ended_at=None)
    batch = Batch(by=by, at=at, escalated=frozenset(running.values_list("case_id", flat=True)))
    yield batch
    batch.write()


def save_many(table: type[Model], rows: Sequence[Model], names: Sequence[str]) -> None:
    """Save these fields of rows that exist, in one statement."""
    if not rows:
        return
    key = table._meta.pk
    assert key is not None  # every table has one
    fields: list[Field[Any, Any]] = [key, *(table._meta.get_field(name) for name in names)]  # type: ignore[list-item]
    columns = [f'"{item.column}"' for item in fields]
    given = ", ".join(f"%s::{item.rel_db_type(connection)}[]" for item in fields)
    named = ", ".join(columns)
    changes = ", ".join(f"{name} = given.{name}" for name in columns[1:])
    values = [
        [item.get_db_prep_save(getattr(row, item.attname), connection) for row in rows]
        for item in fields
    ]
    same_row = f"present.{columns[0]} = given.{columns[0]}"
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table._meta.db_table} AS present SET {changes} "
            f"FROM unnest({given}) AS given ({named}) WHERE {same_row}",
            values,
        )

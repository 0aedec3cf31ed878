"""Rows read together in one statement are the rows that Django reads one table at a time."""

from typing import Any

from django.db import connection
from django.db.models import Model, QuerySet
from django.test.utils import CaptureQueriesContext

from cases.models import AuditEvent, Case, Decision, Effect, Observation, RosterEntry, ShiftPattern
from cases.queries.together import together
from tests.cases.builders import Cast
from tests.cases.doubts import a_case_in_doubt
from tests.cases.mornings import a_roster


def values(rows: list[Model]) -> list[dict[str, Any]]:
    """Every stored value of every row, with its type."""
    names = [field.attname for row in rows[:1] for field in row._meta.concrete_fields]
    return [{name: (type(value := getattr(row, name)), value) for name in names} for row in rows]


def test_every_kind_of_column_comes_back_as_it_is_stored(cast: Cast) -> None:
    """Instants, days, wall times, lists, JSON, UUIDs, nulls; in the order of each queryset."""
    a_case_in_doubt(cast)
    a_roster(cast)
    tables: tuple[QuerySet[Any], ...] = (
        Observation.objects.order_by("-id"),
        Effect.objects.all(),
        AuditEvent.objects.order_by("-sequence", "id"),
        RosterEntry.objects.order_by("id"),
        ShiftPattern.objects.order_by("-name"),
    )
    with CaptureQueriesContext(connection) as asked:
        found = together(*tables)
    assert len(asked) == 1
    for table, rows in zip(tables, found, strict=True):
        assert rows
        assert values(rows) == values(list(table))


def test_rows_read_together_are_stored_rows_and_can_be_saved(cast: Cast) -> None:
    case, _, _ = a_case_in_doubt(cast)
    (found,), decisions, none = together(
        Case.objects.filter(pk=case.pk), Decision.objects.all(), Effect.objects.none()
    )
    found.title = "Another title"
    found.save(update_fields=["title"])
    assert Case.objects.get(pk=case.pk).title == "Another title"
    assert [made.case_id for made in decisions] == [case.pk]
    assert none == []

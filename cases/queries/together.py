"""Rows of several tables in one statement: one trip to the database, and one instant for all."""

import json
from typing import Any, overload

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Model, QuerySet
from django.db.models.functions import JSONObject


@overload
def together[A: Model, B: Model, C: Model](
    a: QuerySet[A], b: QuerySet[B], c: QuerySet[C], /
) -> tuple[list[A], list[B], list[C]]: ...


@overload
def together[A: Model, B: Model, C: Model, D: Model, E: Model](
    a: QuerySet[A], b: QuerySet[B], c: QuerySet[C], d: QuerySet[D], e: QuerySet[E], /
) -> tuple[list[A], list[B], list[C], list[D], list[E]]: ...


def together(*wanted: QuerySet[Any]) -> tuple[list[Any], ...]:
    """The rows of each queryset, in its order; one query.

    The querysets name whole rows: what they select from other tables is not read.
    """
    parts, values = [], []
    for queryset in wanted:
        columns = {field.attname: field.attname for field in queryset.model._meta.concrete_fields}
        rows = queryset.select_related(None).values_list(JSONObject(**columns))
        sql, given = rows.query.get_compiler(DEFAULT_DB_ALIAS, elide_empty=False).as_sql()
        parts.append(f"ARRAY({sql})")
        values += given
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(parts)}", values)
        found = cursor.fetchone()
    return tuple(
        [_row(queryset.model, json.loads(row)) for row in rows]
        for queryset, rows in zip(wanted, found, strict=True)
    )


def _row(table: type[Model], stored: dict[str, Any]) -> Model:
    fields = table._meta.concrete_fields
    names = [field.attname for field in fields]
    values = [field.to_python(stored[field.attname]) for field in fields]
    return table.from_db(DEFAULT_DB_ALIAS, names, values)

"""Time with refresh failed: how long cases stood blocked because a source could not be read."""

from datetime import datetime

from django.db import connection

from cases.models import Desk
from cases.queries.numbers_shapes import MOST_BEHIND, Behind, Line, Number, Period, Unit
from cases.queries.values import counted
from cases.vocabulary.numbers import NOTHING, Span, duration_text, within

MARKS = """(event = 'case_blocked'
    OR (event = 'stage_entered' AND (data -> 'before') = '"blocked"'::jsonb))"""
"""In SQL: the events at which a case begins or ceases to stand blocked, or the reason changes."""

UNREAD_SPANS = f"""
WITH candidates AS (
    SELECT case_id FROM cases_auditevent JOIN cases_case ON cases_case.id = case_id
    WHERE at >= %(since)s AND {MARKS} AND desk_id = %(desk)s
    UNION
    SELECT id FROM cases_case WHERE stage = 'blocked' AND desk_id = %(desk)s
), told AS (
    SELECT case_id, sequence, at, event,
        data ? 'next_try_at' AS is_tried_again,
        max(case_version) FILTER (WHERE event IN ('source_read', 'source_failed'))
            OVER so_far AS read_in,
        max(case_version) FILTER (WHERE event = 'source_failed') OVER so_far AS failed_in
    FROM cases_auditevent
    WHERE case_id IN (SELECT case_id FROM candidates)
        AND (event IN ('source_read', 'source_failed') OR {MARKS})
    WINDOW so_far AS (PARTITION BY case_id ORDER BY sequence)
), marks AS (
    SELECT case_id, sequence, at,
        event = 'case_blocked' AND is_tried_again
            AND coalesce(failed_in = read_in, false) AS is_unread
    FROM told WHERE event IN ('case_blocked', 'stage_entered')
), turns AS (
    SELECT *, lag(is_unread, 1, false) OVER (PARTITION BY case_id ORDER BY sequence) AS was_unread
    FROM marks
), spans AS (
    SELECT *, lead(at, 1, %(at)s) OVER (PARTITION BY case_id ORDER BY sequence) AS until
    FROM turns WHERE is_unread <> was_unread
)
SELECT spans.case_id, cases_case.subject, greatest(spans.at, %(since)s), spans.until
FROM spans JOIN cases_case ON cases_case.id = spans.case_id
WHERE spans.is_unread AND spans.until > %(since)s
ORDER BY spans.until - greatest(spans.at, %(since)s) DESC, spans.case_id
"""  # noqa: S608 (constants)
"""A case is unread from the block whose newest reading failed until it is not blocked any more, or
blocked for something else. What was read together carries one version of the case."""


def unread_spans(*, desk: Desk, period: Period) -> list[Span]:
    """When the desk's cases stood blocked for an unread source, cut to the period, longest first.

    One query over the audit.
    """
    with connection.cursor() as cursor:
        cursor.execute(UNREAD_SPANS, parameters(desk=desk, period=period))
        return [
            Span(case_id=case_id, subject=subject, starts_at=starts_at, ends_at=ends_at)
            for case_id, subject, starts_at, ends_at in cursor.fetchall()
        ]


def parameters(*, desk: Desk, period: Period) -> dict[str, int | datetime]:
    """What the statement asks for."""
    return {"desk": desk.pk, "since": period.since, "at": period.at}


def time_unread(*, desk: Desk, period: Period) -> Number:
    """The number, with the cases that stood blocked longest."""
    spans = unread_spans(desk=desk, period=period)
    cases = {span.case_id for span in spans}
    parts = [(part, within(spans, part)) for part in period.parts]
    return Number(
        key="unread",
        title="Time with refresh failed",
        value=duration_text(sum((span.length for span in spans), NOTHING)),
        says=f"{counted(len(cases), 'case')} stood blocked {counted(len(spans), 'time')}.",
        counts=(
            "Added up over cases: from the moment a case was blocked because one of its sources "
            "could not be read until it went on. Blocked for something else (a budget, a source "
            "that went back, a failing visit) is not in it."
        ),
        unit=Unit.SECONDS,
        columns=("Time blocked", "Cases"),
        lines=tuple(
            Line(
                label=part.label,
                cells=(
                    duration_text(length),
                    str(len({s.case_id for s in spans if within([s], part)})),
                ),
                bar=length.total_seconds(),
            )
            for part, length in parts
        ),
        bar="time blocked, added up over cases",
        mark="",
        behind_title="Blocked longest",
        behind=tuple(
            Behind(
                case_id=span.case_id, subject=span.subject, says=f"for {duration_text(span.length)}"
            )
            for span in spans[:MOST_BEHIND]
        ),
        is_empty=not spans,
    )

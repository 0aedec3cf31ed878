"""The handover sheet: every open case of a desk in its section, ranked; a fixed number of queries.

It is computed each time it is looked at; what was signed is in `cases.queries.handover_snapshot`.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import QuerySet

from cases.models import Case, Desk, Handover, HandoverRow
from cases.models.case import CaseQuerySet, open_cases
from cases.queries.calls import called_first, calls_from
from cases.queries.conditions import standing_for
from cases.queries.duty import Duty, Roster, roster_of
from cases.queries.goals import uncarried_goals
from cases.queries.handover_facts import values_elsewhere
from cases.queries.handover_parts import parts_of, playbook_of_parts
from cases.queries.handover_rows import Around, RowMaker
from cases.queries.handover_shapes import (
    CallTime,
    Sheet,
    SheetRow,
    SheetSection,
)
from cases.queries.lines import promises_made
from cases.vocabulary.errors import NotFound
from cases.vocabulary.handover_sheet import SECTIONS, Condition, Section, rank

SHORTEST = datetime.resolution


def find_handover(handover_id: int) -> Handover:
    """The handover with its desk and people; raises `NotFound`."""
    found = (
        Handover.objects.select_related("desk__lead", "desk__manager", "outgoing", "incoming")
        .filter(pk=handover_id)
        .first()
    )
    if found is None:
        raise NotFound(f"There is no handover {handover_id}.")
    return found


def present_handover(desk_id: int) -> Handover | None:
    """The newest handover of a desk: the only one whose sheet is still kept."""
    return Handover.objects.filter(desk=desk_id).select_related("desk").first()


def sheet_of(*, handover: Handover, at: datetime, roster: Roster | None = None) -> Sheet:
    """The sheet as it stands at `at`; its desk and people must be loaded.

    Until somebody has published and signed it, it names who stands to do so. Whoever has its
    `roster_for` then at hand spares a query.
    """
    desk, roster = handover.desk, roster or roster_for(handover, at=at)
    leaving, coming = (
        roster.duty_at(moment) for moment in (handover.boundary - SHORTEST, handover.boundary)
    )
    made = _made(handover, rows_of(handover), roster, at)
    to_read = [row for row in made if row.needs_answer]
    read = sum(row.was_read for row in to_read)
    return Sheet(
        handover_id=handover.pk,
        desk=desk.name,
        zone=desk.zone,
        from_shift=handover.from_shift,
        to_shift=handover.to_shift,
        boundary=handover.boundary,
        opened_at=handover.opened_at,
        refreshed_at=handover.refreshed_at,
        to_read=len(to_read),
        read=read,
        percent_read=100 if not to_read else 100 * read // len(to_read),
        outgoing=handover.published_by or _primary_of(leaving),
        published_by=handover.published_by,
        published_at=handover.published_at,
        incoming=handover.signed_by or _primary_of(coming),
        calls=_calls(roster, handover.boundary),
        notices=tuple(standing_for(desk, at)),
        sections=_sections(made),
        count=len(made),
        answered=sum(row.answer is not None for row in made),
        missing=missing_cases(handover).count(),
        at=at,
    )


def _calls(roster: Roster, boundary: datetime) -> tuple[CallTime, ...]:
    """Who is called for a case of somebody who left, while nobody accepts it."""
    calls = calls_from(roster, boundary=boundary)
    return tuple(CallTime(who=str(person), at=moment) for person, moment in calls)


def roster_for(handover: Handover, *, at: datetime) -> Roster:
    """The roster of its desk for `at`, and for both sides of its boundary; one query."""
    return roster_of(handover.desk, since=min(at, handover.boundary - SHORTEST))


def _primary_of(duty: Duty) -> str:
    primary = duty.crew.primary
    return "" if primary is None else str(duty.people[primary])


def _made(
    handover: Handover, rows: Sequence[HandoverRow], roster: Roster, at: datetime
) -> tuple[SheetRow, ...]:
    parts, duty = parts_of([row.case_id for row in rows]), roster.duty_at(at)
    around = Around(
        handover=handover,
        duty=duty,
        called=called_first(duty),
        since=roster.duty_at(handover.boundary - SHORTEST).shift.starts_at,
        others=values_elsewhere(
            (playbook_of_parts(row.case, parts[row.case_id]), parts[row.case_id].sources)
            for row in rows
        ),
        uncarried=uncarried_goals([row.case_id for row in rows]),
        promises=promises_made([row.case_id for row in rows], at=at),
        at=at,
    )
    return tuple(RowMaker(row, parts[row.case_id], around).made() for row in rows)


def row_of(*, row_id: int, at: datetime) -> SheetRow:
    """One row as it stands at `at`; raises `NotFound`."""
    row = find_row(row_id)
    handover = find_handover(row.handover_id)
    return _made(handover, [row], roster_for(handover, at=at), at)[0]


def find_row(row_id: int) -> HandoverRow:
    """The row with its case and people; raises `NotFound`."""
    row = _rows(HandoverRow.objects.filter(pk=row_id)).first()
    if row is None:
        raise NotFound(f"There is no row {row_id} on any sheet.")
    return row


def rows_of(handover: Handover) -> list[HandoverRow]:
    """Its rows, each with case, people and answers; two queries."""
    return list(_rows(HandoverRow.objects.filter(handover=handover)))


def _rows(rows: QuerySet[HandoverRow]) -> QuerySet[HandoverRow]:
    return rows.select_related(
        "case__owner", "case__desk__lead", "case__run", "owner_before"
    ).prefetch_related("answers__to")


def had_cases(desk: Desk, boundary: datetime) -> bool:
    """Whether the desk has anything to hand over at a shift boundary."""
    return open_cases(Case.objects.filter(desk=desk, opened_at__lt=boundary)).exists()


def missing_cases(handover: Handover) -> CaseQuerySet:
    """Open cases of the desk that are not on its sheet yet."""
    on_it = HandoverRow.objects.filter(handover=handover).values("case")
    return open_cases(Case.objects.filter(desk=handover.desk_id)).exclude(pk__in=on_it)


def _sections(rows: Iterable[SheetRow]) -> tuple[SheetSection, ...]:
    members: dict[str, list[SheetRow]] = defaultdict(list)
    for row in sorted(rows, key=_rank):
        members[row.section].append(row)
    return tuple(
        SheetSection(
            key=section.value,
            label=rule.label,
            asks_for=rule.asks_for,
            empty=rule.empty,
            rows=tuple(members[section.value]),
        )
        for section, rule in SECTIONS.items()
    )


def _rank(row: SheetRow) -> tuple[int, int, bool, float, int]:
    return rank(Section(row.section), Condition(row.condition), row.ends_at, row.case_id)

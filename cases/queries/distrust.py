"""Sources of a case that went back to an older version: what was seen, what they say now."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F

from cases.models import Case, Observation, SourceRecord
from cases.queries.facts_table import FactRow, changed_rows
from cases.queries.values import UNSAYABLE
from cases.vocabulary.facts import FactSpec, change_of, same, went_back
from cases.vocabulary.playbook import Playbook
from cases.vocabulary.stages import Stage


@dataclass(frozen=True, kw_only=True)
class WentBack:
    """A record whose newest version is lower than one already seen.

    `highest` was last read at `highest_at`; `changes` are the facts that differ between the two.
    """

    record_id: int
    name: str
    system: str
    highest: int
    highest_at: datetime | None
    version: int
    read_at: datetime
    changes: tuple[FactRow, ...]


def sources_that_went_back(
    *, case: Case, playbook: Playbook, records: Iterable[SourceRecord]
) -> tuple[WentBack, ...]:
    """Those of its records that block the case this way; none unless it is blocked.

    `records` are loaded with their newest reading. One query where one of them went back.
    """
    if case.current_stage is not Stage.BLOCKED:
        return ()
    gone = [record for record in records if _has_gone_back(record)]
    seen = _at_their_highest(gone) if gone else {}
    found = (_went_back(playbook, record, seen.get(record.pk)) for record in gone)
    return tuple(row for row in found if row is not None)


def _has_gone_back(record: SourceRecord) -> bool:
    return record.latest is not None and went_back(
        then=record.highest_version, now=record.latest.version
    )


def _at_their_highest(records: Iterable[SourceRecord]) -> Mapping[int, Observation]:
    """Record to its newest reading at the highest version that was seen."""
    readings = Observation.objects.filter(
        record__in=[record.pk for record in records], version=F("record__highest_version")
    )
    newest = readings.order_by("record_id", "-id").distinct("record_id")
    return {reading.record_id: reading for reading in newest}


def _went_back(
    playbook: Playbook, record: SourceRecord, newest: Observation | None
) -> WentBack | None:
    latest, highest = record.latest, record.highest_version
    if latest is None or latest.version is None or highest is None:
        return None
    changes = []
    if newest is not None:
        changes = _changes(playbook, record, newest.fields, latest.fields)
    return WentBack(
        record_id=record.pk,
        name=str(record),
        system=record.system,
        highest=highest,
        highest_at=None if newest is None else newest.observed_at,
        version=latest.version,
        read_at=latest.observed_at,
        changes=tuple(changed_rows(playbook=playbook, changes=changes, by_record={})),
    )


def _changes(
    playbook: Playbook, record: SourceRecord, then: Mapping[str, Any], now: Mapping[str, Any]
) -> list[dict[str, Any]]:
    specs = [spec for spec in playbook.facts.values() if spec.record_type == record.record_type]
    return [
        change_of(
            spec, record.record_id, then.get(spec.key), now.get(spec.key), material=True
        ).as_value()
        for spec in specs
        if not _same(spec, then.get(spec.key), now.get(spec.key))
    ]


def _same(spec: FactSpec, then: Any, now: Any) -> bool:
    try:
        return same(spec, then, now)
    except UNSAYABLE:
        return bool(then == now)

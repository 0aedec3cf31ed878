"""What a case's sources say: fresh, ageing, missing or unreadable, and since when."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from cases.models import Case, CaseSource, Observation, SourceRecord
from cases.queries.values import age_text
from cases.vocabulary.facts import FactSheet, Reading, went_back

FRESH_FOR = timedelta(minutes=30)


@dataclass(frozen=True, kw_only=True)
class SourceState:
    """One source record as last seen; `fields` are the facts of its newest successful reading.

    `failure` says why the newest attempt failed or cannot be trusted, empty when all is well;
    `trouble` is which of the two.
    """

    record_type: str
    record_id: str
    system: str
    version: int | None
    observed_at: datetime | None
    is_missing: bool
    failure: str
    failed_at: datetime | None
    trouble: str = "cannot be read"
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """`shipment S-318`."""
        return f"{self.record_type} {self.record_id}"

    @property
    def is_unreadable(self) -> bool:
        """Whether what is known of it is only a saved value."""
        return self.failed_at is not None

    def word(self, *, at: datetime) -> str:
        """`fresh`, `ageing`, `unreadable`, `not found` or `never read`."""
        if self.is_unreadable:
            return "unreadable"
        if self.observed_at is None:
            return "never read"
        if self.is_missing:
            return "not found"
        return "fresh" if at - self.observed_at <= FRESH_FOR else "ageing"

    def age(self, *, at: datetime) -> str:
        """How old its newest successful reading is."""
        return "" if self.observed_at is None else age_text(since=self.observed_at, at=at)


def state_of(record: SourceRecord) -> SourceState:
    """A record with `latest` and `last_attempt` loaded, as plain values."""
    latest, attempt = record.latest, record.last_attempt
    state = SourceState(
        record_type=record.record_type,
        record_id=record.record_id,
        system=record.system,
        version=None if latest is None else latest.version,
        observed_at=None if latest is None else latest.observed_at,
        is_missing=latest is not None and latest.outcome == Observation.Outcome.MISSING,
        failure="",
        failed_at=None,
        fields={} if latest is None else latest.fields,
    )
    if attempt is not None and attempt.outcome == Observation.Outcome.FAILED:
        return replace(state, failure=attempt.failure, failed_at=attempt.observed_at)
    if latest is not None and went_back(then=record.highest_version, now=latest.version):
        return replace(
            state,
            trouble="cannot be trusted",
            failure=f"it went back to version {latest.version} after {record.highest_version}",
            failed_at=latest.observed_at,
        )
    return state


def sources_of(case: Case) -> tuple[SourceState, ...]:
    """Every source record of the case, subject first; one query."""
    return tuple(map(state_of, records_of(case)))


def records_of(case: Case) -> list[SourceRecord]:
    """The same as stored, with `latest` and `last_attempt` loaded; one query."""
    return list(case.sources.select_related("latest", "last_attempt").order_by("id"))


def sources_of_many(case_ids: Collection[int]) -> Mapping[int, tuple[SourceState, ...]]:
    """Case to its source records; one query, whatever the number of cases."""
    found: dict[int, list[SourceState]] = defaultdict(list)
    links = (
        CaseSource.objects.filter(case__in=case_ids)
        .select_related("record__latest", "record__last_attempt")
        .order_by("record_id")
    )
    for link in links:
        found[link.case_id].append(state_of(link.record))
    return {case_id: tuple(states) for case_id, states in found.items()}


def sheet_from(*, case: Case, subject_type: str, sources: Sequence[SourceState]) -> FactSheet:
    """The newest readings as a fact sheet, without asking the database again."""
    return FactSheet(
        subject_type=subject_type,
        subject_id=case.subject,
        readings=tuple(
            Reading(
                record_type=source.record_type,
                record_id=source.record_id,
                version=source.version,
                observed_at=source.observed_at,
                fields=source.fields,
            )
            for source in sources
            if source.observed_at is not None and not source.is_missing
        ),
    )

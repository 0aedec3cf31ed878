"""The newest readings of a case as a fact sheet."""

from collections.abc import Iterable

from cases.models import Case, Observation, SourceRecord
from cases.queries.catalogue import playbook_for
from cases.vocabulary.facts import FactSheet, Reading


def reading_from(observation: Observation) -> Reading:
    """One successful observation as plain values; its record must be loaded."""
    return Reading(
        record_type=observation.record.record_type,
        record_id=observation.record.record_id,
        version=observation.version,
        etag=observation.etag,
        observed_at=observation.observed_at,
        fields=observation.fields,
        observation_id=observation.pk,
    )


def sheet_of(case: Case) -> FactSheet:
    """The newest successful readings of everything the case is about; missing records are left out.

    One query, whatever the number of records.
    """
    newest = (
        Observation.objects.filter(
            pk__in=case.sources.values("latest"), outcome=Observation.Outcome.READ
        )
        .select_related("record")
        .order_by("record__record_type", "record__record_id")
    )
    return FactSheet(
        subject_type=playbook_for(case.kind).subject_type,
        subject_id=case.subject,
        readings=tuple(reading_from(observation) for observation in newest),
    )


def absence_in(sheet: FactSheet) -> str:
    """Why nothing can be planned: the subject does not exist; empty when it does."""
    if sheet.reading(sheet.subject_type, sheet.subject_id) is not None:
        return ""
    return f"{sheet.subject_type.capitalize()} {sheet.subject_id} does not exist in its system."


def sheet_among(case: Case, records: Iterable[SourceRecord]) -> FactSheet:
    """The same from the case's records with `latest` loaded, without asking the database."""
    readings = []
    for record in sorted(records, key=lambda item: (item.record_type, item.record_id)):
        if record.latest is not None and record.latest.outcome == Observation.Outcome.READ:
            record.latest.record = record
            readings.append(reading_from(record.latest))
    return FactSheet(
        subject_type=playbook_for(case.kind).subject_type,
        subject_id=case.subject,
        readings=tuple(readings),
    )

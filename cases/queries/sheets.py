"""The newest readings of a case as a fact sheet."""

from cases.models import Case, Observation
from cases.vocabulary.facts import FactSheet, Reading
from cases.vocabulary.playbooks import playbook_of


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
        subject_type=playbook_of(case.kind).subject_type,
        subject_id=case.subject,
        readings=tuple(reading_from(observation) for observation in newest),
    )

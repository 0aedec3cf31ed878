"""What outside systems reported about an effect: hints, never proofs."""

from collections.abc import Iterable

from django.db.models import QuerySet

from cases.models import AuditEvent, Effect


def reports_to(case_id: int) -> QuerySet[AuditEvent]:
    """Everything that was reported about a case, oldest first."""
    return AuditEvent.objects.filter(case_id=case_id, event="event_reported").order_by("sequence")


def reports_about(effect: Effect, *, among: Iterable[AuditEvent]) -> list[AuditEvent]:
    """Reports that name it, and those that name none of ours, since its release."""
    return [
        report
        for report in among
        if report.data.get("reference") in {effect.reference, ""}
        and report.at >= effect.decision.at
    ]

"""What outside systems reported about an effect: hints, never proofs."""

from django.db.models import QuerySet

from cases.models import AuditEvent, Effect


def reports_about(effect: Effect) -> QuerySet[AuditEvent]:
    """Reports that name it, and those that name none of ours, since its release, oldest first."""
    return AuditEvent.objects.filter(
        case_id=effect.decision.case_id,
        event="event_reported",
        data__reference__in=(effect.reference, ""),
        at__gte=effect.decision.at,
    ).order_by("sequence")

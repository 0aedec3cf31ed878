"""Open cases per flow version, for the gate before a deploy (P24)."""

from collections.abc import Sequence

from django.db.models import Count, Min

from cases.models import Run
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import FlowInUse


def flows_in_use() -> Sequence[FlowInUse]:
    """Each flow version that open cases were saved under: how many, and the oldest of them."""
    found = (
        Run.objects.exclude(case__stage=Stage.CLOSED.value)
        .values("flow_version")
        .annotate(cases=Count("case"), oldest=Min("case_id"))
        .order_by("flow_version")
    )
    return [
        FlowInUse(
            flow_version=row["flow_version"], cases=row["cases"], oldest_case_id=row["oldest"]
        )
        for row in found
    ]

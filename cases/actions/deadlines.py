"""What nobody decided in time goes to the desk's lead (P8).

The system itself does it, for all overdue cases at once: no agent is needed, so pausing the agents
holds up no deadline. The case stays where it is, since its proposal can still be decided.
"""

from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, Prefetch

from cases import audit
from cases.clock import business_now
from cases.models import Case, Escalation, Proposal
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.clocks import iso
from cases.vocabulary.stages import Stage

MOST_AT_ONCE = 100
RUNNING = Escalation.objects.filter(cause=Escalation.Cause.NOT_DECIDED, ended_at=None)


def escalate_overdue() -> int:
    """Escalate cases whose decision is overdue and not escalated yet; says how many.

    Any number of processes may do this at once. A case that somebody has locked, perhaps to decide
    on it, is left for the next time.
    """
    with transaction.atomic():
        at = business_now()
        overdue = _lock_overdue(at)
        Escalation.objects.bulk_create(
            Escalation(
                case=case,
                cause=Escalation.Cause.NOT_DECIDED,
                reason=f"Proposal {_number(case)} was not decided in time.",
                to=case.desk.lead,
                started_at=at,
            )
            for case in overdue
        )
        for case in overdue:
            _tell(case, at)
    return len(overdue)


def _lock_overdue(at: datetime) -> list[Case]:
    """Overdue cases, locked; what another process escalated while we looked is left out."""
    running = RUNNING.filter(case=OuterRef("pk"))
    ready = Proposal.objects.filter(state=Proposal.State.READY)
    locked = list(
        Case.objects.filter(
            ~Exists(running), stage=Stage.WAITING_FOR_REVIEW.value, decide_by__lte=at
        )
        .select_related("desk__lead")
        .prefetch_related(Prefetch("proposals", queryset=ready))
        .select_for_update(skip_locked=True, of=("self",))
        .order_by("decide_by", "id")[:MOST_AT_ONCE]
    )
    # Asked again now that they are locked: the first look may be older than the lock.
    escalated = set(RUNNING.filter(case__in=locked).values_list("case_id", flat=True))
    return [case for case in locked if case.pk not in escalated]


def _number(case: Case) -> int | str:
    """The number of the proposal that waits, loaded before."""
    return next((ready.number for ready in case.proposals.all()), "?")


def _tell(case: Case, at: datetime) -> None:
    case.version += 1
    case.changed_at = at
    case.save(update_fields=("version", "changed_at"))
    audit.append(
        case=case,
        by=SYSTEM,
        at=at,
        event="decision_overdue",
        data={
            "number": _number(case),
            "to": str(case.desk.lead),
            "decide_by": None if case.decide_by is None else iso(case.decide_by),
        },
    )

"""What nobody decided (P8), or nobody took up (P15), in time goes to the desk's lead.

Where the lead is not there it goes to whoever is called instead (`cases.queries.calls`).

The system itself does it, for all overdue cases at once: no agent is needed, so pausing the agents
holds up no deadline. The case stays where it is: its proposal can still be decided, and the agent
still looks whether the other party took up what was carried out.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet

from cases import audit
from cases.actions.releases import AT_THE_TARGET
from cases.clock import business_now
from cases.models import Case, Decision, Desk, Effect, Escalation, Person, Proposal
from cases.queries.calls import called_first
from cases.queries.duty import rosters_of
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.clocks import iso
from cases.vocabulary.errors import WatchbillError
from cases.vocabulary.playbooks import PLAYBOOKS, playbook_of
from cases.vocabulary.stages import Stage

MOST_AT_ONCE = 100
Cause = Escalation.Cause


@dataclass(frozen=True, kw_only=True)
class Overdue:
    """A locked case that is to be escalated, why, and what its audit keeps of it."""

    case: Case
    cause: Escalation.Cause
    reason: str
    event: str
    data: dict[str, Any]


def escalate_overdue() -> int:
    """Escalate what is overdue and not escalated yet; says how many cases.

    Any number of processes may do this at once. A case that somebody has locked, perhaps to decide
    on it, is left for the next time.
    """
    with transaction.atomic():
        at = business_now()
        found = [*_undecided(at), *_not_adopted(at)]
        called = _called({overdue.case.desk for overdue in found}, at)
        Escalation.objects.bulk_create(
            Escalation(
                case=overdue.case,
                cause=overdue.cause,
                reason=overdue.reason,
                to=called[overdue.case.desk_id],
                started_at=at,
            )
            for overdue in found
        )
        for overdue in found:
            _tell(overdue, called[overdue.case.desk_id], at)
    return len(found)


def _called(desks: Collection[Desk], at: datetime) -> Mapping[int, Person]:
    """Desk to who is called there now; its lead where it cannot be told who is on duty."""
    if not desks:
        return {}
    called = {}
    for number, roster in rosters_of(desks, since=at).items():
        try:
            called[number] = called_first(roster.duty_at(at))
        except WatchbillError:
            called[number] = roster.desk.lead
    return called


def _undecided(at: datetime) -> list[Overdue]:
    ready = Proposal.objects.filter(state=Proposal.State.READY)
    late = Case.objects.filter(stage=Stage.WAITING_FOR_REVIEW.value, decide_by__lte=at)
    return [
        Overdue(
            case=case,
            cause=Cause.NOT_DECIDED,
            reason=f"Proposal {_number(case)} was not decided in time.",
            event="decision_overdue",
            data={
                "number": _number(case),
                "decide_by": None if case.decide_by is None else iso(case.decide_by),
            },
        )
        for case in _locked(
            late.prefetch_related(Prefetch("proposals", queryset=ready)), Cause.NOT_DECIDED
        )
    ]


def _not_adopted(at: datetime) -> list[Overdue]:
    late = _effects_not_adopted(at)
    stages = [stage.value for stage in AT_THE_TARGET]
    waiting = Case.objects.filter(Q(stage__in=stages) | Q(blocked_from__in=stages))
    overdue = waiting.filter(Exists(late.filter(decision__case=OuterRef("pk"))))
    locked = _locked(overdue, Cause.NOT_ADOPTED)
    # Asked again now that the cases are locked: the other party may just have taken it up.
    first = {
        effect.decision.case_id: effect for effect in late.filter(decision__case__in=locked)[::-1]
    }
    return [_why_not_adopted(case, first[case.pk]) for case in locked if case.pk in first]


def _effects_not_adopted(at: datetime) -> QuerySet[Effect]:
    """Effects of each case's newest release that are there for longer than adoption may take."""
    allowed = [
        (kind, name, spec.adoption_within)
        for kind, playbook in PLAYBOOKS.items()
        for name, spec in playbook.actions.items()
        if spec.adoption_within is not None
    ]
    too_long = Q(pk=None)
    for kind, name, within in allowed:
        too_long |= Q(
            decision__case__kind=kind, proposed_action__action=name, confirmed_at__lte=at - within
        )
    newer = Decision.objects.filter(
        case=OuterRef("decision__case"), kind=Decision.Kind.RELEASE, pk__gt=OuterRef("decision")
    )
    confirmed = Effect.objects.filter(too_long, ~Exists(newer), state=Effect.State.CONFIRMED)
    return confirmed.select_related("decision__case", "proposed_action").order_by("pk")


def _why_not_adopted(case: Case, effect: Effect) -> Overdue:
    label = playbook_of(case.kind).action(effect.proposed_action.action).adoption_label
    return Overdue(
        case=case,
        cause=Cause.NOT_ADOPTED,
        reason=f"{effect.reference} was carried out and not taken up in time. Awaited: "
        f"{label.lower()}.",
        event="adoption_overdue",
        data={"reference": effect.reference, "awaited": label},
    )


def _locked(overdue: QuerySet[Case], cause: Escalation.Cause) -> Sequence[Case]:
    """Overdue cases, locked; what is escalated for this cause already is left out."""
    running = Escalation.objects.filter(cause=cause, ended_at=None)
    locked = list(
        overdue.filter(~Exists(running.filter(case=OuterRef("pk"))))
        .select_related("desk__lead")
        .select_for_update(skip_locked=True, of=("self",))
        .order_by("decide_by", "id")[:MOST_AT_ONCE]
    )
    # Asked again now that they are locked: the first look may be older than the lock.
    escalated = set(running.filter(case__in=locked).values_list("case_id", flat=True))
    return [case for case in locked if case.pk not in escalated]


def _number(case: Case) -> int | str:
    """The number of the proposal that waits, loaded before."""
    return next((ready.number for ready in case.proposals.all()), "?")


def _tell(overdue: Overdue, to: Person, at: datetime) -> None:
    case = overdue.case
    case.version += 1
    case.changed_at = at
    case.save(update_fields=("version", "changed_at"))
    audit.append(
        case=case,
        by=SYSTEM,
        at=at,
        event=overdue.event,
        data={**overdue.data, "to": str(to)},
    )

"""Ownership never lapses: what happens to a case whose owner is not available.

The system itself looks for such cases. An owner who left, or is away, loses them to the next
available person of the chain. At the end of a shift they stay until somebody accepts them, put
before the next person by name and with the time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from cases import audit
from cases.actions.ownership import ABOUT_THE_OWNER, LEAD_CALLED_AFTER
from cases.clock import business_now
from cases.models import Case, Desk, Escalation, Person
from cases.models.case import CaseQuerySet, open_cases
from cases.queries.duty import OFF_SHIFT, Duty, duty_at
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.clocks import iso
from cases.vocabulary.rosters import first_available
from cases.vocabulary.stages import Stage

MOST_AT_ONCE = 1000


@dataclass(frozen=True, kw_only=True)
class Lapse:
    """A case whose owner is not available, why, and who is next; None where nobody is."""

    case: Case
    absence: str
    following: Person | None
    following_why: str

    @property
    def moves(self) -> bool:
        """Whether the case changes hands; at the end of a shift it waits to be accepted instead."""
        return self.absence != OFF_SHIFT and self.following is not None


def lapses(*, duty: Duty, cases: Iterable[Case]) -> list[Lapse]:
    """Those of the cases whose owner is not available on this duty."""
    found = []
    for case in cases:
        absence = "no owner" if case.owner_id is None else duty.absence_of(case.owner_id)
        if not absence:
            continue
        link = first_available(duty.chain(kind=case.kind, case_type=case.case_type))
        person = None if link is None or link.person is None else duty.people[link.person]
        found.append(
            Lapse(
                case=case,
                absence=absence,
                following=person,
                following_why="" if link is None else link.why,
            )
        )
    return found


def open_cases_of(desk: Desk) -> CaseQuerySet:
    """The desk's open cases."""
    return open_cases(Case.objects.filter(desk=desk)).order_by("id")


def keep_owned() -> int:
    """Let no open case be without an available owner or a running escalation; says how many moved.

    For every desk. Any number of processes may do this at once; a case that somebody has locked is
    left for the next time.
    """
    return sum(_keep_owned_at(desk) for desk in Desk.objects.select_related("lead", "manager"))


def _keep_owned_at(desk: Desk) -> int:
    with transaction.atomic():
        at = business_now()
        duty = duty_at(desk=desk, at=at)
        present = [person for person in duty.people if not duty.absence_of(person)]
        lapsed = open_cases_of(desk).exclude(owner__in=present)
        locked = lapsed.select_for_update(skip_locked=True, of=("self",))[:MOST_AT_ONCE]
        found = lapses(duty=duty, cases=locked)
        events = [*_move(found, at), *_escalate(duty, found, at), *_call_next(desk, at)]
        audit.append_many(events=events, by=SYSTEM, at=at)
        _end_settled(desk, present, at)
    return sum(lapse.moves for lapse in found)


def _move(found: Sequence[Lapse], at: datetime) -> list[audit.CaseEvent]:
    events = []
    for lapse in found:
        if not lapse.moves or lapse.following is None:
            continue
        case, before = lapse.case, lapse.case.owner
        case.owner, case.changed_at = lapse.following, at
        case.version += 1
        who = "It had no owner" if before is None else f"{before} is {lapse.absence}"
        events.append(
            _event(
                case,
                "owner_changed",
                to=str(lapse.following),
                before="" if before is None else str(before),
                reason=f"{who}; {lapse.following} is {lapse.following_why}.",
            )
        )
    moved = [lapse.case for lapse in found if lapse.moves]
    Case.objects.bulk_update(moved, ("owner", "changed_at", "version"), batch_size=MOST_AT_ONCE)
    return events


def _escalate(duty: Duty, found: Sequence[Lapse], at: datetime) -> list[audit.CaseEvent]:
    """Start what is not running yet for cases that stay where they are."""
    staying = [lapse for lapse in found if not lapse.moves]
    running = set(
        Escalation.objects.filter(
            case__in=[lapse.case for lapse in staying],
            cause__in=ABOUT_THE_OWNER,
            ended_at=None,
        ).values_list("case_id", flat=True)
    )
    started = [_escalation(duty, lapse, at) for lapse in staying if lapse.case.pk not in running]
    Escalation.objects.bulk_create(started)
    return [
        _event(
            row.case,
            "escalated",
            to=str(row.to),
            cause=row.cause,
            reason=row.reason,
            next_at=None if row.next_at is None else iso(row.next_at),
        )
        for row in started
    ]


def _escalation(duty: Duty, lapse: Lapse, at: datetime) -> Escalation:
    lead, manager = duty.desk.lead, duty.desk.manager or duty.desk.lead
    owner = lapse.case.owner
    if lapse.absence == OFF_SHIFT and lapse.following is not None:
        since = max(duty.shift.starts_at, duty.shift.overlap_until)
        return Escalation(
            case=lapse.case,
            cause=Escalation.Cause.OFF_SHIFT,
            reason=f"{owner} is off shift; {lapse.following} is {lapse.following_why}.",
            to=lapse.following,
            started_at=at,
            next_at=max(at, since) + LEAD_CALLED_AFTER,
            next_to=lead,
        )
    who = "It has no owner" if owner is None else f"{owner} is {lapse.absence}"
    return Escalation(
        case=lapse.case,
        cause=Escalation.Cause.NO_OWNER,
        reason=f"{who}, and nobody of the chain is available.",
        to=lead,
        started_at=at,
        next_at=at + LEAD_CALLED_AFTER,
        next_to=manager,
    )


def _call_next(desk: Desk, at: datetime) -> list[audit.CaseEvent]:
    """Whoever is next is called where the time of the one before is over."""
    overdue = (
        Escalation.objects.filter(case__desk=desk, ended_at=None, next_at__lte=at)
        .select_related("case", "to", "next_to")
        .select_for_update(skip_locked=True, of=("self", "case"))
        .order_by("id")[:MOST_AT_ONCE]
    )
    events = []
    for row in overdue:
        before, row.to = row.to, row.next_to or row.to
        manager = desk.manager or desk.lead
        row.next_to = None if row.to == manager else manager
        row.next_at = None if row.next_to is None else at + LEAD_CALLED_AFTER
        row.save(update_fields=("to", "next_to", "next_at"))
        row.case.version += 1
        row.case.changed_at = at
        row.case.save(update_fields=("version", "changed_at"))
        reason = f"{before} did not take it in time."
        events.append(_event(row.case, "escalated", to=str(row.to), cause=row.cause, reason=reason))
    return events


def _end_settled(desk: Desk, present: Sequence[int], at: datetime) -> None:
    """What was escalated about an owner ends when the case has one who is there, or is closed."""
    running = Escalation.objects.filter(case__desk=desk, cause__in=ABOUT_THE_OWNER, ended_at=None)
    running.filter(case__stage=Stage.CLOSED.value).update(
        ended_at=at, ended_reason="The case is closed."
    )
    running.filter(case__owner__in=present).update(
        ended_at=at, ended_reason="Its owner is available."
    )


def _event(case: Case, event: str, **data: object) -> audit.CaseEvent:
    return audit.CaseEvent(case_id=case.pk, case_version=case.version, event=event, data=data)

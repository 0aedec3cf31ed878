"""Ownership never lapses: what happens to a case whose owner is not available.

The system itself looks for such cases. An owner who left, or is away, loses them to the next
available person of the chain. At the end of a shift they stay until somebody accepts them, put
before the next person by name and with the time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, Q, QuerySet

from cases import audit
from cases.clock import business_now
from cases.models import Case, Desk, Escalation, Person
from cases.models.case import CaseQuerySet, open_cases
from cases.models.escalation import ABOUT_THE_OWNER
from cases.queries.calls import LEAD_CALLED_AFTER, called_after, called_first
from cases.queries.duty import OFF_SHIFT, Duty, duty_at
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.clocks import iso
from cases.vocabulary.errors import WatchbillError
from cases.vocabulary.rosters import first_available

MOST_AT_ONCE = 1000


@dataclass(frozen=True, kw_only=True)
class Lapse:
    """A case whose owner is not available, why, and who is next; None where nobody is.

    `called` is before whom it is put while it stays.
    """

    case: Case
    owner: Person | None
    absence: str
    following: Person | None
    following_why: str
    called: Person

    @property
    def moves(self) -> bool:
        """Whether the case changes hands; at the end of a shift it waits to be accepted instead."""
        return self.absence != OFF_SHIFT and self.following is not None

    @property
    def why(self) -> str:
        """Why its owner cannot answer for it, as half a sentence."""
        return "It has no owner" if self.owner is None else f"{self.owner} is {self.absence}"


def lapses(*, duty: Duty, cases: Iterable[Case]) -> list[Lapse]:
    """Those of the cases whose owner is not available on this duty."""
    found, following, nobody = [], {}, called_first(duty)
    for case in cases:
        absence = "" if case.owner_id is None else duty.absence_of(case.owner_id)
        if case.owner_id is not None and not absence:
            continue
        scope = case.kind, case.case_type
        if scope not in following:
            following[scope] = first_available(duty.chain(kind=scope[0], case_type=scope[1]))
        link = following[scope]
        to = None if link is None or link.person is None else duty.people[link.person]
        found.append(
            Lapse(
                case=case,
                owner=None if case.owner_id is None else duty.people[case.owner_id],
                absence=absence,
                following=to,
                following_why="" if link is None else link.why,
                called=to or nobody,
            )
        )
    return found


def open_cases_of(desk: Desk) -> CaseQuerySet:
    """The desk's open cases."""
    return open_cases(Case.objects.filter(desk=desk)).order_by("id")


def about_the_owner() -> QuerySet[Escalation]:
    """What runs because an owner is not there."""
    return Escalation.objects.filter(cause__in=ABOUT_THE_OWNER, ended_at=None)


def keep_owned() -> int:
    """Let no open case be without an available owner or a running escalation; says how many moved.

    For every desk; one that cannot be told who is on duty holds up no other, and is raised after
    them. Any number of processes may do this at once; a case that somebody has locked is left for
    the next time.
    """
    moved, failed = 0, []
    for desk in Desk.objects.select_related("lead", "manager").order_by("id"):
        try:
            moved += keep_owned_at(desk)
        except WatchbillError as error:
            failed.append(error)
    if failed:
        raise failed[0]
    return moved


def keep_owned_at(desk: Desk) -> int:
    """The same for one desk."""
    with transaction.atomic():
        at = business_now()
        duty = duty_at(desk=desk, at=at)
        found = lapses(duty=duty, cases=_lock_lapsed(duty))
        events = [
            *_move(found),
            *_escalate(duty, found),
            *_end_settled(duty),
            *_call_next(duty),
        ]
        told = {event.case_id for event in events}
        Case.objects.filter(pk__in=told).update(version=F("version") + 1, changed_at=at)
        audit.append_many(events=events, by=SYSTEM, at=at)
    return sum(lapse.moves for lapse in found)


def _lock_lapsed(duty: Duty) -> CaseQuerySet:
    """Cases without an available owner, locked; first those for whom nobody was called yet.

    A case that waits to be accepted after a shift, and for which somebody was called, stays.
    """
    off_shift = [person for person, absence in duty.absences.items() if absence == OFF_SHIFT]
    called = about_the_owner().values("case_id")  # asked once for all, not once for each case
    return (
        open_cases_of(duty.desk)
        .exclude(owner__in=duty.present)
        .annotate(is_called=Q(pk__in=called))
        .exclude(is_called=True, owner__in=off_shift)
        .order_by("is_called", "id")
        .select_for_update(skip_locked=True, of=("self",))[:MOST_AT_ONCE]
    )


def _move(found: Sequence[Lapse]) -> list[audit.CaseEvent]:
    """Cases whose owner is away get the next person."""
    events = []
    gets: dict[Person, list[int]] = {}
    for lapse in found:
        if not lapse.moves or lapse.following is None:
            continue
        gets.setdefault(lapse.following, []).append(lapse.case.pk)
        events.append(
            _event(
                lapse.case,
                "owner_changed",
                to=str(lapse.following),
                before="" if lapse.owner is None else str(lapse.owner),
                reason=f"{lapse.why}; {lapse.following} is {lapse.following_why}.",
            )
        )
    for person, cases in gets.items():
        Case.objects.filter(pk__in=cases).update(owner=person)
    return events


def _escalate(duty: Duty, found: Sequence[Lapse]) -> list[audit.CaseEvent]:
    """Start what is not running yet for cases that stay where they are."""
    staying = [lapse for lapse in found if not lapse.moves]
    # Asked again now that they are locked: the first look may be older than the lock.
    called = about_the_owner().filter(case__in=[lapse.case for lapse in staying])
    running = set(called.values_list("case_id", flat=True))
    started = [_escalation(duty, lapse) for lapse in staying if lapse.case.pk not in running]
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


def _escalation(duty: Duty, lapse: Lapse) -> Escalation:
    at, to = duty.at, lapse.called
    if lapse.absence == OFF_SHIFT and lapse.following is not None:
        cause = Escalation.Cause.OFF_SHIFT
        reason = f"{lapse.why}; {to} is {lapse.following_why}."
        at = max(at, duty.shift.starts_at, duty.shift.overlap_until)
    else:
        cause = Escalation.Cause.NO_OWNER
        reason = f"{lapse.why}, and nobody of the chain is available."
    following = called_after(duty, to)
    return Escalation(
        case=lapse.case,
        cause=cause,
        reason=reason,
        to=to,
        started_at=duty.at,
        next_at=None if following is None else at + LEAD_CALLED_AFTER,
        next_to=following,
    )


def _call_next(duty: Duty) -> list[audit.CaseEvent]:
    """Whoever is next is called where the one before did not come in time, or is away."""
    away = [person for person, absence in duty.absences.items() if absence and absence != OFF_SHIFT]
    overdue = (
        Escalation.objects.filter(case__desk=duty.desk, ended_at=None)
        .filter(Q(next_at__lte=duty.at) | Q(to__in=away))
        .select_related("case", "to")
        .select_for_update(skip_locked=True, of=("self", "case"))
        .order_by(F("next_at").asc(nulls_last=True), "id")[:MOST_AT_ONCE]
    )
    events = []
    for row in overdue:
        following = called_after(duty, row.to)
        is_due = row.next_at is not None and row.next_at <= duty.at
        if not is_due and (following is None or duty.absence_of(following.pk)):
            continue
        before, row.to = row.to, following or row.to
        row.next_to = called_after(duty, row.to)
        row.next_at = None if row.next_to is None else duty.at + LEAD_CALLED_AFTER
        row.save(update_fields=("to", "next_to", "next_at"))
        absence = duty.absence_of(before.pk) if before.pk in away else ""
        reason = f"{before} is {absence}." if absence else f"{before} did not take it in time."
        events.append(_event(row.case, "escalated", to=str(row.to), cause=row.cause, reason=reason))
    return events


def _end_settled(duty: Duty) -> list[audit.CaseEvent]:
    """What was escalated about an owner ends when the case has one who is there."""
    settled = list(
        about_the_owner()
        .filter(case__desk=duty.desk, case__owner__in=duty.present)
        .select_related("case")
        .select_for_update(skip_locked=True, of=("self", "case"))
        .order_by("id")[:MOST_AT_ONCE]
    )
    reason = "Its owner is available."
    Escalation.objects.filter(pk__in=[row.pk for row in settled]).update(
        ended_at=duty.at, ended_reason=reason
    )
    return [_event(row.case, "escalation_ended", reason=reason) for row in settled]


def _event(case: Case, event: str, **data: object) -> audit.CaseEvent:
    return audit.CaseEvent(case_id=case.pk, case_version=case.version + 1, event=event, data=data)

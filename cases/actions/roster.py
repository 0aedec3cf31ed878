"""Setting shifts, watches, leave and ownership rules. Named people only; each change is audited.

Nothing here moves a case by itself: `keep_owned` in `cases.actions.duty` does, from what stands.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.db import transaction

from cases import audit, policies
from cases.actions.change import actor_for
from cases.models import Desk, Leave, OwnershipRule, Person, RosterEntry, ShiftPattern
from cases.vocabulary.clocks import iso
from cases.vocabulary.errors import Conflict, InvalidInput, NotFound
from cases.vocabulary.playbooks import type_of
from cases.vocabulary.rosters import Position
from cases.vocabulary.shifts import DAYS, ShiftStart, check_starts


def set_shifts(*, desk: Desk, starts: Sequence[ShiftStart], by: Person, at: datetime) -> None:
    """Make these the desk's shifts; those of the same name keep their roster.

    Raises `InvalidInput` for a week that makes no sense, and `Conflict` when a shift would vanish
    that has people on its roster.
    """
    policies.check_may_set_roster(person=by)
    check_starts(starts)
    names = {start.name for start in starts}
    with transaction.atomic():
        gone = ShiftPattern.objects.select_for_update().filter(desk=desk).exclude(name__in=names)
        crewed = gone.filter(entries__isnull=False).first()
        if crewed is not None:
            raise Conflict(f"{crewed} has people on its roster. Keep it, or give it no days.")
        gone.delete()
        for start in starts:
            ShiftPattern.objects.update_or_create(
                desk=desk,
                name=start.name,
                defaults={
                    "starts_at": start.at,
                    "days": sorted(start.days),
                    "overlap_minutes": int(start.overlap.total_seconds() // 60),
                },
            )
        _record(by, at, "shifts_set", desk=str(desk), shifts=[_in_words(start) for start in starts])


@dataclass(frozen=True, kw_only=True)
class NewWatch:
    """Who is to stand in a position of a shift, and on which local dates."""

    shift_id: int
    position: Position
    person: Person | None
    first_day: date
    last_day: date | None
    days: frozenset[int]
    reason: str = ""


def put_on_watch(*, wanted: NewWatch, by: Person, at: datetime) -> RosterEntry:
    """Put a person (or nobody) in a position of a shift; a swap is such an entry for one day.

    Raises `Refused` when the person may not own cases, `InvalidInput` for days that make no sense.
    """
    policies.check_may_set_roster(person=by)
    if wanted.person is not None:
        policies.check_may_own(person=wanted.person)
    if not wanted.days or not wanted.days <= set(range(len(DAYS))):
        raise InvalidInput("Choose at least one day of the week.")
    if wanted.last_day is not None and wanted.last_day < wanted.first_day:
        raise InvalidInput("The last day lies before the first one.")
    with transaction.atomic():
        shift = ShiftPattern.objects.select_related("desk").filter(pk=wanted.shift_id).first()
        if shift is None:
            raise NotFound("There is no such shift.")
        entry = RosterEntry.objects.create(
            shift=shift,
            position=wanted.position.value,
            person=wanted.person,
            first_day=wanted.first_day,
            last_day=wanted.last_day,
            days=sorted(wanted.days),
            reason=wanted.reason[:200],
            set_by=str(by),
            set_at=at,
        )
        _record(
            by,
            at,
            "watch_set",
            desk=str(shift.desk),
            shift=str(shift),
            position=wanted.position.value,
            person="nobody" if wanted.person is None else str(wanted.person),
            first_day=wanted.first_day.isoformat(),
            last_day="" if wanted.last_day is None else wanted.last_day.isoformat(),
            days=[DAYS[day] for day in sorted(wanted.days)],
            reason=wanted.reason,
        )
    return entry


def set_leave(
    *, person: Person, starts_at: datetime, ends_at: datetime, reason: str, by: Person, at: datetime
) -> Leave:
    """The person is away from one instant up to, and without, the other."""
    if by != person:
        policies.check_may_set_roster(person=by)
    if ends_at <= starts_at:
        raise InvalidInput("Leave ends after it starts.")
    with transaction.atomic():
        leave = Leave.objects.create(
            person=person,
            starts_at=starts_at,
            ends_at=ends_at,
            reason=reason[:200],
            set_by=str(by),
            set_at=at,
        )
        _record(
            by,
            at,
            "leave_set",
            person=str(person),
            starts_at=iso(starts_at),
            ends_at=iso(ends_at),
            reason=reason,
        )
    return leave


def cancel_leave(*, leave_id: int, by: Person, at: datetime) -> None:
    """The person is there after all."""
    with transaction.atomic():
        leave = Leave.objects.select_for_update().select_related("person").filter(pk=leave_id)
        found = leave.first()
        if found is None:
            raise NotFound("There is no such leave.")
        if by != found.person:
            policies.check_may_set_roster(person=by)
        if found.cancelled_at is not None:
            raise Conflict(f"{found.cancelled_by} cancelled this leave already.")
        found.cancelled_by, found.cancelled_at = str(by), at
        found.save(update_fields=("cancelled_by", "cancelled_at"))
        _record(by, at, "leave_cancelled", person=str(found.person))


def set_ownership_rule(
    *,
    desk: Desk,
    kind: str,
    case_type: str,
    position: Position | None,
    person: Person | None,
    by: Person,
    at: datetime,
) -> None:
    """Say who is asked first for cases of a kind or type: a position or a person, not both.

    Neither takes the rule away. Raises `InvalidInput` for an unknown kind or type.
    """
    policies.check_may_set_roster(person=by)
    if kind and case_type:
        type_of(kind=kind, code=case_type)
    if position is not None and person is not None:
        raise InvalidInput("A rule names a position or a person, not both.")
    if person is not None:
        policies.check_may_own(person=person)
    scope: dict[str, Any] = {"desk": desk, "kind": kind, "case_type": case_type}
    with transaction.atomic():
        if position is None and person is None:
            OwnershipRule.objects.filter(**scope).delete()
        else:
            OwnershipRule.objects.update_or_create(
                **scope,
                defaults={
                    "position": "" if position is None else position.value,
                    "person": person,
                    "set_by": str(by),
                    "set_at": at,
                },
            )
        asked = position.value if position is not None else str(person) if person else ""
        _record(
            by,
            at,
            "ownership_rule_set",
            desk=str(desk),
            kind=kind,
            case_type=case_type,
            asked_first=asked,
        )


def set_desk_leads(
    *, desk: Desk, lead: Person, manager: Person | None, by: Person, at: datetime
) -> None:
    """Say who leads the desk, and who is called when the lead is not there."""
    policies.check_may_set_roster(person=by)
    for person in (lead, manager):
        if person is not None:
            policies.check_may_own(person=person)
    with transaction.atomic():
        Desk.objects.filter(pk=desk.pk).update(lead=lead, manager=manager)
        _record(
            by,
            at,
            "desk_leads_set",
            desk=str(desk),
            lead=str(lead),
            manager="" if manager is None else str(manager),
        )


def _in_words(start: ShiftStart) -> str:
    named = [DAYS[day] for day in sorted(start.days)]
    return (
        f"{start.name} {start.at:%H:%M} {'daily' if len(named) == len(DAYS) else ', '.join(named)}"
    )


def _record(by: Person, at: datetime, event: str, **data: object) -> None:
    audit.append_to_house(by=actor_for(by), at=at, event=event, data=data)

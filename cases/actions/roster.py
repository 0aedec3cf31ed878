"""Setting shifts, watches, leave and ownership rules. Named people only; each change is audited.

Nothing here moves a case by itself: `keep_owned` in `cases.actions.lapses` does, from what stands.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from cases import audit, policies
from cases.actions.change import actor_for
from cases.actions.house import in_house
from cases.models import Desk, Leave, OwnershipRule, Person, RosterEntry, ShiftPattern
from cases.vocabulary.clocks import iso
from cases.vocabulary.errors import Conflict, InvalidInput, NotFound
from cases.vocabulary.playbooks import playbook_of, type_of
from cases.vocabulary.rosters import Position
from cases.vocabulary.shifts import DAYS, ShiftStart, check_starts
from cases.vocabulary.texts import plain_text

LONGEST_REASON = 200
ONE_WEEK = 7


def set_shifts(
    *, desk: Desk, starts: Sequence[ShiftStart], by: Person, at: datetime, reason: str = ""
) -> None:
    """Make these the desk's shifts; those of the same name keep their roster.

    Raises `InvalidInput` for a week that makes no sense, and `Conflict` when a shift would vanish
    that has people on its roster.
    """
    check_starts(starts)
    names = {start.name for start in starts}
    with in_house(by=by, at=at, act="set the shifts of a desk") as moment:
        policies.check_may_set_roster(person=by)
        gone = ShiftPattern.objects.filter(desk=desk).exclude(name__in=names)
        crewed = gone.filter(entries__isnull=False).first()
        if crewed is not None:
            raise Conflict(f"{crewed} has a roster, so it stays. Change its time or days instead.")
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
        words = [_in_words(start) for start in starts]
        _record(by, moment, "shifts_set", desk=str(desk), shifts=words, reason=_said(reason))


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
    said = _said(wanted.reason)
    with in_house(by=by, at=at, act="put somebody on watch") as moment:
        policies.check_may_set_roster(person=by)
        if wanted.person is not None:
            policies.check_may_own(person=wanted.person)
        shift = ShiftPattern.objects.select_related("desk").filter(pk=wanted.shift_id).first()
        if shift is None:
            raise NotFound("There is no such shift.")
        _check_days(wanted, shift)
        entry = RosterEntry.objects.create(
            shift=shift,
            position=wanted.position.value,
            person=wanted.person,
            first_day=wanted.first_day,
            last_day=wanted.last_day,
            days=sorted(wanted.days),
            reason=said,
            set_by=str(by),
            set_at=moment,
        )
        _record(
            by,
            moment,
            "watch_set",
            desk=str(shift.desk),
            shift=str(shift),
            position=wanted.position.value,
            person="nobody" if wanted.person is None else str(wanted.person),
            first_day=wanted.first_day.isoformat(),
            last_day="" if wanted.last_day is None else wanted.last_day.isoformat(),
            days=[DAYS[day] for day in sorted(wanted.days)],
            reason=said,
        )
    return entry


def _check_days(wanted: NewWatch, shift: ShiftPattern) -> None:
    """Raise `InvalidInput` when the shift starts on none of the days."""
    if not wanted.days or not wanted.days <= set(range(len(DAYS))):
        raise InvalidInput("Choose at least one day of the week.")
    if wanted.last_day is not None and wanted.last_day < wanted.first_day:
        raise InvalidInput("The last day lies before the first one.")
    week = [wanted.first_day + timedelta(days=day) for day in range(ONE_WEEK)]
    starts = wanted.days & set(shift.days)
    if not any(
        day.weekday() in starts for day in week if wanted.last_day is None or day <= wanted.last_day
    ):
        raise InvalidInput(f"{shift} starts on none of these days.")


def set_leave(
    *, person: Person, starts_at: datetime, ends_at: datetime, reason: str, by: Person, at: datetime
) -> Leave:
    """The person is away from one instant up to, and without, the other."""
    said = _said(reason)
    if ends_at <= starts_at:
        raise InvalidInput("Leave ends after it starts.")
    with in_house(by=by, at=at, act=f"set leave of {person}") as moment:
        policies.check_may_set_roster(person=by)
        if ends_at <= moment:
            raise InvalidInput("This leave would be over already.")
        leave = Leave.objects.create(
            person=person,
            starts_at=starts_at,
            ends_at=ends_at,
            reason=said,
            set_by=str(by),
            set_at=moment,
        )
        _record(
            by,
            moment,
            "leave_set",
            person=str(person),
            starts_at=iso(starts_at),
            ends_at=iso(ends_at),
            reason=said,
        )
    return leave


def cancel_leave(*, leave_id: int, by: Person, at: datetime, reason: str = "") -> None:
    """The person is there after all."""
    with in_house(by=by, at=at, act="cancel leave") as moment:
        policies.check_may_set_roster(person=by)
        found = Leave.objects.select_related("person").filter(pk=leave_id).first()
        if found is None:
            raise NotFound("There is no such leave.")
        if found.cancelled_at is not None:
            raise Conflict(f"{found.cancelled_by} cancelled this leave already.")
        found.cancelled_by, found.cancelled_at = str(by), moment
        found.save(update_fields=("cancelled_by", "cancelled_at"))
        _record(by, moment, "leave_cancelled", person=str(found.person), reason=_said(reason))


@dataclass(frozen=True, kw_only=True)
class NewRule:
    """Who is asked first for cases of a kind or type; empty means all.

    A position or a person, not both; neither takes the rule away.
    """

    kind: str
    case_type: str
    position: Position | None
    person: Person | None

    @property
    def asked(self) -> str:
        """Who is asked first, in words; empty for nobody in particular."""
        return self.position.value if self.position else str(self.person or "")

    def check(self) -> None:
        """Raise `InvalidInput` for an unknown kind or type, or more than one to be asked."""
        if self.kind and self.case_type:
            type_of(kind=self.kind, code=self.case_type)
        elif self.kind:
            playbook_of(self.kind)
        elif self.case_type:
            raise InvalidInput("A rule for a type names its kind too. Choose it from the list.")
        if self.position is not None and self.person is not None:
            raise InvalidInput("A rule names a position or a person, not both.")
        if self.person is not None:
            policies.check_may_own(person=self.person)


def set_ownership_rule(
    *, desk: Desk, wanted: NewRule, by: Person, at: datetime, reason: str = ""
) -> None:
    """Say who is asked first for cases of a kind or type at a desk."""
    scope: dict[str, Any] = {"desk": desk, "kind": wanted.kind, "case_type": wanted.case_type}
    with in_house(by=by, at=at, act="set an ownership rule") as moment:
        policies.check_may_set_roster(person=by)
        wanted.check()
        if not wanted.asked:
            OwnershipRule.objects.filter(**scope).delete()
        else:
            OwnershipRule.objects.update_or_create(
                **scope,
                defaults={
                    "position": wanted.position.value if wanted.position else "",
                    "person": wanted.person,
                    "set_by": str(by),
                    "set_at": moment,
                },
            )
        _record(
            by,
            moment,
            "ownership_rule_set",
            **scope | {"desk": str(desk)},
            asked_first=wanted.asked,
            reason=_said(reason),
        )


def set_desk_leads(
    *,
    desk: Desk,
    lead: Person,
    manager: Person | None,
    by: Person,
    at: datetime,
    reason: str = "",
) -> None:
    """Say who leads the desk, and who is called when the lead is not there."""
    with in_house(by=by, at=at, act="set the lead and manager of a desk") as moment:
        policies.check_may_set_roster(person=by)
        for person in (lead, manager):
            if person is not None:
                policies.check_may_own(person=Person.objects.get(pk=person.pk))
        Desk.objects.filter(pk=desk.pk).update(lead=lead, manager=manager)
        _record(
            by,
            moment,
            "desk_leads_set",
            desk=str(desk),
            lead=str(lead),
            manager="" if manager is None else str(manager),
            reason=_said(reason),
        )


def _said(reason: str) -> str:
    """The reason as it can be kept; refused rather than cut."""
    said = plain_text(reason)
    if len(said) > LONGEST_REASON:
        raise InvalidInput(f"A reason is at most {LONGEST_REASON} characters.")
    return said


def _in_words(start: ShiftStart) -> str:
    named = [DAYS[day] for day in sorted(start.days)]
    return (
        f"{start.name} {start.at:%H:%M} {'daily' if len(named) == len(DAYS) else ', '.join(named)}"
    )


def _record(by: Person, at: datetime, event: str, **data: object) -> None:
    audit.append_to_house(by=actor_for(by), at=at, event=event, data=data)

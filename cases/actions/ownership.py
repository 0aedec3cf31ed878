"""Who answers for a case: people take, assign, hand back and escalate. Agents never own.

What nobody does in time the system does: see `cases.actions.lapses`.
"""

from datetime import datetime
from types import EllipsisType

from cases import policies
from cases.actions.change import Change, by_person
from cases.models import Escalation, Person
from cases.models.escalation import ABOUT_THE_OWNER
from cases.queries.calls import LEAD_CALLED_AFTER, called_after, called_first
from cases.queries.duty import duty_at
from cases.vocabulary.errors import Conflict
from cases.vocabulary.rosters import first_available
from cases.vocabulary.texts import reason_given


def take_case(
    *, case_id: int, by: Person, at: datetime, seen_owner_id: int | None | EllipsisType = ...
) -> None:
    """The person becomes the owner; harmless when they already are.

    `seen_owner_id` is who owned it on the person's screen: when someone else took it since, the
    claim is refused with their name (`Conflict`).
    """
    with by_person(case_id=case_id, by=by, at=at, act="take the case") as change:
        policies.check_may_own(person=by)
        owner = change.case.owner
        if owner != by and seen_owner_id is not ... and change.case.owner_id != seen_owner_id:
            raise Conflict(
                f"{owner} took this case meanwhile. Ask them, or a lead, to hand it over."
            )
        move_to(change, by, reason="Taken.")


def assign_case(*, case_id: int, to: Person, by: Person, at: datetime) -> None:
    """Make `to` the owner. Raises `Refused` when `to` may not own or `by` may not assign."""
    with by_person(case_id=case_id, by=by, at=at, act=f"assign the case to {to}") as change:
        policies.check_may_decide(person=by)
        policies.check_may_own(person=to)
        move_to(change, to, reason="Taken." if to == by else f"Assigned by {by}.")


def hand_back(*, case_id: int, by: Person, at: datetime, reason: str) -> Person:
    """The owner gives the case back; it goes to the next available person of its chain.

    Answers who that is. Raises `Conflict` when nobody else is available.
    """
    said = reason_given(reason, missing="Say why; whoever gets the case reads it.")
    with by_person(case_id=case_id, by=by, at=at, act="hand the case back") as change:
        case = change.case
        if case.owner_id != by.pk:
            raise Conflict(
                f"This case is owned by {case.owner or 'nobody'}; only they hand it back."
            )
        duty = duty_at(desk=case.desk, at=change.at)
        chain = duty.chain(kind=case.kind, case_type=case.case_type)
        following = first_available([link for link in chain if link.person != by.pk])
        if following is None or following.person is None:
            raise Conflict("Nobody else is available. Escalate the case instead.")
        to = duty.people[following.person]
        move_to(change, to, reason=f"{by} handed it back: {said}")
    return to


def escalate_to_lead(*, case_id: int, by: Person, at: datetime, reason: str) -> Person:
    """Put the case before the desk's lead now; the owner stays until somebody takes it.

    Answers before whom it is: the manager, or another lead, where the lead is not there.
    """
    said = reason_given(reason, missing="Say what the lead is to do.")
    with by_person(case_id=case_id, by=by, at=at, act="escalate the case") as change:
        policies.check_may_decide(person=by)
        return put_before_lead(change, by=by, said=said)


def put_before_lead(change: Change, *, by: Person, said: str) -> Person:
    """Start an escalation by a person; answers to whom. Raises `Conflict` while one runs."""
    case = change.case
    cause = Escalation.Cause.BY_PERSON
    if case.escalations.filter(cause=cause, ended_at=None).exists():
        raise Conflict("This case is before the lead already.")
    duty = duty_at(desk=case.desk, at=change.at)
    to = called_first(duty)
    following = called_after(duty, to)
    Escalation.objects.create(
        case=case,
        cause=cause,
        reason=f"{by}: {said}"[:300],
        to=to,
        started_at=change.at,
        next_at=None if following is None else change.at + LEAD_CALLED_AFTER,
        next_to=following,
    )
    change.record("escalated", to=str(to), cause=cause.value, reason=said)
    return to


def move_to(change: Change, to: Person, *, reason: str) -> None:
    """Give the case to its new owner then and there; ends what was escalated about the old one."""
    before = change.case.owner
    if before == to:
        change.nothing_to_do()
        return
    change.case.owner = to
    change.record(
        "owner_changed", to=str(to), before="" if before is None else str(before), reason=reason
    )
    for cause in (*ABOUT_THE_OWNER, Escalation.Cause.BY_PERSON):
        running = change.case.escalations.filter(cause=cause, ended_at=None)
        running.update(ended_at=change.at, ended_reason=f"{to} owns the case.")

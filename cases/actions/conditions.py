"""Standing conditions: leads and admins open and close them, with a reason, audited.

One that stops releases is asked when a person releases, when work is claimed, and again right
before an attempt. What was released stays released; it goes on when the condition is closed, and
facts are read again before anything is sent.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from cases import audit, policies
from cases.actions.change import actor_for
from cases.actions.house import in_house
from cases.models import AgentIdentity, Case, Desk, Person, SourceRecord, StandingCondition
from cases.vocabulary.errors import Conflict, InvalidInput, NotFound
from cases.vocabulary.shifts import WallTime, chosen_instant
from cases.vocabulary.texts import plain_text, reason_given

LONGEST_TITLE = 200
REFUSED = "condition_refused"


@dataclass(frozen=True, kw_only=True)
class NewCondition:
    """A condition as it was written down; `desk` None means every desk.

    `system` names the outside system it is about, or is empty. `review` is when somebody looks
    whether it still holds.
    """

    sort: str
    title: str
    desk: Desk | None
    detail: str = ""
    system: str = ""
    blocks_releases: bool = False
    review: WallTime | None = None


def open_condition(
    *, wanted: NewCondition, by: Person | AgentIdentity, at: datetime
) -> StandingCondition:
    """Put a condition on every page and sheet until it is closed.

    When this returns and it stops releases, no attempt begins any more. Raises `Refused` for people
    who may not and for agents, and `InvalidInput` for what cannot be meant.
    """
    with in_house(by=by, at=at, act="open a condition", refused_as=REFUSED) as moment:
        policies.check_may_set_conditions(person=by)
        title = _checked_title(wanted)
        if wanted.blocks_releases:
            _lock_gate("pg_advisory_xact_lock")
        condition = StandingCondition.objects.create(
            desk=wanted.desk,
            sort=wanted.sort,
            title=title,
            detail=plain_text(wanted.detail),
            system=wanted.system,
            blocks_releases=wanted.blocks_releases,
            opened_by=str(by),
            opened_at=moment,
            review_at=None if wanted.review is None else chosen_instant(wanted.review),
        )
        _record(condition, "condition_opened", by=by, at=moment, reason=condition.detail)
    return condition


def _checked_title(wanted: NewCondition) -> str:
    """What holds, in a few words; a misspelt system would hold nothing, and be believed."""
    title = reason_given(wanted.title, missing="Say what holds, in a few words.")
    if len(title) > LONGEST_TITLE:
        raise InvalidInput(f"A title is at most {LONGEST_TITLE} characters; the rest is detail.")
    if wanted.sort not in StandingCondition.Sort:
        raise InvalidInput("Choose what kind of condition it is.")
    known = SourceRecord.objects.values_list("system", flat=True).distinct()
    if wanted.system and wanted.system not in known:
        named = ", ".join(sorted(known))
        raise InvalidInput(f"No case reads from {wanted.system!r}. Known: {named}.")
    return title


def close_condition(
    *, condition_id: int, reason: str, by: Person | AgentIdentity, at: datetime
) -> None:
    """Close a condition; what it held goes on, on facts read anew.

    Raises `Conflict`, naming who, when it was closed before.
    """
    with in_house(by=by, at=at, act="close a condition", refused_as=REFUSED) as moment:
        policies.check_may_set_conditions(person=by)
        said = reason_given(
            reason, missing="Say why it no longer holds; everyone at the desk reads it."
        )
        condition = StandingCondition.objects.filter(pk=condition_id).first()
        if condition is None:
            raise NotFound(f"There is no condition {condition_id}.")
        if condition.closed_at is not None:
            raise Conflict(f"{condition.closed_by} closed this condition already.")
        condition.closed_by, condition.closed_at, condition.closed_reason = str(by), moment, said
        condition.save(update_fields=("closed_by", "closed_at", "closed_reason"))
        _record(condition, "condition_closed", by=by, at=moment, reason=said)


def what_holds(case: Case) -> StandingCondition | None:
    """The condition that stops releases of this case, or None.

    None of that kind is opened before the caller's transaction ends, so the answer stays true.
    """
    _lock_gate("pg_advisory_xact_lock_shared")
    return StandingCondition.objects.holding(case).first()


def _lock_gate(function: str) -> None:
    """Keep opening a condition and beginning an attempt apart, until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(hashtext('watchbill.standing_conditions'))")


def _record(
    condition: StandingCondition,
    event: str,
    *,
    by: Person | AgentIdentity,
    at: datetime,
    reason: str,
) -> None:
    audit.append_to_house(
        by=actor_for(by),
        at=at,
        event=event,
        data={
            "condition": str(condition),
            "desk": "" if condition.desk is None else str(condition.desk),
            "system": condition.system,
            "blocks_releases": condition.blocks_releases,
            "reason": reason,
        },
    )

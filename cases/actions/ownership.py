"""Who answers for a case. Agents never do."""

from datetime import datetime

from cases import policies
from cases.actions.change import by_person
from cases.models import Person


def take_case(*, case_id: int, by: Person, at: datetime) -> None:
    """The person becomes the owner; harmless when they already are."""
    assign_case(case_id=case_id, to=by, by=by, at=at)


def assign_case(*, case_id: int, to: Person, by: Person, at: datetime) -> None:
    """Make `to` the owner. Raises `Refused` when `to` may not own or `by` may not assign."""
    with by_person(case_id=case_id, by=by, at=at, act=f"assign the case to {to}") as change:
        policies.check_may_decide(person=by)
        policies.check_may_own(person=to)
        before = change.case.owner
        if before == to:
            change.nothing_to_do()
            return
        change.case.owner = to
        change.record(
            "owner_changed",
            to=str(to),
            before="" if before is None else str(before),
            reason="Taken." if to == by else "Assigned.",
        )

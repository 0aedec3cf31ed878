"""Goals of a case: people add their own, and settle or drop any (P29)."""

from collections.abc import Mapping
from datetime import datetime

from cases import policies
from cases.actions.change import Change, by_person
from cases.actions.evidence import untrusted
from cases.models import Case, Goal, Person
from cases.queries.goals import GoalStanding, goals_of
from cases.queries.sheets import sheet_of
from cases.vocabulary.errors import Conflict, InvalidInput, NotFound
from cases.vocabulary.playbooks import playbook_of, type_of
from cases.vocabulary.texts import reason_given

LONGEST_LABEL = 200
SETTLED = {Goal.State.ACHIEVED: "goal_achieved", Goal.State.DROPPED: "goal_dropped"}


def write_down_goals(case: Case, *, at: datetime) -> None:
    """Write down what the playbook wants of a new case; the caller created it just now."""
    playbook = playbook_of(case.kind)
    keys = type_of(kind=case.kind, code=case.case_type).goals
    Goal.objects.bulk_create(
        Goal(case=case, key=key, label=playbook.goals[key].label, added_at=at) for key in keys
    )


def add_goal(*, case_id: int, label: str, by: Person, at: datetime) -> None:
    """Add a goal that only people settle; the case stays open until they do."""
    said = reason_given(label, missing="Say what has to be achieved.")
    if len(said) > LONGEST_LABEL:
        raise InvalidInput(f"A goal is at most {LONGEST_LABEL} characters.")
    with by_person(case_id=case_id, by=by, at=at, act="add a goal") as change:
        policies.check_may_write(person=by)
        if any(goal.label == said for goal in current_goals(change.case)):
            raise Conflict("This goal is on the case already.")
        Goal.objects.create(case=change.case, label=said, added_by=str(by), added_at=change.at)
        change.record("goal_added", goal=said)


def settle_goal(
    *, case_id: int, reference: str, state: Goal.State, reason: str, by: Person, at: datetime
) -> None:
    """Say that a goal is achieved and how, or drop it and say why; `state` is one of the two.

    Raises `NotFound` for a goal the case does not have, and `Conflict` for one that is settled.
    """
    with by_person(case_id=case_id, by=by, at=at, act="settle a goal") as change:
        policies.check_may_write(person=by)
        _settle(change, reference=reference, state=state, reason=reason, by=by)


def drop_goals(change: Change, *, drops: Mapping[str, str], by: Person) -> None:
    """Drop goals, each by its reference with its own reason, as a part of closing the case."""
    for reference, reason in drops.items():
        _settle(change, reference=reference, state=Goal.State.DROPPED, reason=reason, by=by)


def _settle(change: Change, *, reference: str, state: Goal.State, reason: str, by: Person) -> None:
    if state not in SETTLED:
        raise InvalidInput("A goal is achieved or dropped.")
    goal = next((goal for goal in current_goals(change.case) if goal.reference == reference), None)
    if goal is None:
        raise NotFound("This case has no such goal.")
    if goal.state is not Goal.State.OPEN:
        raise Conflict(f"“{goal.label}” was {goal.state.lower()} by {goal.by}: {goal.reason}")
    missing = "Say how it was achieved." if state is Goal.State.ACHIEVED else "Say why."
    said = reason_given(reason, missing=f"“{goal.label}”: {missing}")
    row = _row_of(change, goal)
    row.state, row.settled_by, row.settled_at, row.reason = state, str(by), change.at, said
    row.save(update_fields=("state", "settled_by", "settled_at", "reason"))
    change.record(SETTLED[state], goal=goal.label, reason=said)


def _row_of(change: Change, goal: GoalStanding) -> Goal:
    """Its row; a goal that the playbook gained after the case was opened gets one now."""
    if goal.is_own:
        return Goal.objects.get(pk=int(goal.reference), case=change.case)
    row, _ = Goal.objects.get_or_create(
        case=change.case, key=goal.key, defaults={"label": goal.label, "added_at": change.at}
    )
    return row


def current_goals(case: Case) -> tuple[GoalStanding, ...]:
    """The goals of a locked case; facts that cannot be relied on show none of them."""
    return goals_of(case, None if untrusted(case) else sheet_of(case))


def check_goals_settled(case: Case) -> None:
    """Raise `Conflict`, naming them, while goals are neither achieved nor dropped by a person."""
    undone = [f"“{goal.label}”" for goal in current_goals(case) if not goal.is_settled]
    if undone:
        raise Conflict(
            f"Still open: {', '.join(undone)}. Say for each why it is dropped, settle it, or have "
            "the sources read again."
        )

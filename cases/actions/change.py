"""The frame of every action: lock the case, change it through the stage table, audit, save.

`changing` is for people and the system, `working` for an agent holding a grant. Both refuse to end
without an audit event, unless the action said that nothing was to be done.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from cases import audit
from cases.clock import business_now
from cases.models import Case, Person, Run
from cases.vocabulary.actors import Actor, ActorKind
from cases.vocabulary.clocks import iso
from cases.vocabulary.errors import LeaseLost
from cases.vocabulary.stages import Stage, check_transition
from cases.vocabulary.work import Grant


class UnauditedChange(RuntimeError):
    """A programming fault: an action wanted to change a case without saying so in the audit."""


def actor_for(person: Person) -> Actor:
    """The person as the audit keeps them."""
    return Actor(kind=ActorKind.PERSON, name=str(person), identity=str(person.pk))


@dataclass(kw_only=True)
class Change:
    """A change of one locked case in the making."""

    case: Case
    run: Run
    by: Actor
    at: datetime
    request_id: str = ""
    is_audited: bool = False
    is_empty: bool = False

    def record(self, event: str, **data: Any) -> None:
        """Append an audit event; `data` is plain JSON, instants as text."""
        audit.append(
            case=self.case,
            by=self.by,
            at=self.at,
            event=event,
            data=data,
            request_id=self.request_id,
        )
        self.is_audited = True

    def nothing_to_do(self) -> None:
        """The case already stands as wanted; leave it as it is."""
        self.is_empty = True

    def enter(self, stage: Stage, *, reason: str) -> None:
        """Move to a stage, if the table allows; leaving `blocked` clears why it was blocked."""
        case = self.case
        if case.current_stage is stage:
            case.stage_reason = reason
            return
        check_transition(present=case.current_stage, following=stage)
        before, case.stage = case.stage, stage.value
        case.stage_since, case.stage_reason = self.at, reason
        case.blocked_reason, case.blocked_since, case.next_try_at = "", None, None
        self.record("stage_entered", stage=stage.value, before=before, reason=reason)

    def block(self, *, reason: str, next_try_at: datetime) -> None:
        """Block with a reason and the next try; a case without an owner goes to the desk's lead."""
        case = self.case
        first = case.current_stage is not Stage.BLOCKED
        if first:
            check_transition(present=case.current_stage, following=Stage.BLOCKED)
            case.blocked_since, case.stage_since = self.at, self.at
            case.stage, case.blocked_tries = Stage.BLOCKED.value, 0
        case.blocked_reason = case.stage_reason = reason
        case.blocked_tries += 1
        case.next_try_at = next_try_at
        if case.owner is None:
            case.owner = case.desk.lead
            self.record("owner_changed", to=str(case.owner), before="", reason="Blocked, no owner.")
        self.record(
            "case_blocked",
            reason=reason,
            owner=str(case.owner),
            tries=case.blocked_tries,
            next_try_at=iso(next_try_at),
        )
        self.due(next_try_at, reason="The source is tried again.")

    def due(self, when: datetime | None, *, reason: str) -> None:
        """Say when the agent has work on this case next, and why; None for nothing."""
        self.run.due_at, self.run.due_reason = when, reason if when is not None else ""
        self.run.nudged_at = None


@contextmanager
def changing(*, case_id: int, by: Actor, at: datetime, request_id: str = "") -> Iterator[Change]:
    """Change a case for a person or the system; rolls back on any error."""
    with transaction.atomic():
        case = Case.objects.locked(case_id)
        run = Run.objects.select_for_update().get(case=case)
        change = Change(case=case, run=run, by=by, at=at, request_id=request_id)
        yield from _carried_out(change)


@contextmanager
def working(*, grant: Grant, by: Actor) -> Iterator[Change]:
    """Change a case for the agent that holds `grant`; raises `LeaseLost` for any other."""
    with transaction.atomic():
        case = Case.objects.locked(grant.case_id)
        run = Run.objects.select_for_update().get(case=case)
        at = business_now()
        check_grant(run=run, grant=grant, at=at)
        yield from _carried_out(Change(case=case, run=run, by=by, at=at))


def check_grant(*, run: Run, grant: Grant, at: datetime) -> None:
    """Raise `LeaseLost` unless the run's newest token is this grant's and its lease still runs."""
    if run.fencing_token != grant.fencing_token or run.lease_until is None:
        raise LeaseLost(f"Case {run.case_id} was taken over by a newer worker.")
    if run.lease_until <= at:
        raise LeaseLost(f"The lease on case {run.case_id} ended before this step was written.")


def _carried_out(change: Change) -> Iterator[Change]:
    change.case.version += 1
    yield change
    if change.is_empty and not change.is_audited:
        return
    if not change.is_audited:
        raise UnauditedChange("This action changed a case without an audit event.")
    change.case.changed_at = change.at
    change.case.save(force_update=True)
    change.run.save(force_update=True)

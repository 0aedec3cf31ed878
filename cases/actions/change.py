"""The frame of every action: lock the case, change it through the stage table, audit, save.

`changing` is for people and the system, `working` for an agent holding a grant. Both refuse to end
without an audit event, unless the action said that nothing was to be done.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import OperationalError, transaction
from django.db.models import Model
from psycopg.errors import DeadlockDetected, LockNotAvailable

from cases import audit
from cases.clock import business_now
from cases.models import AgentIdentity, Case, Escalation, Person, Run
from cases.vocabulary.actors import SYSTEM, Actor, ActorKind
from cases.vocabulary.clocks import iso
from cases.vocabulary.errors import Busy, Conflict, LeaseLost, Refused, WatchbillError
from cases.vocabulary.stages import STAGES, Stage, check_transition
from cases.vocabulary.work import Grant

FIRST_RETRY = timedelta(seconds=30)
LONGEST_RETRY = timedelta(minutes=10)
LONGEST_ENDED_REASON = 300
OVERDUE_THERE = {
    Stage.WAITING_FOR_REVIEW: Escalation.Cause.NOT_DECIDED,
    Stage.VERIFYING: Escalation.Cause.NOT_ADOPTED,
    Stage.RECONCILING: Escalation.Cause.NOT_ADOPTED,
}
"""What may be overdue where a case stands; elsewhere nothing is waited for any more."""


class UnauditedChange(RuntimeError):
    """A programming fault: an action wanted to change a case without saying so in the audit."""


def actor_for(who: Person | AgentIdentity) -> Actor:
    """A person, or a registered agent, as the audit keeps them."""
    if isinstance(who, AgentIdentity):
        return Actor(kind=ActorKind.AGENT, name=str(who), identity=who.name)
    return Actor(kind=ActorKind.PERSON, name=str(who), identity=str(who.pk))


@dataclass(kw_only=True)
class Change:
    """A change of one locked case in the making: from here on the case is at its next version.

    `rest_until` is when a case that rests is read again, where that is not its desk's next shift
    boundary.
    """

    case: Case
    run: Run
    by: Actor
    at: datetime
    request_id: str = ""
    rest_until: datetime | None = None
    is_audited: bool = False
    is_empty: bool = False

    def __post_init__(self) -> None:
        """Count it."""
        self.case.version += 1

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

    def keep(self, row: Model, *fields: str) -> None:
        """Save these fields of a row that belongs to the case."""
        row.save(update_fields=fields)

    def add_missing(self, rows: Sequence[Model]) -> None:
        """Add rows of one table that belong to the case; those that are there already stay."""
        if rows:
            type(rows[0])._default_manager.bulk_create(rows, ignore_conflicts=True)

    def nothing_to_do(self) -> None:
        """The case already stands as wanted; leave it as it is."""
        self.is_empty = True

    def finish(self) -> bool:
        """Whether it is to be saved; a case about which nothing was said stays as it was.

        Raises `UnauditedChange` unless the action said that nothing was to be done.
        """
        if self.is_audited:
            self.case.changed_at = self.at
        elif not self.is_empty:
            raise UnauditedChange("This action changed a case without an audit event.")
        return self.is_audited

    def enter(self, stage: Stage, *, reason: str) -> None:
        """Move to a stage, if the table allows; leaving `blocked` clears why it was blocked."""
        case = self.case
        if stage is Stage.ESCALATED:
            self.ensure_owner(reason="Escalated, no owner.")
        if case.current_stage is stage:
            case.stage_reason = reason
            return
        check_transition(present=case.current_stage, following=stage)
        awaited = OVERDUE_THERE.get(case.underlying_stage)
        before, case.stage = case.stage, stage.value
        case.stage_since, case.stage_reason = self.at, reason
        case.blocked_reason, case.blocked_from = "", ""
        case.blocked_since, case.next_try_at = None, None
        self.record("stage_entered", stage=stage.value, before=before, reason=reason)
        if stage is Stage.CLOSED:
            self._end_escalations(reason, list(Escalation.Cause))
        elif awaited is not None and OVERDUE_THERE.get(stage) is not awaited:
            self._end_escalations(reason, [awaited])

    def _end_escalations(self, reason: str, causes: Sequence[Escalation.Cause]) -> None:
        """Nobody needs to be called any more: it came after all, or the case is closed."""
        said = (reason or STAGES[self.case.current_stage].label)[:LONGEST_ENDED_REASON]
        running = self.case.escalations.filter(cause__in=causes, ended_at=None)
        if running.update(ended_at=self.at, ended_reason=said):
            self.record("escalation_ended", reason=said)

    def block(self, *, reason: str, at_least: timedelta = timedelta(0)) -> None:
        """Block with a reason; tries are spaced out from 30 s to 10 min, and by `at_least`.

        A case without an owner goes to the desk's lead. One that is out of budget stays as it is:
        there is no further try that could fail.
        """
        case = self.case
        if case.is_out_of_budget:
            self.nothing_to_do()
            return
        self._stand_blocked(reason)
        delay = min(FIRST_RETRY * (1 << min(case.blocked_tries, 8)), LONGEST_RETRY)
        delay = max(delay, at_least)
        case.blocked_tries += 1
        self._try_again_at(self.at + delay, reason)

    def park(self, *, reason: str, until: datetime) -> None:
        """Block and leave it alone until `until`, unless a person asks for a try before that."""
        self._stand_blocked(reason)
        self._try_again_at(until, reason)

    def _try_again_at(self, moment: datetime, reason: str) -> None:
        case = self.case
        case.next_try_at = moment
        self.record(
            "case_blocked",
            reason=reason,
            owner=str(case.owner),
            tries=case.blocked_tries,
            next_try_at=iso(moment),
        )
        self.due(moment, reason="The source is tried again.")

    def stop_for_budget(self, *, reason: str) -> None:
        """Block until a person raises the budget; nothing is tried before that."""
        self._stand_blocked(reason)
        self.case.next_try_at = None
        self.record("case_blocked", reason=reason, owner=str(self.case.owner))
        self.due(None, reason="")

    def _stand_blocked(self, reason: str) -> None:
        """Blocked, remembering where the case stood, and with an owner."""
        case = self.case
        if case.current_stage is not Stage.BLOCKED:
            check_transition(present=case.current_stage, following=Stage.BLOCKED)
            case.blocked_from, case.blocked_since = case.stage, self.at
            case.stage_since = self.at
            case.stage, case.blocked_tries = Stage.BLOCKED.value, 0
        case.blocked_reason = reason
        self.ensure_owner(reason="Blocked, no owner.")

    def ensure_owner(self, *, reason: str) -> None:
        """A case that needs somebody, and has nobody, goes to the desk's lead."""
        case = self.case
        if case.owner_id is None:
            case.owner = case.desk.lead
            self.record("owner_changed", to=str(case.owner), before="", reason=reason)

    def due(self, when: datetime | None, *, reason: str) -> None:
        """Say when the agent has work on this case next, and why; None for nothing."""
        self.run.due_at, self.run.due_reason = when, reason if when is not None else ""
        self.run.nudged_at = None


@contextmanager
def changing(*, case_id: int, by: Actor, at: datetime, request_id: str = "") -> Iterator[Change]:
    """Change an open case for a person or the system; rolls back on any error.

    The business time counts from when the case was locked, so a wait for the lock cannot make a
    decision look earlier than it was. Raises `Conflict` for a closed case, and for one that someone
    else keeps locked.
    """
    with busy_is_a_conflict(), transaction.atomic():
        case = Case.objects.locked(case_id)
        run = Run.objects.select_for_update().get(case=case)
        check_open(case)
        moment = max(at, business_now())
        yield from _carried_out(Change(case=case, run=run, by=by, at=moment, request_id=request_id))


@contextmanager
def working(*, grant: Grant, by: Actor) -> Iterator[Change]:
    """Change an open case for the agent that holds `grant`; raises `LeaseLost` for any other.

    What it writes is committed when it ends, and so before the call to the outside that follows:
    inside another transaction, whose end could undo it, it raises `RuntimeError`.
    """
    with busy_is_a_conflict(), transaction.atomic(durable=True):
        case = Case.objects.locked(grant.case_id)
        run = Run.objects.select_for_update().get(case=case)
        at = business_now()
        check_grant(run=run, grant=grant, at=at)
        check_open(case)
        yield from _carried_out(Change(case=case, run=run, by=by, at=at))


@contextmanager
def while_held(*, case: Case, run: Run, at: datetime) -> Iterator[Change]:
    """Change a case, by the system itself, in a transaction that has locked it and its run."""
    yield from _carried_out(Change(case=case, run=run, by=SYSTEM, at=at))


@contextmanager
def by_person(
    *, case_id: int, by: Person, at: datetime, act: str, request_id: str = ""
) -> Iterator[Change]:
    """Like `changing`, for something a person does: a refusal is kept in the audit too."""
    actor = actor_for(by)
    try:
        with changing(case_id=case_id, by=actor, at=at, request_id=request_id) as change:
            yield change
    except Busy:
        raise  # nothing was refused, and the audit of a locked case cannot be written to either
    except (Refused, Conflict) as error:
        keep_refusal(case_id=case_id, by=actor, at=at, event="act_refused", act=act, error=error)
        raise


def keep_refusal(
    *, case_id: int, by: Actor, at: datetime, event: str, error: WatchbillError, **data: Any
) -> None:
    """Keep a refusal in the case's audit; the case itself stays as it is, version included."""
    with busy_is_a_conflict(), transaction.atomic():
        audit.append(
            case=Case.objects.locked(case_id),
            by=by,
            at=at,
            event=event,
            data={
                "reason": str(error),
                "reason_code": getattr(error, "reason_code", error.code),
                **data,
            },
        )


@contextmanager
def busy_is_a_conflict(what: str = "this case") -> Iterator[None]:
    """Say in words that it stayed locked: after `lock_timeout`, or where two waited in a circle."""
    try:
        yield
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable | DeadlockDetected):
            raise
        raise Busy(f"Someone else is changing {what} right now. Try again.") from error


def check_open(case: Case) -> None:
    """Raise `Conflict` when the case is closed: nothing about it changes any more."""
    if case.current_stage is Stage.CLOSED:
        raise Conflict(f"{case.closed_by} closed this case; nothing about it changes any more.")


def check_grant(*, run: Run, grant: Grant, at: datetime) -> None:
    """Raise `LeaseLost` unless the run's newest token is this grant's and its lease still runs."""
    if run.fencing_token != grant.fencing_token or run.lease_until is None:
        raise LeaseLost(f"Case {run.case_id} was taken over by a newer worker.")
    if run.lease_until <= at:
        raise LeaseLost(f"The lease on case {run.case_id} ended before this step was written.")


def _carried_out(change: Change) -> Iterator[Change]:
    yield change
    if change.finish():
        change.case.save(force_update=True)
        change.run.save(force_update=True)

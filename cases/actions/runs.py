"""The queue of record: what is due, who holds it, and giving it back."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta

from django.db import connection, transaction

from cases.actions.attempts import doubt_open_attempts, give_up_if_overdue, unknown_effects
from cases.actions.boundaries import boundary_after
from cases.actions.budgets import stop_when_used_up
from cases.actions.change import Change, busy_is_a_conflict, check_grant, working
from cases.actions.pauses import standing_pause
from cases.actions.releases import UNSETTLED, effects_in_force, hand_over, release_in_force
from cases.actions.unread import HAS_UNREAD_EVENTS
from cases.clock import business_now
from cases.models import AgentIdentity, Case, Run, StandingCondition
from cases.vocabulary.actors import Actor, ActorKind
from cases.vocabulary.errors import CallsPaused
from cases.vocabulary.lanes import LANES, Lane, lane_of
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import DueCase, Grant

NUDGE_AGAIN_AFTER = timedelta(seconds=3)
MOST_LOST_VISITS = 5

# The lane of a case's work in SQL, made from the one table of lanes.
LANE_OF_STAGE = "CASE c.stage {} END".format(
    " ".join(f"WHEN '{stage.value}' THEN '{lane.value}'" for stage, lane in LANES.items())
)
IS_DUE_AND_FREE = f"""
      cases_run.due_at <= business_now()
      AND (cases_run.lease_until IS NULL OR cases_run.lease_until <= business_now())
      AND NOT EXISTS (
        SELECT 1 FROM cases_pause p JOIN cases_case c ON c.id = cases_run.case_id
        WHERE p.lifted_at IS NULL
          AND p.lane IN ('', {LANE_OF_STAGE})
          AND p.kind IN ('', c.kind)
          AND p.agent IN ('', %(agent)s, %(agent_name)s)
      )
      AND NOT EXISTS (  -- like `StandingConditionQuerySet.holding`
        SELECT 1 FROM cases_standingcondition s JOIN cases_case c ON c.id = cases_run.case_id
        WHERE s.closed_at IS NULL AND s.blocks_releases AND c.stage = 'executing'
          AND (s.desk_id IS NULL OR s.desk_id = c.desk_id)
          AND (s.system = '' OR s.system IN (
            SELECT r.system FROM cases_casesource l JOIN cases_sourcerecord r ON r.id = l.record_id
            WHERE l.case_id = c.id
          ))
      )
      AND NOT EXISTS (  -- what came in is read before anything is carried out
        SELECT 1 FROM cases_case c
        WHERE c.id = cases_run.case_id AND c.stage = 'executing' AND {HAS_UNREAD_EVENTS}
      )
"""

DUE = f"""
UPDATE cases_run run SET nudged_at = clock_timestamp()
FROM cases_case
WHERE cases_case.id = run.case_id AND run.case_id IN (
    SELECT case_id FROM cases_run
    WHERE {IS_DUE_AND_FREE}
      AND (nudged_at IS NULL OR nudged_at <= clock_timestamp() - make_interval(secs => %(again)s))
      AND (%(lane)s = '' OR EXISTS (
        SELECT 1 FROM cases_case c WHERE c.id = cases_run.case_id AND {LANE_OF_STAGE} = %(lane)s
      ))
    ORDER BY nudged_at NULLS FIRST, due_at, case_id
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
RETURNING run.case_id, cases_case.stage
"""

CLAIM = f"""
UPDATE cases_run
SET fencing_token = nextval('fencing_token_seq'), worker = %(worker)s,
    lease_until = business_now() + make_interval(secs => %(lease)s), nudged_at = NULL,
    lost_visits = lost_visits + CASE WHEN worker = '' THEN 0 ELSE 1 END
WHERE case_id = (
    SELECT case_id FROM cases_run
    WHERE case_id = %(case)s
      AND {IS_DUE_AND_FREE}
      AND EXISTS (
        SELECT 1 FROM cases_agentidentity agent JOIN cases_person owner ON owner.id = agent.owner_id
        WHERE agent.name || '@' || agent.version = %(agent)s
          AND agent.is_active AND owner.is_active
      )
    FOR UPDATE SKIP LOCKED
)
RETURNING fencing_token, lease_until, flow_version, lost_visits
"""


def agent_actor(*, name: str, version: str) -> Actor:
    """The agent as the audit keeps it."""
    return Actor(kind=ActorKind.AGENT, name=f"{name}@{version}", identity=name)


def nudge_due(*, agent: Actor, limit: int, lane: Lane | None = None) -> Sequence[DueCase]:
    """Cases whose work is due, free and not paused, of one lane or all.

    Those never named come first, then those named longest ago, so that none is passed over for
    ever. Each is named at most every 3 s, however often this is asked.
    """
    values: dict[str, str | int | float] = {
        "agent": agent.name,
        "agent_name": agent.identity,
        "again": NUDGE_AGAIN_AFTER.total_seconds(),
        "lane": "" if lane is None else lane.value,
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(DUE, values)
        return [DueCase(case_id=row[0], stage=Stage(row[1])) for row in cursor.fetchall()]


def claim(*, case_id: int, agent: Actor, worker: str, lease: timedelta) -> Grant | None:
    """Claim the run if it is due, free and not paused: one statement, one winner, a higher token.

    An agent that is not registered, not active, or without an active human owner gets nothing. A
    case on which five visits in a row were lost is left to its owner instead of a sixth worker.
    """
    values: dict[str, str | int | float] = {
        "case": case_id,
        "agent": agent.name,
        "agent_name": agent.identity,
        "worker": worker,
        "lease": lease.total_seconds(),
    }
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, values)
        row = cursor.fetchone()
    if row is None:
        return None
    grant = Grant(
        case_id=case_id,
        fencing_token=row[0],
        worker=worker,
        lease_until=row[1],
        flow_version=row[2],
    )
    if row[3] >= MOST_LOST_VISITS and _is_parked(grant=grant, by=agent):
        return None
    return grant


def _is_parked(*, grant: Grant, by: Actor) -> bool:
    """Leave the case to a person; False for a closed one, of which only traces are cleared."""
    if Case.objects.get(pk=grant.case_id).current_stage is Stage.CLOSED:
        return False
    why = (
        f"{MOST_LOST_VISITS} visits in a row never came back: the worker died or hung each time. "
        "Look into it, then have the sources read again."
    )
    with working(grant=grant, by=by) as change:
        _hand_over_what_is_under_way(change, why)
        change.park(reason=why, until=boundary_after(change.case, change.at))
    let_go(grant=grant)
    return True


def _hand_over_what_is_under_way(change: Change, why: str) -> None:
    """Nobody will find out what became of it while the case is parked, unless a person does."""
    doubt_open_attempts(change)
    begun = effects_in_force(change.case).filter(state__in=UNSETTLED).first()
    unknown = begun or unknown_effects(change.case).first()
    if unknown is not None and change.case.underlying_stage is not Stage.ESCALATED:
        reason = f"What became of {unknown.reference} is for a person to find out. {why}"
        hand_over(change, release_in_force(change.case), reason)


def renew(*, grant: Grant, agent: Actor, lease: timedelta) -> Grant:
    """Prolong the lease from now for one more step.

    Raises `LeaseLost` when it ended or someone else has it, and `CallsPaused` when a person stopped
    this work. When a budget of the case is used up, the case is blocked instead, so that the step
    finds nothing to do.
    """
    with busy_is_a_conflict(), transaction.atomic():
        case = Case.objects.locked(grant.case_id)  # before its run, as everywhere
        with _held(grant=grant, lease=lease) as run:
            _check_not_stopped(run=run, agent=agent)
            if not stop_when_used_up(case=case, run=run, at=business_now()):
                run.steps += 1
    return replace(grant, lease_until=_end_of(run))


def permit_call(*, grant: Grant, agent: Actor, lease: timedelta, lane: Lane | None = None) -> Grant:
    """Permit one call to the outside and count it; the lease runs anew from now.

    `lane` is that of the call, where it differs from that of the case's stage. Raises like `renew`.
    The pause is asked after the lock, so that a wait for it cannot hide one.
    """
    with _held(grant=grant, lease=lease) as run:
        _check_not_stopped(run=run, agent=agent, lane=lane)
        run.calls += 1
    return replace(grant, lease_until=_end_of(run))


def keep_alive(*, grant: Grant, lease: timedelta) -> None:
    """Prolong the lease from now while a long step goes on; raises `LeaseLost`.

    Not for a pause to stop: a call under way must not look like a dead worker.
    """
    with _held(grant=grant, lease=lease):
        pass


@contextmanager
def _held(*, grant: Grant, lease: timedelta) -> Iterator[Run]:
    """The locked run of a claim that still holds; its lease is prolonged and all of it saved."""
    with busy_is_a_conflict(), transaction.atomic():
        run = Run.objects.select_for_update().get(case_id=grant.case_id)
        now = business_now()
        check_grant(run=run, grant=grant, at=now)
        yield run
        run.lease_until = now + lease
        run.save(update_fields=("lease_until", "steps", "calls"))


def _end_of(run: Run) -> datetime:
    assert run.lease_until is not None  # just prolonged
    return run.lease_until


def _check_not_stopped(*, run: Run, agent: Actor, lane: Lane | None = None) -> None:
    case = Case.objects.only("kind", "stage", "desk").get(pk=run.case_id)
    of_stage = lane_of(case.current_stage)
    for asked in {of_stage, lane or of_stage}:
        check_may_call(lane=asked, kind=case.kind, agent=agent)
    if of_stage is not Lane.EXECUTION:
        return
    held_by = StandingCondition.objects.holding(case).first()
    if held_by is not None:
        raise CallsPaused(f"Nothing is carried out while this stands: {held_by}")


def check_may_call(*, lane: Lane, kind: str, agent: Actor) -> None:
    """Raise `CallsPaused` when a person paused this work, or the agent may not work at all."""
    pause = standing_pause(lane=lane, kind=kind, agent=agent)
    if pause is not None:
        raise CallsPaused(f"{pause.set_by} paused {pause}: {pause.reason}")
    if not _is_active(agent):
        raise CallsPaused(f"{agent.name} is not an active agent, or its owner is not active.")


def _is_active(agent: Actor) -> bool:
    identities = AgentIdentity.objects.filter(
        name=agent.identity, is_active=True, owner__is_active=True
    )
    return any(str(identity) == agent.name for identity in identities)


def let_go(*, grant: Grant) -> None:
    """Give the run back. What is due next was set by the actions; a lost lease is left alone."""
    with transaction.atomic():
        case = Case.objects.locked(grant.case_id)
        run = Run.objects.select_for_update().get(case=case)
        if run.fencing_token != grant.fencing_token:
            return
        run.worker, run.lease_until, run.nudged_at, run.lost_visits = "", None, None, 0
        if case.current_stage is Stage.CLOSED:
            run.due_at, run.due_reason = None, ""
        run.save()


def block(*, grant: Grant, by: Actor, reason: str) -> None:
    """The agent cannot go on for now: block the case, visibly, with spaced-out tries.

    Raises `Conflict` for a closed case, which has nobody to tell.
    """
    with working(grant=grant, by=by) as change:
        if not give_up_if_overdue(change, reason[:400]):
            change.block(reason=reason[:400])


def adopt_flow(*, grant: Grant, by: Actor, flow_version: int) -> Grant:
    """Stamp another flow version on the case, after its saved state was translated to it."""
    with working(grant=grant, by=by) as change:
        before, change.run.flow_version = change.run.flow_version, flow_version
        change.record("flow_migrated", before=before, now=flow_version)
    return replace(grant, flow_version=flow_version)


def hang_up() -> None:
    """Close this thread's connection to the record; the next use opens another."""
    connection.close()

"""The queue of record: what is due, who holds it, and giving it back."""

from collections.abc import Sequence
from datetime import timedelta

from django.db import connection, transaction

from cases.actions.change import check_grant, working
from cases.clock import business_now
from cases.models import Case, Run
from cases.vocabulary.actors import Actor, ActorKind
from cases.vocabulary.lanes import LANES
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import DueCase, Grant

NUDGE_AGAIN_AFTER = timedelta(seconds=3)

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
"""

DUE = f"""
UPDATE cases_run run SET nudged_at = clock_timestamp()
FROM cases_case
WHERE cases_case.id = run.case_id AND run.case_id IN (
    SELECT case_id FROM cases_run
    WHERE {IS_DUE_AND_FREE}
      AND (nudged_at IS NULL OR nudged_at <= clock_timestamp() - make_interval(secs => %(again)s))
    ORDER BY due_at, case_id
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
RETURNING run.case_id, cases_case.stage
"""

CLAIM = f"""
UPDATE cases_run
SET fencing_token = nextval('fencing_token_seq'), worker = %(worker)s,
    lease_until = business_now() + make_interval(secs => %(lease)s), nudged_at = NULL
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
RETURNING fencing_token, lease_until, flow_version
"""


def agent_actor(*, name: str, version: str) -> Actor:
    """The agent as the audit keeps it."""
    return Actor(kind=ActorKind.AGENT, name=f"{name}@{version}", identity=name)


def nudge_due(*, agent: Actor, limit: int) -> Sequence[DueCase]:
    """Cases whose work is due, free and not paused, longest waiting first.

    Each is named at most every 3 s, however often this is asked.
    """
    values: dict[str, str | int | float] = {
        "agent": agent.name,
        "agent_name": agent.identity,
        "again": NUDGE_AGAIN_AFTER.total_seconds(),
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(DUE, values)
        return [DueCase(case_id=row[0], stage=Stage(row[1])) for row in cursor.fetchall()]


def claim(*, case_id: int, agent: Actor, worker: str, lease: timedelta) -> Grant | None:
    """Claim the run if it is due, free and not paused: one statement, one winner, a higher token.

    An agent that is not registered, not active, or without an active human owner gets nothing.
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
    return Grant(
        case_id=case_id,
        fencing_token=row[0],
        worker=worker,
        lease_until=row[1],
        flow_version=row[2],
    )


def renew(*, grant: Grant, lease: timedelta) -> Grant:
    """Prolong the lease from now; raises `LeaseLost` when it ended or someone else has it."""
    with transaction.atomic():
        run = Run.objects.select_for_update().get(case_id=grant.case_id)
        now = business_now()
        check_grant(run=run, grant=grant, at=now)
        run.lease_until = now + lease
        run.save(update_fields=("lease_until",))
    return Grant(
        case_id=grant.case_id,
        fencing_token=grant.fencing_token,
        worker=grant.worker,
        lease_until=run.lease_until,
        flow_version=grant.flow_version,
    )


def let_go(*, grant: Grant) -> None:
    """Give the run back. What is due next was set by the actions; a lost lease is left alone."""
    with transaction.atomic():
        case = Case.objects.locked(grant.case_id)
        run = Run.objects.select_for_update().get(case=case)
        if run.fencing_token != grant.fencing_token:
            return
        run.worker, run.lease_until, run.nudged_at = "", None, None
        if case.current_stage is Stage.CLOSED:
            run.due_at, run.due_reason = None, ""
        run.save()


def visit_failed(*, grant: Grant, by: Actor, reason: str) -> None:
    """A visit ended in an error nobody foresaw: block the case, visibly, with spaced-out tries.

    Raises `Conflict` for a closed case, which has nobody to tell.
    """
    with working(grant=grant, by=by) as change:
        change.block(reason=f"The agent's visit failed: {reason[:300]}")

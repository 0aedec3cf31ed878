"""Cases that the change feed proves unchanged: refreshed without being read again."""

from collections.abc import Sequence
from typing import Any

from django.db import connection

from cases import audit
from cases.actions.boundaries import HANDOVER
from cases.actions.feeds import held_feed
from cases.models import SourceFeed
from cases.queries.refreshing import AT_REST, rests_until, unchanged_cases
from cases.vocabulary.actors import Actor
from cases.vocabulary.refreshing import FeedGrant

PROVED_AT_ONCE = 2000

PROVE = """
WITH chosen AS (
    SELECT c.id, r.lease_until > %(now)s AS is_held
    FROM cases_case c JOIN cases_run r ON r.case_id = c.id
    JOIN cases_handover h ON h.desk_id = c.desk_id AND h.id = ANY(%(handovers)s)
    WHERE c.id = ANY(%(cases)s) AND c.stage = ANY(%(at_rest)s)
      AND (c.refreshed_at IS NULL OR c.refreshed_at < h.opened_at)
    ORDER BY c.id
    FOR UPDATE OF c, r SKIP LOCKED
), rested AS (
    SELECT chosen.*, rest.until, p.number, p.subject_version, p.valid_until FROM chosen
    JOIN cases_case c ON c.id = chosen.id
    LEFT JOIN unnest(%(desks)s::bigint[], %(until)s::timestamptz[]) AS rest(desk, until)
      ON rest.desk = c.desk_id
    LEFT JOIN cases_proposal p ON p.case_id = c.id AND p.state = 'ready'
), woken AS (
    UPDATE cases_run run SET due_at = LEAST(rested.until, rested.valid_until),
        due_reason = %(reason)s, nudged_at = NULL
    FROM rested WHERE run.case_id = rested.id AND NOT coalesce(rested.is_held, false)
      AND rested.until IS NOT NULL
)
UPDATE cases_case c SET refreshed_at = %(read_at)s, changed_at = %(now)s, version = version + 1,
    refresh_due_at = coalesce(rested.until, c.refresh_due_at)
FROM rested WHERE c.id = rested.id
RETURNING c.id, c.version, rested.number, rested.subject_version
"""


def prove_unchanged(*, grant: FeedGrant, by: Actor) -> int:
    """Refresh the cases that the feed proves unchanged, a chunk at a time; says how many.

    Nothing is proved unless the feed was read to its end under this claim.
    """
    with held_feed(grant=grant) as (feed, at):
        if feed.read_at is None or feed.followed_since is None:
            return 0
        found = unchanged_cases(grant=grant, followed_since=feed.followed_since, now=at)
    return sum(
        _prove(grant=grant, by=by, cases=found[start : start + PROVED_AT_ONCE])
        for start in range(0, len(found), PROVED_AT_ONCE)
    )


def _prove(*, grant: FeedGrant, by: Actor, cases: Sequence[int]) -> int:
    with held_feed(grant=grant) as (feed, at):
        rests = rests_until(grant.handovers, now=at)
        values: dict[str, Any] = {
            "cases": list(cases),
            "handovers": list(grant.handovers),
            "at_rest": [stage.value for stage in AT_REST],
            "desks": list(rests),
            "until": list(rests.values()),
            "read_at": feed.read_at,
            "now": at,
            "reason": HANDOVER,
        }
        with connection.cursor() as cursor:
            cursor.execute(PROVE, values)
            rows = cursor.fetchall()
        audit.append_many(events=[_proved(feed, *row) for row in rows], by=by, at=at)
    return len(rows)


def _proved(
    feed: SourceFeed, case_id: int, case_version: int, number: int | None, version: int | None
) -> audit.CaseEvent:
    reason = f"The {feed.system} system names no change of it up to entry {feed.position}."
    return audit.CaseEvent(
        case_id=case_id,
        case_version=case_version,
        event="source_compared" if number is None else "proposal_retained",
        data={"reason": reason}
        if number is None
        else {
            "number": number,
            "reason": f"Nothing changed. {reason}",
            "version_before": version,
            "version": version,
        },
    )

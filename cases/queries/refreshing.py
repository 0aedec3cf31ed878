"""Which cases of a handover are still to be read, and which the change feed proves unchanged."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef

from cases.models import Case, CaseSource, Handover, Observation
from cases.models.case import open_cases
from cases.queries.duty import starts_of
from cases.vocabulary.refreshing import CaseToRead, FeedGrant
from cases.vocabulary.shifts import next_boundary
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import RecordKey

AT_REST = (Stage.WAITING_FOR_REVIEW, Stage.ESCALATED, Stage.WAITING_FOR_ACCEPTANCE)
UNDER_WAY = (Stage.EXECUTING, Stage.VERIFYING, Stage.RECONCILING)

# Open cases of the handovers that were not read since these were opened. Those being investigated
# are read by the agent anyway, and so are those that are blocked on the way.
TO_DO = """
FROM cases_handover h JOIN cases_case c ON c.desk_id = h.desk_id
JOIN cases_run r ON r.case_id = c.id
WHERE h.id = ANY(%(handovers)s) AND c.kind = ANY(%(kinds)s)
  AND (c.stage = ANY(%(stages)s) OR c.stage = 'blocked' AND c.blocked_from = ANY(%(at_rest)s))
"""
NOT_REFRESHED = "(c.refreshed_at IS NULL OR c.refreshed_at < h.opened_at)"

UNCHANGED = f"""
SELECT c.id {TO_DO}
  AND {NOT_REFRESHED}
  AND c.stage = ANY(%(at_rest)s)
  AND EXISTS (SELECT 1 FROM cases_casesource l WHERE l.case_id = c.id)
  AND NOT EXISTS (
    SELECT 1 FROM cases_casesource l
    JOIN cases_sourcerecord s ON s.id = l.record_id
    LEFT JOIN cases_observation o ON o.id = s.latest_id
    WHERE l.case_id = c.id AND (
      s.system <> %(system)s
      OR s.named_at IS NOT NULL
      OR s.last_attempt_id IS DISTINCT FROM s.latest_id
      OR o.id IS NULL OR o.outcome <> 'read'
      OR o.observed_at < %(followed_since)s
      OR o.holds_until <= %(now)s
      OR o.version < s.highest_version
    )
  )
  AND NOT EXISTS (  -- what stands was weighed against other facts, or ran out
    SELECT 1 FROM cases_proposal p WHERE p.case_id = c.id AND p.state = 'ready' AND (
      p.valid_until <= %(now)s
      OR EXISTS (
        SELECT 1 FROM cases_casesource l JOIN cases_sourcerecord s ON s.id = l.record_id
        WHERE l.case_id = c.id AND NOT EXISTS (
          SELECT 1 FROM cases_evidence e
          WHERE e.proposal_id = p.id AND e.observation_id = s.latest_id
        )
      )
    )
  )
ORDER BY c.id
"""

NAMED = """c.id IN (
    SELECT l.case_id FROM cases_casesource l JOIN cases_sourcerecord s ON s.id = l.record_id
    WHERE s.named_at IS NOT NULL
  )"""

TO_READ = f"""
SELECT c.id, c.subject, {NAMED} {TO_DO}
  AND ({NOT_REFRESHED} OR {NAMED})
  AND NOT (c.stage = 'blocked' AND c.next_try_at > %(now)s)
  AND (r.lease_until IS NULL OR r.lease_until <= %(now)s)
  AND c.id <> ALL(%(tried)s)
ORDER BY c.stage <> 'waiting_for_review', NOT {NAMED}, LEAST(c.decide_by, (
    SELECT p.valid_until FROM cases_proposal p WHERE p.case_id = c.id AND p.state = 'ready'
  )) NULLS LAST, c.id
LIMIT %(limit)s
"""


def live_handovers() -> list[Handover]:
    """The newest handover of each desk, unless it is signed."""
    newest = Handover.objects.order_by("desk_id", "-boundary").distinct("desk_id")
    return [handover for handover in newest if handover.signed_at is None]


def unchanged_cases(*, grant: FeedGrant, followed_since: datetime, now: datetime) -> list[int]:
    """Cases that rest, were read while the feed was followed, and are not named by it since.

    Facts that end by the clock are not told by a feed, so those count only until they end.
    """
    values: dict[str, Any] = {
        **_scope(grant),
        "system": grant.system,
        "followed_since": followed_since,
        "now": now,
    }
    with connection.cursor() as cursor:
        cursor.execute(UNCHANGED, values)
        return [row[0] for row in cursor.fetchall()]


def cases_to_read(
    *, grant: FeedGrant, tried: Collection[int], limit: int, now: datetime
) -> list[CaseToRead]:
    """Cases whose sources are to be read now: what can be released first, of that what the feed
    names, which has changed already, and then by what ends first.

    Cases about the same subject come together, since one reading is news to all of them.
    """
    values = {**_scope(grant), "tried": list(tried), "limit": limit, "now": now}
    with connection.cursor() as cursor:
        cursor.execute(TO_READ, values)
        found = cursor.fetchall()
    chosen = {case_id: subject for case_id, subject, _ in found}
    named = {case_id for case_id, _, is_named in found if is_named}
    beside = open_cases(Case.objects.filter(subject__in=chosen.values(), kind__in=grant.kinds))
    for case_id, subject in beside.values_list("pk", "subject"):
        chosen.setdefault(case_id, subject)
    records: dict[int, list[RecordKey]] = {case_id: [] for case_id in chosen}
    links = CaseSource.objects.filter(case__in=chosen).order_by("record_id")
    for case_id, record_type, record_id in links.values_list(
        "case_id", "record__record_type", "record__record_id"
    ):
        records[case_id].append(RecordKey(record_type=record_type, record_id=record_id))
    return [
        CaseToRead(
            case_id=case_id,
            subject=subject,
            records=tuple(records[case_id]),
            is_named=case_id in named,
        )
        for case_id, subject in chosen.items()
    ]


def _scope(grant: FeedGrant) -> dict[str, Any]:
    return {
        "handovers": list(grant.handovers),
        "kinds": list(grant.kinds),
        "stages": [stage.value for stage in (*AT_REST, *UNDER_WAY)],
        "at_rest": [stage.value for stage in AT_REST],
    }


def coverage_of(handover: Handover) -> tuple[int, int]:
    """How many open cases the desk has, and how many were read for this handover.

    A case whose subject does not exist was not.
    """
    cases = open_cases(Case.objects.filter(desk=handover.desk))
    gone = CaseSource.objects.filter(
        case=OuterRef("pk"),
        record__record_id=OuterRef("subject"),
        record__latest__outcome=Observation.Outcome.MISSING,
    )
    read = cases.filter(~Exists(gone), refreshed_at__gte=handover.opened_at)
    return cases.count(), read.count()


def rests_until(handovers: Collection[int], *, now: datetime) -> dict[int, datetime]:
    """Desk to the shift boundary after the one of its handover: cases read for it rest until then.

    Desks whose later boundary has passed too are left out.
    """
    found = {}
    for handover in Handover.objects.filter(pk__in=handovers).select_related("desk"):
        desk = handover.desk
        until = next_boundary(after=handover.boundary, zone=desk.zone, starts=starts_of(desk))
        if until > now:
            found[desk.pk] = until
    return found


def rereads_since(case: Case, *, at: datetime) -> datetime | None:
    """Since when the facts of a case that rests are to be read again; None while they count."""
    due = case.refresh_due_at if case.current_stage in AT_REST else None
    return due if due is not None and due <= at else None

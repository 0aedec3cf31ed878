"""The one refresher of a system: its claim, its place in the change feed, and what that names.

What a page of the feed names is marked in the transaction that moves the place on: a refresher that
dies leaves nothing unread behind the place, and a page that is read twice marks nothing twice.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction

from cases.actions.handovers import add_rows
from cases.actions.pauses import standing_pause
from cases.actions.runs import check_may_call
from cases.clock import business_now
from cases.models import Handover, SourceFeed
from cases.queries.refreshing import coverage_of, live_handovers
from cases.vocabulary.actors import SYSTEM, Actor
from cases.vocabulary.errors import LeaseLost
from cases.vocabulary.lanes import Lane
from cases.vocabulary.playbooks import PLAYBOOKS
from cases.vocabulary.refreshing import FeedGrant, FeedPage

FOLLOW_EVERY = timedelta(seconds=30)
MARK = """
UPDATE cases_sourcerecord record
SET named_at = %(at)s, highest_version = GREATEST(record.highest_version, named.version)
FROM unnest(%(subjects)s::text[], %(versions)s::bigint[]) AS named(subject, version)
WHERE record.system = %(system)s AND record.record_type = ANY(%(types)s)
  AND record.record_id = named.subject
"""
SUBJECT_TYPES = frozenset(playbook.subject_type for playbook in PLAYBOOKS.values())


def claim_feed(*, system: str, agent: Actor, worker: str, lease: timedelta) -> FeedGrant | None:
    """Claim the refresh of a system if one is due, and nobody else has it; kinds paused stay out.

    It is due from the opening of a handover until its signature, whenever `next_read_at` has come.
    """
    live = live_handovers()
    kinds = tuple(
        kind
        for kind in PLAYBOOKS
        if standing_pause(lane=Lane.REFRESH, kind=kind, agent=agent) is None
    )
    if not live or not kinds:
        return None
    SourceFeed.objects.get_or_create(system=system)
    with transaction.atomic():
        free = SourceFeed.objects.select_for_update(skip_locked=True).filter(system=system)
        feed, at = free.first(), business_now()
        if feed is None or (feed.lease_until is not None and feed.lease_until > at):
            return None
        if feed.next_read_at is not None and feed.next_read_at > at:
            return None
        feed.fencing_token, feed.worker = _next_token(), worker
        feed.lease_until = at + lease
        feed.save()
    return FeedGrant(
        system=system,
        fencing_token=feed.fencing_token,
        lease_until=feed.lease_until,
        position=feed.position,
        last_entry=feed.last_entry,
        handovers=tuple(item.pk for item in live),
        kinds=kinds,
    )


def _next_token() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval('fencing_token_seq')")
        (token,) = cursor.fetchone()
    return int(token)


@contextmanager
def held_feed(*, grant: FeedGrant) -> Iterator[tuple[SourceFeed, datetime]]:
    """A transaction of the refresher that still holds the system, and the business instant.

    Raises `LeaseLost` for any other. What it writes is committed when it ends.
    """
    with transaction.atomic(durable=True):
        feed = SourceFeed.objects.select_for_update(no_key=True).get(system=grant.system)
        at = business_now()
        if feed.fencing_token != grant.fencing_token or feed.lease_until is None:
            raise LeaseLost(f"The refresh of {grant.system} was taken over by a newer worker.")
        if feed.lease_until <= at:
            raise LeaseLost(f"The lease on {grant.system} ended before this was written.")
        yield feed, at


def permit_reading(*, grant: FeedGrant, agent: Actor, lease: timedelta) -> FeedGrant:
    """Permit one call to the outside; the lease runs anew from now.

    Raises `LeaseLost`, and `CallsPaused` when a person stopped what this refresh reads.
    """
    with held_feed(grant=grant) as (feed, at):
        for kind in grant.kinds:
            check_may_call(lane=Lane.REFRESH, kind=kind, agent=agent)
        feed.lease_until = at + lease
        feed.save(update_fields=("lease_until",))
    return replace(grant, lease_until=feed.lease_until)


def keep_page(*, grant: FeedGrant, page: FeedPage, asked_at: datetime) -> FeedGrant:
    """Mark what a page of the feed names and move the place on, in one transaction.

    `asked_at` is when the page was asked for; the end of the feed was read then. A version that the
    feed names exists: whoever reads an older one after that is shown something stale.
    """
    with held_feed(grant=grant) as (feed, at):
        _mark(grant.system, page, at)
        feed.position, feed.last_entry = page.position, page.last_entry
        if not page.has_more:
            feed.read_at = asked_at
            feed.followed_since = feed.followed_since or asked_at
        feed.save(update_fields=("position", "last_entry", "read_at", "followed_since"))
    return replace(grant, position=page.position, last_entry=page.last_entry)


def _mark(system: str, page: FeedPage, at: datetime) -> None:
    values: dict[str, Any] = {
        "at": at,
        "system": system,
        "types": sorted(SUBJECT_TYPES),
        "subjects": list(page.named),
        "versions": list(page.named.values()),
    }
    with connection.cursor() as cursor:
        cursor.execute(MARK, values)


def start_over(*, grant: FeedGrant) -> FeedGrant:
    """The feed began anew, so its silence proves nothing of what was read before."""
    with held_feed(grant=grant) as (feed, _):
        feed.position, feed.last_entry, feed.followed_since = 0, "", None
        feed.save(update_fields=("position", "last_entry", "followed_since"))
    return replace(grant, position=0, last_entry="")


def end_reading(*, grant: FeedGrant, is_complete: bool, wait: timedelta) -> None:
    """Give the system back, and note on each handover how much was read.

    `is_complete` says that everything was tried once; `wait` is how long no call is made.
    """
    with held_feed(grant=grant) as (feed, at):
        unsigned = Handover.objects.filter(pk__in=grant.handovers, signed_at=None)
        for handover in unsigned.select_for_update(of=("self",)).order_by("pk"):
            add_rows(handover, by=SYSTEM, at=at)
            handover.cases_to_read, handover.cases_read = coverage_of(handover)
            if is_complete and handover.refreshed_at is None:
                handover.refreshed_at = at
            handover.save(update_fields=("cases_to_read", "cases_read", "refreshed_at"))
        is_new = any(live.refreshed_at is None for live in live_handovers())
        feed.next_read_at = at + (wait or (timedelta(0) if is_new else FOLLOW_EVERY))
        feed.worker, feed.lease_until = "", None
        feed.save(update_fields=("next_read_at", "worker", "lease_until"))

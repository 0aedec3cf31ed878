"""The refresh of a handover: the change feed first, then in bulk what it does not prove unchanged.

It may end anywhere. What was written stands, and the next one goes on with what is left.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from agent.refresh_desk import RefreshDesk
from agent.sources.base import BulkSource
from cases.vocabulary.errors import CallsPaused, LeaseLost
from cases.vocabulary.refreshing import (
    CaseToRead,
    FeedGrant,
    FeedPage,
    FeedStartedOver,
    NotRead,
    ReadingsBySubject,
)

LEASE = timedelta(seconds=30)
PASS_SECONDS = 20.0
AFTER_FAILURE = timedelta(seconds=30)
MOST_FAILURES = 9
"""In a row, which is enough to find one bad record among 200; after that, or without any answer,
the system is left alone until the next pass."""

type Cases = Sequence[CaseToRead]

log = structlog.get_logger()


class Refresher:
    """Refreshes for one worker process; `worker` names it in the lease on the system."""

    def __init__(self, *, desk: RefreshDesk, source: BulkSource, worker: str) -> None:
        self.desk = desk
        self._source = source
        self._worker = worker

    def refresh(self) -> int:
        """Open the handovers that are due, and refresh as far as this pass goes; says how many.

        Harmless when nothing is due or another refresher is at it.
        """
        self.desk.open_handovers()
        system = self._source.capabilities.system
        grant = self.desk.claim(system=system, worker=self._worker, lease=LEASE)
        if grant is None:
            return 0
        work = Pass(desk=self.desk, source=self._source, grant=grant)
        try:
            work.run()
        except LeaseLost as lost:
            log.info("refresh_lease_lost", reason=str(lost))
        except CallsPaused as pause:
            log.info("refresh_stopped_by_a_person", reason=str(pause))
            work.end(is_complete=False)
        if work.tried or work.proved:
            log.info("refresh_ended", proved=work.proved, read=work.read, tried=len(work.tried))
        return work.proved + work.read


@dataclass(kw_only=True)
class Pass:
    """One pass over what is to be refreshed; `tried` are the cases it read or could not read."""

    desk: RefreshDesk
    source: BulkSource
    grant: FeedGrant
    ends_at: float = field(default_factory=lambda: time.monotonic() + PASS_SECONDS)
    tried: set[int] = field(default_factory=set)
    failures: int = 0
    given_up: NotRead | None = None
    proved: int = 0
    read: int = 0

    def run(self) -> None:
        """Read the feed, refresh what it proves unchanged, then read the rest in bulk."""
        feed_wait = timedelta(0)
        if self.source.capabilities.change_feed:
            feed = self._follow_feed()
            if feed is None:
                self.proved = self.desk.prove_unchanged(grant=self.grant)
            else:
                log.warning("change_feed_not_read", reason=feed.reason)
                feed_wait = AFTER_FAILURE
        is_complete, wait = self._read_rest()
        self.end(is_complete=is_complete, wait=max(wait, feed_wait))

    def end(self, *, is_complete: bool, wait: timedelta = timedelta(0)) -> None:
        """Give the system back."""
        self.desk.end(grant=self.grant, is_complete=is_complete, wait=wait)

    def _permit(self) -> None:
        self.grant = self.desk.permit(grant=self.grant, lease=LEASE)

    def _follow_feed(self) -> NotRead | None:
        """Read the change feed to its end; why it was not, if so."""
        while True:
            asked_at = self.desk.now()
            page = self.source.changes_after(
                position=self.grant.position,
                last_entry=self.grant.last_entry,
                permit=self._permit,
            )
            match page:
                case NotRead():
                    return page
                case FeedStartedOver():
                    log.warning("change_feed_started_over", position=self.grant.position)
                    self.grant = self.desk.start_over(grant=self.grant)
                case FeedPage(position=position) if (
                    page.has_more and position <= self.grant.position
                ):
                    return NotRead(reason="its change feed does not move on")
                case FeedPage():
                    self.grant = self.desk.keep_page(grant=self.grant, page=page, asked_at=asked_at)
                    if not page.has_more:
                        return None

    def _read_rest(self) -> tuple[bool, timedelta]:
        """Read in bulk, the most urgent first; whether all was tried, and how long to wait."""
        wait = timedelta(0)
        while time.monotonic() < self.ends_at:
            cases = self.desk.cases_to_read(
                grant=self.grant, tried=self.tried, limit=self.source.most_at_once
            )
            if not cases:
                return True, wait
            for some, told in self._told(cases):
                if isinstance(told, NotRead):
                    wait = max(wait, told.retry_after)
                    if not told.was_asked:
                        return False, wait  # our own pace; nothing failed
                self.tried |= {case.case_id for case in some}
                done = self.desk.take_in(grant=self.grant, cases=some, told=told)
                self.read += 0 if isinstance(told, NotRead) else done
        return False, wait

    def _told(self, cases: Cases) -> Iterator[tuple[Cases, ReadingsBySubject | NotRead]]:
        """What the system says of these cases; an answer that is no use is asked for in halves."""
        if self.given_up is not None:
            yield cases, self.given_up
            return
        told = self.source.read_many(cases=cases, permit=self._permit)
        if not isinstance(told, NotRead):
            self.failures = 0
            yield cases, told
            return
        self.failures += 1
        if self.failures >= MOST_FAILURES or not told.was_answered:
            self.given_up = told
        if self.given_up is None and len(cases) > 1:
            middle = len(cases) // 2
            yield from self._told(cases[:middle])
            yield from self._told(cases[middle:])
        else:
            yield cases, told

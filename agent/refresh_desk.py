"""The refresher's door to the record, beside the one through which single cases are worked on."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from cases.actions import feeds, handovers, proofs, refresh, runs
from cases.clock import business_now
from cases.queries import refreshing
from cases.vocabulary.refreshing import (
    CaseToRead,
    FeedGrant,
    FeedPage,
    NotRead,
    ReadingsBySubject,
)


class RefreshDesk(Protocol):
    """What a refresher may ask and report; writes of one that lost its lease raise `LeaseLost`."""

    def open_handovers(self) -> int:
        """Open the handover of each shift boundary that has none and needs one; says how many."""

    def claim(self, *, system: str, worker: str, lease: timedelta) -> FeedGrant | None:
        """Claim the refresh of a system if it is due and nobody else has it."""

    def permit(self, *, grant: FeedGrant, lease: timedelta) -> FeedGrant:
        """Permit one call to the outside, right before it is made, and prolong the lease.

        Raises `CallsPaused` when a person stopped this work.
        """

    def now(self) -> datetime:
        """The business instant, by the database's clock."""

    def keep_page(self, *, grant: FeedGrant, page: FeedPage, asked_at: datetime) -> FeedGrant:
        """Mark what a page of the feed, asked for at `asked_at`, names, and move the place on."""

    def start_over(self, *, grant: FeedGrant) -> FeedGrant:
        """The feed began anew: follow it from its beginning, and take nothing for proved."""

    def prove_unchanged(self, *, grant: FeedGrant) -> int:
        """Refresh what the feed, just read to its end, proves unchanged; says how many."""

    def cases_to_read(
        self, *, grant: FeedGrant, tried: Collection[int], limit: int
    ) -> list[CaseToRead]:
        """The next cases whose sources are to be read, the most urgent first."""

    def take_in(
        self,
        *,
        grant: FeedGrant,
        cases: Sequence[CaseToRead],
        told: ReadingsBySubject | NotRead,
        asked_at: datetime,
    ) -> int:
        """Keep what was read, or why not, and write down what follows; says for how many.

        `asked_at` is when it was asked for: what changed after that need not be in it.
        """

    def end(self, *, grant: FeedGrant, is_complete: bool, wait: timedelta) -> None:
        """Give the system back; `is_complete` when everything was tried, `wait` before the next."""


class RecordRefresh:
    """The door to the real record. `agent` is the agent identity's name and version."""

    def __init__(self, *, agent_name: str, agent_version: str) -> None:
        self._agent = runs.agent_actor(name=agent_name, version=agent_version)

    def open_handovers(self) -> int:
        """See `RefreshDesk.open_handovers`."""
        return handovers.open_handovers()

    def claim(self, *, system: str, worker: str, lease: timedelta) -> FeedGrant | None:
        """See `RefreshDesk.claim`."""
        return feeds.claim_feed(system=system, agent=self._agent, worker=worker, lease=lease)

    def permit(self, *, grant: FeedGrant, lease: timedelta) -> FeedGrant:
        """See `RefreshDesk.permit`."""
        return feeds.permit_reading(grant=grant, agent=self._agent, lease=lease)

    def now(self) -> datetime:
        """See `RefreshDesk.now`."""
        return business_now()

    def keep_page(self, *, grant: FeedGrant, page: FeedPage, asked_at: datetime) -> FeedGrant:
        """See `RefreshDesk.keep_page`."""
        return feeds.keep_page(grant=grant, page=page, asked_at=asked_at)

    def start_over(self, *, grant: FeedGrant) -> FeedGrant:
        """See `RefreshDesk.start_over`."""
        return feeds.start_over(grant=grant)

    def prove_unchanged(self, *, grant: FeedGrant) -> int:
        """See `RefreshDesk.prove_unchanged`."""
        return proofs.prove_unchanged(grant=grant, by=self._agent)

    def cases_to_read(
        self, *, grant: FeedGrant, tried: Collection[int], limit: int
    ) -> list[CaseToRead]:
        """See `RefreshDesk.cases_to_read`."""
        now = business_now()
        return refreshing.cases_to_read(grant=grant, tried=tried, limit=limit, now=now)

    def take_in(
        self,
        *,
        grant: FeedGrant,
        cases: Sequence[CaseToRead],
        told: ReadingsBySubject | NotRead,
        asked_at: datetime,
    ) -> int:
        """See `RefreshDesk.take_in`."""
        return refresh.take_in(
            grant=grant, by=self._agent, cases=cases, told=told, asked_at=asked_at
        )

    def end(self, *, grant: FeedGrant, is_complete: bool, wait: timedelta) -> None:
        """See `RefreshDesk.end`."""
        feeds.end_reading(grant=grant, is_complete=is_complete, wait=wait)

"""The refresh of a handover: the change feed first, then in bulk what it does not prove unchanged.

It may end anywhere. What was written stands, and the next one goes on with what is left.
"""

import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import batched, chain, groupby

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
)

LEASE = timedelta(seconds=30)
ASK_SECONDS, PASS_SECONDS = 15.0, 20.0
"""What is left of a pass when it asks no more is for writing down what was not read."""
LISTS_AHEAD = 10
AFTER_FAILURE = timedelta(seconds=30)
MOST_IN_VAIN = 20
"""Calls for parts of one list that give no usable answer: enough to tell ten bad records scattered
among 200 from the good ones."""

type Cases = Sequence[CaseToRead]
type Unread = tuple[Cases, NotRead]

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
    """One pass over what is to be refreshed; `tried` are the cases it read or could not read.

    `ahead` are the lists to be asked for next, `unread` those that gave no usable answer, and why;
    `unreadable` is what is left of them and not written down yet, since what was told comes first;
    after `given_up`, and while `is_held_back`, nothing is asked for. `answers` counts useful ones;
    a system `is_mute` that gave none, although it was asked for parts.
    """

    desk: RefreshDesk
    source: BulkSource
    grant: FeedGrant
    began_at: float = field(default_factory=time.monotonic)
    tried: set[int] = field(default_factory=set)
    ahead: deque[Cases] = field(default_factory=deque)
    unread: deque[Unread] = field(default_factory=deque)
    unreadable: list[Unread] = field(default_factory=list)
    answers: int = 0
    is_mute: bool = False
    given_up: NotRead | None = None
    is_held_back: bool = False
    wait: timedelta = timedelta(0)
    proved: int = 0
    read: int = 0

    def run(self) -> None:
        """Read the feed, refresh what it proves unchanged, then read the rest in bulk."""
        if self.source.capabilities.change_feed:
            feed = self._follow_feed()
            if feed is None:
                self.proved = self.desk.prove_unchanged(grant=self.grant)
            else:
                log.warning("change_feed_not_read", reason=feed.reason)
                self.wait = AFTER_FAILURE
        self.end(is_complete=self._read_rest())

    def end(self, *, is_complete: bool) -> None:
        """Give the system back."""
        self.desk.end(grant=self.grant, is_complete=is_complete, wait=self.wait)

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

    def _read_rest(self) -> bool:
        """Read in bulk, the most urgent first; whether everything was tried.

        A list without a usable answer keeps no other waiting: its parts come after all the lists.
        Only what the feed names, which is little and has changed, is asked for in parts at once.
        """
        is_complete = True
        for cases in iter(self._next_list, []):
            if self._may_ask():
                told = self._ask(cases)
                if told is not None and told.was_asked:
                    self.unread.append((cases, told))
                if cases[0].is_named:
                    self._ask_for_all_parts()
            elif self.given_up is not None:
                self._could_not_read(cases, self.given_up)
            else:
                is_complete = False
                break
        self._ask_for_all_parts()
        return self._write_unreadable() and is_complete and not self.is_held_back

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self.began_at

    def _may_ask(self) -> bool:
        is_stopped = self.given_up is not None or self.is_held_back
        return not is_stopped and self._seconds < ASK_SECONDS

    def _next_list(self) -> Cases:
        """The next cases for one answer, empty when there are none."""
        if not self.ahead:
            most = self.source.most_at_once
            cases = self.desk.cases_to_read(
                grant=self.grant, tried=self.tried, limit=LISTS_AHEAD * most
            )
            self.ahead.extend(_lists(cases, most=most))
        return self.ahead.popleft() if self.ahead else []

    def _ask(self, cases: Cases) -> NotRead | None:
        """Ask for all of these at once and write down what is told; why not, if so."""
        asked_at = self.desk.now()
        told = self.source.read_many(cases=cases, permit=self._permit)
        if not isinstance(told, NotRead):
            self.answers += 1
            self._note(cases)
            self.read += self.desk.take_in(
                grant=self.grant, cases=cases, told=told, asked_at=asked_at
            )
            return None
        self.wait = max(self.wait, told.retry_after)
        if not told.was_asked:
            self.is_held_back = True  # our own pace; nothing failed
            return told
        self._note(cases)
        self.given_up = None if told.was_answered else told
        return told

    def _ask_for_all_parts(self) -> None:
        """Of every unread list; a system that tells nothing at all is soon left alone."""
        while self.unread:
            patience = 0 if self.is_mute else MOST_IN_VAIN
            self._ask_for_parts(*self.unread.popleft(), patience=patience)
            self.is_mute = not self.answers

    def _ask_for_parts(self, cases: Cases, why: NotRead, *, patience: int) -> None:
        """Ask for the halves of a list, and of those, as long as that helps.

        What stood beside something that was told comes first: there is more to find.
        """
        parts, hopeful = deque([(cases, why)]), deque[Unread]()
        while parts or hopeful:
            next_ones = hopeful or parts
            some, why = next_ones.popleft()
            if patience <= 0 or len(some) == 1 or not self._may_ask():
                self._could_not_read(some, why)
                continue
            middle = len(some) // 2
            unread = []
            for half in (some[:middle], some[middle:]):
                told = self._ask(half) if self._may_ask() else why
                patience += 2 if told is None else -1
                if told is not None:
                    unread.append((half, told if told.was_asked else why))
            (next_ones if len(unread) == 2 else hopeful).extend(unread)

    def _could_not_read(self, cases: Cases, why: NotRead) -> None:
        self._note(cases)
        self.unreadable.append((cases, why))

    def _write_unreadable(self) -> bool:
        """Write down why the rest was not read; whether there was time for all of it."""
        for why, parts in groupby(self.unreadable, key=lambda part: part[1]):
            cases = chain.from_iterable(part for part, _ in parts)
            for some in batched(cases, self.source.most_at_once):
                if self._seconds >= PASS_SECONDS:
                    return False
                asked_at = self.desk.now()
                self.desk.take_in(grant=self.grant, cases=some, told=why, asked_at=asked_at)
        return True

    def _note(self, cases: Cases) -> None:
        self.tried |= {case.case_id for case in cases}


def _lists(cases: Iterable[CaseToRead], *, most: int) -> Iterator[Cases]:
    """In lists of so many subjects; cases about the same one stay together, and so do those that
    the feed names: how they are answered does not depend on the others.
    """
    together = defaultdict(list)
    for case in cases:
        together[case.subject].append(case)
    for _, alike in groupby(together.values(), key=lambda about_one: about_one[0].is_named):
        for some in batched(alike, most):
            yield list(chain.from_iterable(some))

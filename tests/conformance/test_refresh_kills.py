"""P25, P30: the refresh killed at every boundary, and two of them at once.

One handover per boundary, no event twice, and the place in the feed agrees with what was read.
"""

import signal
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta

import pytest

from agent.refresh import LEASE
from agent.sources.transport import TransportSource
from cases import audit
from cases.clock import business_now
from cases.models import AuditEvent, Handover, Proposal, SourceFeed, SourceRecord
from cases.vocabulary.refreshing import FeedPage
from tests.conformance.bench import Bench, wait_for
from tests.conformance.boundaries import passed_in
from tests.conformance.table import Form
from tests.crashes.night_desk import END_OF_SHIFT
from tools.stories.s318 import MORNING

pytestmark = pytest.mark.processes
LEASE_IS_OVER = LEASE + timedelta(seconds=1)
ONCE_EACH = ("source_read", "proposal_retained", "proposal_stale", "source_compared")


@dataclass(kw_only=True)
class Morning:
    """08:00 with two cases: S-318 moved overnight, S-377 did not."""

    bench: Bench

    def begin(self) -> None:
        """From 17:00 on, with the feed followed since noon."""
        self.bench.ready()
        Handover.objects.all().delete()
        SourceFeed.objects.all().delete()
        quiet = self.bench.open_another("S-377")
        with self.bench.worker() as worker:
            worker.advance(case_id=quiet)
        end = self.end_of_feed()
        SourceFeed.objects.create(
            system="transport",
            position=end.position,
            last_entry=end.last_entry,
            followed_since=END_OF_SHIFT - timedelta(hours=5),
            read_at=END_OF_SHIFT,
        )
        self.bench.world_moves()

    def end_of_feed(self) -> FeedPage:
        """Where the feed ends now."""
        simulator = self.bench.simulator
        with closing(
            TransportSource(
                address=simulator.url, token=simulator.token, timeout=timedelta(seconds=5)
            )
        ) as source:
            page = source.bulk.changes_after(position=0, last_entry="", permit=lambda: None)
        assert isinstance(page, FeedPage)
        assert not page.has_more
        return page

    def refresh(self, name: str, *, deeds: str = "") -> list[str]:
        """One process from start to end; the boundaries it passed."""
        notes = self.bench.start_program("refresher", name, deeds=deeds, env={})
        wait_for(lambda: self.bench.nursery.status(name) is not None, f"{name} ends")
        return passed_in(notes)

    def check(self) -> None:
        """All of it is refreshed, and each thing was written once."""
        handover = Handover.objects.get()
        assert (handover.boundary, handover.cases_to_read, handover.cases_read) == (MORNING, 2, 2)
        assert handover.rows.count() == 2
        assert Proposal.objects.get(case_id=self.bench.case_id).state == "stale"
        told = AuditEvent.objects.filter(at__gte=MORNING, event__in=ONCE_EACH)
        counted = Counter(
            (row.case_id, row.event, row.data.get("record")) for row in told.order_by("id")
        )
        assert counted and set(counted.values()) == {1}, counted
        for case_id in told.values_list("case_id", flat=True).distinct():
            chain = AuditEvent.objects.filter(case_id=case_id).order_by("sequence")
            assert not audit.broken_links(chain)
        assert SourceFeed.objects.get().position == self.end_of_feed().position
        assert not SourceRecord.objects.exclude(named_at=None).exists()


@pytest.fixture
def morning(bench: Bench) -> Morning:
    """08:00, and nobody has refreshed yet."""
    return Morning(bench=bench)


def test_p30_killed_at_every_boundary_the_next_one_goes_on(morning: Morning, form: Form) -> None:
    """As recorded from an undisturbed pass: before and after each COMMIT, exchange and report."""
    morning.begin()
    boundaries = morning.refresh("undisturbed")
    morning.check()
    assert {"after record keep_page", "before commit", "after exchange"} <= set(boundaries)
    for number in form.some(list(range(1, len(boundaries) + 1)), short=4):
        morning.begin()
        morning.refresh("first", deeds=f"{number}:kill")
        morning.bench.set_clocks(business_now() + LEASE_IS_OVER)
        morning.refresh("second")
        morning.check()


TAKES_IN = "before record take_in"


def test_p25_while_one_stands_still_another_neither_repeats_nor_overtakes_it(
    morning: Morning,
) -> None:
    """Frozen with what it read in hand: its lease keeps a second one out until it is over.

    The one that comes then does all of it; woken again, the first writes nothing any more.
    """
    morning.begin()
    at = morning.refresh("undisturbed").index(TAKES_IN) + 1
    morning.begin()
    bench = morning.bench
    bench.start_program("refresher", "frozen", deeds=f"{at}:stop", env={})
    wait_for(lambda: bench.is_gone("frozen"), "the first stands still")
    assert TAKES_IN not in morning.refresh("too early")
    bench.set_clocks(business_now() + LEASE_IS_OVER)
    assert TAKES_IN in morning.refresh("second")
    morning.check()
    before = AuditEvent.objects.count()
    bench.nursery.send("frozen", signal.SIGCONT)
    assert bench.nursery.wait("frozen", timeout=30) == 0
    morning.check()
    assert AuditEvent.objects.count() == before


def test_p25_two_at_once_open_one_handover_and_write_nothing_twice(
    morning: Morning, form: Form
) -> None:
    for _ in form.of(full=10):
        morning.begin()
        for name in ("one", "other"):
            morning.bench.start_program("refresher", name, deeds="", env={})
        for name in ("one", "other"):
            assert morning.bench.nursery.wait(name, timeout=30) == 0
        morning.check()

"""What the benchmark plays on: ten thousand open cases in the evening, and the night after it."""

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta

import httpx
from django.db import connection

from agent.sources.transport import TransportSource
from benchmarks import outside, record
from cases.actions import clock
from cases.models import Desk, Person, SourceFeed
from cases.vocabulary.refreshing import FeedPage
from tools.simulator_control import SimulatorControl
from tools.stories.record import StoryBroke, instant

CASES, CHANGED = 10_000, 300
EVENING = instant("2026-11-23T17:00:00-06:00")
HALF_PAST_SEVEN = instant("2026-11-24T07:30:00-06:00")
MORNING = instant("2026-11-24T08:00:00-06:00")
NEAR, FAR = "N", "F"


@dataclass(frozen=True, kw_only=True)
class Stage:
    """The simulator at `url`, and what directs it."""

    control: SimulatorControl
    url: str

    def source(self, url: str = "") -> TransportSource:
        """The adapter, over this address or that of the simulator itself."""
        return TransportSource(
            address=url or self.url,
            token=os.environ["TRANSPORT_TOKEN"],
            timeout=timedelta(seconds=10),
        )

    def client(self) -> httpx.Client:
        """A client of /v1; close it after use."""
        return httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {os.environ['TRANSPORT_TOKEN']}"},
            timeout=30,
            trust_env=False,
        )

    def set_clocks(self, moment: datetime) -> None:
        """Both clocks."""
        self.control.set_clock(moment)
        clock.set_business_clock(to=moment)

    def set_the_scene(self) -> None:
        """17:00 to 07:30: all cases wait for a release, and in the night every 33rd shipment moves.

        The far half was opened first, so that it comes first wherever nothing else decides.
        """
        _execute(
            "TRUNCATE cases_case, cases_sourcerecord, cases_handover, cases_sourcefeed CASCADE"
        )
        self.control.reset(scenario="s318", now=EVENING)
        self.set_clocks(EVENING)
        names = [*names_of(FAR), *names_of(NEAR)]
        outside.make_shipments(names, at=EVENING)
        with closing(self.source()) as source:
            record.open_cases_about(
                names,
                source=source,
                desk=Desk.objects.get(),
                owner=Person.objects.get(username="kim"),
                at=EVENING,
                boundary=MORNING,
            )
        self._follow_the_feed()
        outside.move_deliveries(self.control, changed_of(names))
        self.set_clocks(HALF_PAST_SEVEN)
        tidy_up()

    def _follow_the_feed(self) -> None:
        """The feed has been followed since noon and was read to its end at 17:00."""
        with closing(self.source()) as source:
            page = source.bulk.changes_after(position=0, last_entry="", permit=lambda: None)
        if not isinstance(page, FeedPage):
            raise StoryBroke(f"the change feed was not read: {page}")
        SourceFeed.objects.create(
            system="transport",
            position=page.position,
            last_entry=page.last_entry,
            followed_since=EVENING - timedelta(hours=5),
            read_at=EVENING,
        )


def names_of(prefix: str) -> list[str]:
    """The shipments of one half."""
    return [f"{prefix}-{number:05}" for number in range(CASES // 2)]


def changed_of(names: Sequence[str]) -> Sequence[str]:
    """Those that move in the night, spread evenly."""
    return names[:: CASES // CHANGED][:CHANGED]


def tidy_up() -> None:
    """What autovacuum would have done by now, so that it does not happen while we measure."""
    _execute("VACUUM ANALYZE")


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)

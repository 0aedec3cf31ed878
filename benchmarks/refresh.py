"""The refresh of 10,000 open cases, 3 % changed, beside one-by-one LangGraph and beside the floor.

Played by `make bench`: real PostgreSQL, the real simulator over HTTP, the real door to the record.
Each round plays everything once, on the same data made anew; ratios are taken within a round.
"""

import os
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median

from tools.oneline import OneLine
from tools.processes import ProcessGroup
from tools.stories.house import House
from tools.stories.record import StoryBroke

# isort: split
from django.core.management import call_command

from agent.crew import AGENT_NAME, AGENT_VERSION
from agent.refresh import Refresher
from agent.refresh_desk import RecordRefresh
from agent.sources.transport import TransportSource
from benchmarks import floor, peer
from benchmarks.away import partly_away
from benchmarks.report import Report, machine
from benchmarks.stage import CASES, CHANGED, EVENING, FAR, NEAR, Stage, names_of, tidy_up
from cases.actions import handovers
from cases.clock import business_now
from cases.models import AuditEvent, Case, Handover, Observation, Proposal, SourceFeed
from cases.vocabulary.refreshing import CaseToRead, FeedGrant, NotRead, ReadingsBySubject

ROUNDS, SAMPLE = 3, 500
AT_LEAST_FASTER, AT_MOST_SLOWER, AT_MOST_LONGER = 50, 20, 1.2


class Watched(RecordRefresh):
    """The door to the record; notes when something that could be read was last written down."""

    last_read_at = 0.0

    def prove_unchanged(self, *, grant: FeedGrant) -> int:
        """See `RefreshDesk.prove_unchanged`."""
        proved = super().prove_unchanged(grant=grant)
        self.last_read_at = time.monotonic() if proved else self.last_read_at
        return proved

    def take_in(
        self,
        *,
        grant: FeedGrant,
        cases: Sequence[CaseToRead],
        told: ReadingsBySubject | NotRead,
        asked_at: datetime,
    ) -> int:
        """See `RefreshDesk.take_in`."""
        taken = super().take_in(grant=grant, cases=cases, told=told, asked_at=asked_at)
        if not isinstance(told, NotRead):
            self.last_read_at = time.monotonic()
        return taken


@dataclass(frozen=True, kw_only=True)
class Took:
    """Seconds of a refresh: all of it, and until all that can be read was read and written."""

    all: float
    readable: float


def refresh(source: TransportSource) -> Took:
    """Our refresh for the handover that is open, until everything was tried."""
    desk = Watched(agent_name=AGENT_NAME, agent_version=AGENT_VERSION)
    refresher = Refresher(desk=desk, source=source.bulk, worker="bench")
    began = time.monotonic()
    while Handover.objects.get().refreshed_at is None:
        refresher.refresh()
    return Took(all=time.monotonic() - began, readable=desk.last_read_at - began)


@dataclass(kw_only=True)
class Rounds:
    """Seconds of each round. (a) is scaled from its sample; `half` is with the far half away."""

    one_by_one: list[float] = field(default_factory=list)
    least: list[float] = field(default_factory=list)
    opening: list[float] = field(default_factory=list)
    ours: list[Took] = field(default_factory=list)
    half: list[Took] = field(default_factory=list)

    def rows(self) -> list[tuple[str, list[float]]]:
        """What the table shows."""
        return [
            (f"(a) one by one, s ({SAMPLE} measured, scaled)", self.one_by_one),
            ("(b) one bulk read and one statement, s", self.least),
            ("(c) the refresh, s", [took.all for took in self.ours]),
            ("    the sheet of all cases before it, s", self.opening),
            ("times faster than (a)", self.faster),
            ("times as long as (b)", self.slower),
            ("half unreachable: the other half, s", [took.readable for took in self.half]),
            ("    times as long as when all answer", self.longer),
            ("    until the last one was blocked, s", [took.all for took in self.half]),
        ]

    @property
    def faster(self) -> list[float]:
        """(a) over (c)."""
        return [a / c.all for a, c in zip(self.one_by_one, self.ours, strict=True)]

    @property
    def slower(self) -> list[float]:
        """(c) over (b)."""
        return [c.all / b for c, b in zip(self.ours, self.least, strict=True)]

    @property
    def longer(self) -> list[float]:
        """The other half, over everything when all answer."""
        pairs = zip(self.half, self.ours, strict=True)
        return [half.readable / ours.readable for half, ours in pairs]

    def are_met(self) -> bool:
        """Whether every goal is, in the median."""
        return (
            median(self.faster) >= AT_LEAST_FASTER
            and median(self.slower) <= AT_MOST_SLOWER
            and median(self.longer) <= AT_MOST_LONGER
        )


def compare(stage: Stage, rounds: Rounds) -> None:
    """(a), (b) and (c)."""
    stage.set_the_scene()
    with stage.client() as client:
        each = peer.seconds_per_case(
            names_of(NEAR)[:SAMPLE], client=client, database=os.environ["DATABASE_URL"]
        )
        rounds.one_by_one.append(CASES * each)
        position = SourceFeed.objects.get().position
        floors = [
            floor.seconds(client=client, after=position, now=business_now()) for _ in range(3)
        ]
        rounds.least.append(min(floors))
    tidy_up()
    began = time.monotonic()
    handovers.open_handovers()
    rounds.opening.append(time.monotonic() - began)
    with closing(stage.source()) as source:
        rounds.ours.append(refresh(source))


def what_was_written() -> str:
    """Counts from the record; all of it belongs to (c)."""
    handover, first = Handover.objects.get(), Case.objects.order_by("pk")[0]
    since = {"at__gte": handover.opened_at, "case_id__gte": first.pk}
    return (
        f"written by (c): {handover.cases_read} of {handover.cases_to_read} cases refreshed, "
        f"{Proposal.objects.filter(state='stale').count()} proposals stale, "
        f"{Observation.objects.filter(observed_at__gte=handover.opened_at).count()} observations, "
        f"{AuditEvent.objects.filter(**since).count()} audit events"
    )


def lose_half(stage: Stage, rounds: Rounds) -> None:
    """The far half was not read for long and cannot be reached; the near half must not notice."""
    stage.set_the_scene()
    far = Observation.objects.filter(record__cases__subject__startswith=FAR)
    far.update(observed_at=EVENING - timedelta(days=1))
    tidy_up()
    began = business_now()
    handovers.open_handovers()
    with partly_away(url=stage.url, mark=FAR) as url, closing(stage.source(url)) as source:
        rounds.half.append(refresh(source))
    refreshed = Case.objects.filter(subject__startswith=NEAR, refreshed_at__gte=began)
    blocked = Case.objects.filter(stage="blocked", subject__startswith=FAR).exclude(
        blocked_reason=""
    )
    told = blocked.filter(owner__isnull=False, next_try_at__isnull=False)
    if (refreshed.count(), told.count()) != (CASES // 2, CASES // 2):
        raise StoryBroke(
            f"{refreshed.count()} of the near half were refreshed, {told.count()} of the far half "
            f"blocked with owner, reason and next try, of {CASES // 2} each"
        )


def play(house: House) -> bool:
    """All of it."""
    report, rounds = Report(), Rounds()
    with house.control() as control:
        stage = Stage(control=control, url=house.environment["TRANSPORT_URL"])
        stage.set_clocks(EVENING)
        call_command("demo_people", verbosity=0)
        report.say(f"{CASES} open cases, {CHANGED} of their shipments changed")
        report.say(machine())
        for number in range(1, ROUNDS + 1):
            print(f"round {number} of {ROUNDS} …", flush=True)
            compare(stage, rounds)
            written = what_was_written()
            lose_half(stage, rounds)
    report.table(ROUNDS, rounds.rows())
    report.say(written)
    report.say(
        f"goals, in the median: at least {AT_LEAST_FASTER} times faster than (a), at most "
        f"{AT_MOST_SLOWER} times as long as (b), the other half in the same time: "
        f"{'met' if rounds.are_met() else 'MISSED'}"
    )
    report.keep()
    return rounds.are_met()


def main() -> int:
    """Play in the environment given by `tools.bench`; 1 when a goal is missed."""
    try:
        with ProcessGroup(purpose="bench") as processes:
            house = House(processes=processes, environment=os.environ)
            house.start_simulator()
            return 0 if play(house) else 1
    except (OneLine, StoryBroke) as broken:
        print(f"The benchmark broke off: {broken}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())

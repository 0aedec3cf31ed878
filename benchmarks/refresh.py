"""The refresh of 10,000 open cases, 3 % changed, beside one-by-one LangGraph and beside the floor.

Played by `make bench`: real PostgreSQL, the real simulator over HTTP, the real door to the record.
"""

import os
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta

import httpx

from tools.oneline import OneLine
from tools.processes import ProcessGroup
from tools.simulator_control import SimulatorControl
from tools.stories.house import House
from tools.stories.record import instant

# isort: split
from django.core.management import call_command
from django.db import connection

from agent.crew import AGENT_NAME, AGENT_VERSION
from agent.refresh import Refresher
from agent.refresh_desk import RecordRefresh
from agent.sources.transport import TransportSource
from benchmarks import floor, outside, peer, record
from benchmarks.away import partly_away
from cases.actions import clock, handovers
from cases.clock import business_now
from cases.models import AuditEvent, Case, Desk, Handover, Observation, Person, Proposal, SourceFeed
from cases.vocabulary.refreshing import FeedPage

CASES, CHANGED, SAMPLE = 10_000, 300, 300
EVENING = instant("2026-11-23T17:00:00-06:00")
HALF_PAST_SEVEN = instant("2026-11-24T07:30:00-06:00")
MORNING = instant("2026-11-24T08:00:00-06:00")
NEAR, FAR = "N", "F"
FINDING_OUT = 1.5
"""Seconds to halve one list of 200 until what can be read is apart; more cases take no longer."""
AT_LEAST_FASTER, AT_MOST_SLOWER = 50, 20


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What the benchmark plays on."""

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


def say(sentence: str) -> None:
    """Tell the reader at once."""
    print(sentence, flush=True)


def names_of(prefix: str) -> list[str]:
    """The shipments of one half."""
    return [f"{prefix}-{number:05}" for number in range(CASES // 2)]


def set_the_scene(stage: Stage) -> None:
    """17:00 to 07:30: all cases wait for a release, and in the night every 33rd shipment moves."""
    with connection.cursor() as cursor:
        cursor.execute(
            "TRUNCATE cases_case, cases_sourcerecord, cases_handover, cases_sourcefeed CASCADE"
        )
    stage.control.reset(scenario="s318", now=EVENING)
    stage.set_clocks(EVENING)
    names = [*names_of(NEAR), *names_of(FAR)]
    outside.make_shipments(names, at=EVENING)
    with closing(stage.source()) as source:
        record.open_cases_about(
            names,
            source=source,
            desk=Desk.objects.get(),
            owner=Person.objects.get(username="kim"),
            at=EVENING,
            boundary=MORNING,
        )
    _follow_the_feed(stage)
    outside.move_deliveries(stage.control, names[:: CASES // CHANGED][:CHANGED])
    stage.set_clocks(HALF_PAST_SEVEN)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def _follow_the_feed(stage: Stage) -> None:
    """The feed has been followed since noon and was read to its end at 17:00."""
    with closing(stage.source()) as source:
        page = source.bulk.changes_after(position=0, last_entry="", permit=lambda: None)
    if not isinstance(page, FeedPage):
        raise OneLine(f"the change feed was not read: {page}")
    SourceFeed.objects.create(
        system="transport",
        position=page.position,
        last_entry=page.last_entry,
        followed_since=EVENING - timedelta(hours=5),
        read_at=EVENING,
    )


@dataclass(frozen=True, kw_only=True)
class Took:
    """Seconds of a refresh: all of it, and until the last case of the near half was refreshed."""

    all: float
    near: float


def refresh(source: TransportSource) -> Took:
    """Our refresh for the handover that is open, until everything was tried."""
    desk = RecordRefresh(agent_name=AGENT_NAME, agent_version=AGENT_VERSION)
    refresher = Refresher(desk=desk, source=source.bulk, worker="bench")
    starts, began = business_now(), time.monotonic()
    while Handover.objects.get().refreshed_at is None:
        refresher.refresh()
    return Took(all=time.monotonic() - began, near=_half_took(NEAR, starts))


def _half_took(prefix: str, began: datetime) -> float:
    """Seconds from `began` until the last case of that half was refreshed."""
    half = Case.objects.filter(subject__startswith=prefix, refreshed_at__gte=began)
    if half.count() != CASES // 2:
        raise OneLine(f"only {half.count()} of {CASES // 2} cases were refreshed")
    last = half.order_by("-changed_at").values_list("changed_at", flat=True)[0]
    return (last - began).total_seconds()


def compare(stage: Stage) -> tuple[bool, Took]:
    """(a), (b) and (c); whether both goals are met, and how long ours took."""
    sample = names_of(NEAR)[:SAMPLE]
    with stage.client() as client:
        one_by_one = CASES * peer.seconds_per_case(
            sample, client=client, database=os.environ["DATABASE_URL"]
        )
        say(f"(a) one resume and one read per case  {one_by_one:8.2f} s  ({SAMPLE} measured)")
        position = SourceFeed.objects.get().position
        least = min(
            floor.seconds(client=client, after=position, now=business_now()) for _ in range(3)
        )
        say(f"(b) one bulk read, one statement        {least:8.3f} s  (best of 3)")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    began = time.monotonic()
    handovers.open_handovers()
    opening = time.monotonic() - began
    with closing(stage.source()) as source:
        ours = refresh(source)
    say(f"(c) ours                              {ours.all:8.2f} s  (sheet: {opening:.2f} s)")
    tell_what_was_written()
    faster, slower = one_by_one / ours.all, ours.all / least
    say(f"ours is {faster:.0f} times faster than (a): goal {AT_LEAST_FASTER}")
    say(f"ours takes {slower:.1f} times as long as (b): goal at most {AT_MOST_SLOWER}")
    return faster >= AT_LEAST_FASTER and slower <= AT_MOST_SLOWER, ours


def tell_what_was_written() -> None:
    """Counts from the record; all of it belongs to (c)."""
    handover = Handover.objects.get()
    events = AuditEvent.objects.filter(at__gte=handover.opened_at, case_id__gt=0)
    say(
        f"    {handover.cases_read} of {handover.cases_to_read} cases, "
        f"{Proposal.objects.filter(state='stale').count()} proposals stale, "
        f"{Observation.objects.filter(observed_at__gte=handover.opened_at).count()} observations, "
        f"{events.count()} audit events"
    )


def lose_half(stage: Stage, near_alone: float) -> bool:
    """The far half was not read for long and cannot be reached; the near half must not notice."""
    set_the_scene(stage)
    far = Observation.objects.filter(record__cases__subject__startswith=FAR)
    far.update(observed_at=EVENING - timedelta(days=1))
    handovers.open_handovers()
    with partly_away(url=stage.url, mark=FAR) as url, closing(stage.source(url)) as source:
        took = refresh(source)
    blocked = Case.objects.filter(stage="blocked", subject__startswith=FAR)
    told = blocked.filter(owner__isnull=False, next_try_at__isnull=False).count()
    say(f"half unreachable: the other half {took.near:.2f} s, {near_alone:.2f} s when all answer")
    say(f"    {told} of {CASES // 2} blocked, with owner, reason and next try ({took.all:.2f} s)")
    return took.near <= near_alone + FINDING_OUT and told == CASES // 2


def play(house: House) -> bool:
    """All of it."""
    with house.control() as control:
        stage = Stage(control=control, url=house.environment["TRANSPORT_URL"])
        stage.set_clocks(EVENING)
        call_command("demo_people", verbosity=0)
        say(f"{CASES} open cases, {CHANGED} of their shipments changed")
        set_the_scene(stage)
        is_met, ours = compare(stage)
        return lose_half(stage, ours.near) and is_met


def main() -> int:
    """Play in the environment given by `tools.bench`; 1 when a goal is missed."""
    try:
        with ProcessGroup(purpose="bench") as processes:
            house = House(processes=processes, environment=os.environ)
            house.start_simulator()
            return 0 if play(house) else 1
    except OneLine as broken:
        print(f"The benchmark broke off: {broken}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())

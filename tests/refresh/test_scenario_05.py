"""Scenario 5: the refresh fails at the handover, on a real transport system (P12, P25).

46 open cases. The change feed proves 31 unchanged; the 15 it names cannot be read: first the system
answers 503, then 429 with Retry-After 120.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest

from agent.crew import AGENT_NAME, AGENT_VERSION
from agent.refresh import Refresher
from agent.refresh_desk import RecordRefresh
from agent.sources import pace, transport_bulk
from agent.sources.transport import TransportSource
from agent.sources.transport_profiles import MODERN
from benchmarks.outside import make_shipments, move_deliveries
from benchmarks.record import open_cases_about
from cases.actions import decisions
from cases.clock import business_now
from cases.models import Case, Handover, Proposal, SourceFeed
from cases.queries.handover_shapes import SheetRow
from cases.vocabulary.errors import Conflict, DecisionRefused
from cases.vocabulary.refreshing import FeedPage
from tests.cases.builders import EVENING, MORNING, Cast, an_answer, at_business_time
from tests.cases.mornings import Kind, a_roster, answer, looked_at, row_for, sheet
from tests.simulator import Simulator

NAMES = [f"S-{number}" for number in range(400, 446)]
MOVED = NAMES[3::3][:15]
LAST_SEEN = datetime.fromisoformat("2026-11-23T16:58:00-06:00")
QUARTER_TO_EIGHT = MORNING - timedelta(minutes=15)
CALLS_PER_MINUTE = 9
A_MINUTE = timedelta(minutes=1)


@dataclass(kw_only=True)
class Elapsed:
    """The seconds by which the adapter keeps its pace, moved by the test together with the rest."""

    seconds: float = 1000.0

    def monotonic(self) -> float:
        """See `time.monotonic`."""
        return self.seconds

    def sleep(self, seconds: float) -> None:
        """See `time.sleep`."""
        self.seconds += seconds


@dataclass(kw_only=True)
class Desk:
    """The desk in the morning: its worker, and time that passes for the pace and the record."""

    cast: Cast
    simulator: Simulator
    source: TransportSource
    elapsed: Elapsed = field(default_factory=Elapsed)

    def time_is(self, moment: datetime) -> None:
        """It is later."""
        self.elapsed.seconds += max(0.0, (moment - business_now()).total_seconds())
        at_business_time(moment)

    def refresh(self) -> list[str]:
        """One pass, as beat orders it; the subjects of each list that was read."""
        desk = RecordRefresh(agent_name=AGENT_NAME, agent_version=AGENT_VERSION)
        before = max((call.sequence for call in self.simulator.control.calls()), default=0)
        Refresher(desk=desk, source=self.source.bulk, worker="worker-1").refresh()
        calls = self.simulator.control.calls(after=before)
        assert len(calls) <= CALLS_PER_MINUTE
        lists = [call.query for call in calls if call.path == "/v1/messages"]
        return [name for query in lists for name in MOVED if name in query]


@pytest.fixture
def desk(cast: Cast, simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """07:45: all were read at 16:58, and the feed was followed until then."""
    monkeypatch.setenv("SIMULATOR_DATABASE_URL", simulator.database_url)
    simulator.control.reset(scenario="s318", now=LAST_SEEN)
    at_business_time(LAST_SEEN)
    a_roster(cast)
    before = {"from_shift": "Day", "to_shift": "Evening", "opened_at": LAST_SEEN}
    Handover.objects.create(desk=cast.desk, boundary=EVENING, **before)
    make_shipments(NAMES, at=LAST_SEEN)
    source = source_of(simulator)
    open_cases_about(
        NAMES, source=source, desk=cast.desk, owner=cast.owner, at=LAST_SEEN, boundary=MORNING
    )
    follow_the_feed(source)
    source.close()
    move_deliveries(simulator.control, MOVED)
    simulator.control.set_clock(QUARTER_TO_EIGHT)
    at_business_time(QUARTER_TO_EIGHT)
    with_pace = source_of(simulator, calls_per_minute=CALLS_PER_MINUTE)
    found = Desk(cast=cast, simulator=simulator, source=with_pace)
    monkeypatch.setattr(pace, "time", found.elapsed)
    monkeypatch.setattr(transport_bulk, "MOST_AT_ONCE", 3)
    yield found
    with_pace.close()


def source_of(simulator: Simulator, *, calls_per_minute: int | None = None) -> TransportSource:
    """The adapter."""
    return TransportSource(
        address=simulator.url,
        token=simulator.token,
        timeout=timedelta(seconds=5),
        capabilities=replace(MODERN, calls_per_minute=calls_per_minute),
    )


def follow_the_feed(source: TransportSource) -> None:
    """It was read to its end."""
    page = source.bulk.changes_after(position=0, last_entry="", permit=lambda: None)
    assert isinstance(page, FeedPage)
    SourceFeed.objects.create(
        system="transport",
        position=page.position,
        last_entry=page.last_entry,
        followed_since=LAST_SEEN - timedelta(hours=5),
        read_at=LAST_SEEN,
    )


def unread() -> list[Case]:
    """The fifteen."""
    return list(Case.objects.filter(subject__in=MOVED).order_by("pk"))


def next_try() -> datetime:
    """When all of them may be tried again."""
    return max(case.next_try_at for case in unread() if case.next_try_at is not None)


def rows_of(handover: Handover, holds: Callable[[SheetRow], bool]) -> list[SheetRow]:
    """The rows of the sheet of which something holds."""
    return [row for section in sheet(handover).sections for row in section.rows if holds(row)]


def fail_twice(desk: Desk) -> None:
    """07:45 answers 503; the next try, within the minute, 429 with Retry-After 120."""
    desk.simulator.control.fault("503", path_prefix="/v1/shipments", times=1)
    desk.refresh()
    assert {case.stage for case in unread()} == {"blocked"}
    assert all("503" in case.blocked_reason for case in unread())
    desk.simulator.control.fault("429", path_prefix="/v1/shipments", times=1, seconds=120)
    desk.time_is(next_try() + timedelta(seconds=1))
    desk.refresh()
    assert all("429" in case.blocked_reason for case in unread())


def test_scenario_05_the_sheet_says_what_was_not_read_when_it_was_seen_and_when_it_is_tried(
    desk: Desk,
) -> None:
    fail_twice(desk)
    failed_at = business_now()
    handover = Handover.objects.latest("boundary")
    now = sheet(handover)
    assert (now.to_read, now.read, now.percent_read) == (46, 31, 67)
    assert (handover.cases_to_read, handover.cases_read) == (46, 31)
    blocked = rows_of(handover, lambda row: row.only_as_blocked)
    assert sorted(row.subject for row in blocked) == MOVED
    for row in blocked:
        assert (row.section, row.owner) == ("not_refreshed", "Marta Ortega")
        assert {fact.observed_at for fact in row.facts} == {LAST_SEEN}
        assert all(fact.is_saved for fact in row.facts)
        assert "answered 429" in row.one_line
        assert row.wait.following_at is not None
        waits = row.wait.following_at - failed_at
        assert timedelta(seconds=115) < waits < timedelta(minutes=4)


def test_scenario_05_what_was_not_read_cannot_be_released_and_is_accepted_only_as_blocked(
    desk: Desk,
) -> None:
    fail_twice(desk)
    case = unread()[0]
    with pytest.raises(DecisionRefused):
        decisions.release(answer=an_answer(case), by=desk.cast.owner, at=business_now())
    row = looked_at(case)
    with pytest.raises(Conflict, match="not read for this handover"):
        answer(row, Kind.ACCEPT, desk.cast.colleague)
    answer(row, Kind.ACCEPT, desk.cast.colleague, as_blocked=True)
    taken = row_for(case)
    assert taken.answer is not None
    assert (taken.owner, taken.answer.as_blocked) == ("Dana Wu", True)


def test_scenario_05_after_recovery_the_rest_is_read_by_priority_and_within_the_rate(
    desk: Desk,
) -> None:
    fail_twice(desk)
    for place, case in enumerate(reversed(unread())):
        decide_by = MORNING + place * timedelta(minutes=10)
        Case.objects.filter(pk=case.pk).update(decide_by=decide_by)
    desk.time_is(next_try() - timedelta(seconds=30))
    assert desk.refresh() == []
    desk.time_is(next_try() + timedelta(seconds=1))
    minutes = [read_in_a_minute(desk) for _ in range(3)]
    assert [len(names) for names in minutes] == [6, 6, 3]
    wanted = list(reversed(MOVED))
    assert [set(names) for names in minutes] == [
        set(wanted[:6]),
        set(wanted[6:12]),
        set(wanted[12:]),
    ]
    found = sheet(Handover.objects.latest("boundary"))
    assert (found.read, found.percent_read) == (46, 100)
    assert set(Proposal.objects.filter(case__in=unread()).values_list("state", flat=True)) == {
        "stale"
    }


def read_in_a_minute(desk: Desk) -> list[str]:
    """One pass, after which a minute goes by."""
    read = desk.refresh()
    desk.time_is(business_now() + A_MINUTE)
    return read

"""P16, P18: a worker frozen or cut off around its call, without its claim, or much too late."""

import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import OperationalError
from pytest_django import Settings

from agent.desk import RecordDesk
from agent.planner.rules import RulePlanner
from agent.runner import Runner, Visit
from agent.sources.base import NoLease, Permit, TargetLease
from agent.sources.transport import TransportSource
from cases.actions import decisions
from cases.actions.withdrawal import withdraw_release
from cases.clock import business_now
from cases.models import Attempt, Case, ReadBack
from cases.vocabulary.lanes import Lane
from cases.vocabulary.work import AttemptOrder, CallOutcome, CallResult, Capabilities, Grant
from tests.agent.rig import MemoryCheckpoints
from tests.cases.builders import (
    EVENING,
    Cast,
    a_cast,
    a_person_closes,
    an_answer,
    an_open_case,
    at_business_time,
)
from tests.simulator import Simulator

RELEASE_IS_OVER = timedelta(minutes=61)
LEASE_OUTLASTS_THE_NIGHT = timedelta(hours=1)


@dataclass(kw_only=True)
class FrozenWorker(TransportSource):
    """Stops right before its first call, with a lease of the target that is still in force then."""

    address: str
    token: str
    meanwhile: Callable[[], None]
    results: list[CallResult] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Open the real adapter."""
        super().__init__(address=self.address, token=self.token, timeout=timedelta(seconds=5))

    def take_lease(
        self, *, subject: str, holder: str, ttl: timedelta, permit: Permit
    ) -> TargetLease | NoLease:
        """See `Source.take_lease`."""
        return super().take_lease(
            subject=subject, holder=holder, ttl=LEASE_OUTLASTS_THE_NIGHT, permit=permit
        )

    def perform(
        self, *, order: AttemptOrder, fencing_token: int | None, permit: Permit
    ) -> CallResult:
        """See `Source.perform`: frozen between the permission and the call."""

        def freeze() -> None:
            permit()
            self.meanwhile()

        self.results.append(
            super().perform(order=order, fencing_token=fencing_token, permit=freeze)
        )
        return self.results[-1]


@pytest.fixture
def cast(db: None, settings: Settings) -> Cast:
    """The people and the desk, with a business clock that may move."""
    settings.MOVABLE_CLOCK = True
    return a_cast()


@pytest.fixture
def world(simulator: Simulator) -> Simulator:
    """S-318 in the evening, with Bluewater's rate until midnight."""
    simulator.control.reset(scenario="s318", now=EVENING)
    simulator.control.actor(
        "carrier_offers_quote",
        shipment_id="S-318",
        quote_id="QX-71",
        scac="BLUX",
        name="Bluewater Express",
        amount_minor=179_000,
        currency="USD",
        expires_at="2026-11-24T06:00:00Z",
        expires_zone="America/Chicago",
    )
    return simulator


@pytest.fixture
def source(world: Simulator) -> Iterator[TransportSource]:
    """What an ordinary worker uses."""
    opened = TransportSource(address=world.url, token=world.token, timeout=timedelta(seconds=5))
    yield opened
    opened.close()


def a_worker(name: str, source: TransportSource, *, door: type[RecordDesk] = RecordDesk) -> Runner:
    """A worker of its own, with the real door, adapter and graph."""
    return Runner(
        desk=door(agent_name="exception-bot", agent_version="1.0"),
        source=source,
        planner=RulePlanner(),
        checkpoints=MemoryCheckpoints(),
        worker=name,
    )


def released(cast: Cast, source: TransportSource) -> Case:
    """A case whose first proposal was just released."""
    at_business_time(EVENING)
    case = an_open_case(cast)
    assert a_worker("evening", source).advance(case_id=case.pk) is Visit.PAUSED
    case.refresh_from_db()
    decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())
    return case


def test_p18_a_frozen_worker_books_nothing_after_its_release_ran_out_and_its_case_was_closed(
    cast: Cast, world: Simulator, source: TransportSource
) -> None:
    """Only the target can stop it: the successor fenced it off before believing the absence."""
    case = released(cast, source)
    successor = a_worker("successor", source)

    def an_hour_passes() -> None:
        for seconds in range(0, 60, 10):
            at_business_time(EVENING + RELEASE_IS_OVER + timedelta(seconds=seconds))
            successor.advance(case_id=case.pk)
        assert Attempt.objects.get().outcome != "open"
        assert ReadBack.objects.filter(found=False).exists()
        a_person_closes(case, by=cast.lead)

    frozen = FrozenWorker(address=world.url, token=world.token, meanwhile=an_hour_passes)
    assert a_worker("frozen", frozen).advance(case_id=case.pk) is Visit.LEASE_LOST
    frozen.close()
    assert [result.outcome for result in frozen.results] == [CallOutcome.NOT_SENT]
    assert world.control.ledger(shipment_id="S-318") == []
    case.refresh_from_db()
    assert (case.stage, case.stage_reason) == ("closed", "The customer cancelled.")


def test_p16_a_worker_that_thaws_before_anyone_looked_is_found_and_not_repeated(
    cast: Cast, world: Simulator, source: TransportSource
) -> None:
    """It held the only lease, so its call counts; its late write does not; the look finds it."""
    case = released(cast, source)

    def its_lease_runs_out() -> None:
        at_business_time(EVENING + timedelta(seconds=61))

    frozen = FrozenWorker(address=world.url, token=world.token, meanwhile=its_lease_runs_out)
    assert a_worker("frozen", frozen).advance(case_id=case.pk) is Visit.LEASE_LOST
    frozen.close()
    assert Attempt.objects.get().outcome == "open"
    world.control.advance_clock(seconds=5)
    a_worker("successor", source).advance(case_id=case.pk)
    kinds = [entry.kind for entry in world.control.ledger(shipment_id="S-318")]
    assert kinds.count("booking") == 1
    assert Attempt.objects.filter(effect__reference__endswith="-1").count() == 1


def bookings(world: Simulator) -> tuple[int, int]:
    """Calls for a booking that reached the target, and bookings it made."""
    calls = [call for call in world.control.calls() if call.method == "POST"]
    kinds = [entry.kind for entry in world.control.ledger(shipment_id="S-318")]
    return sum(call.path == "/v1/bookings" for call in calls), kinds.count("booking")


def later(case: Case, world: Simulator, source: TransportSource) -> None:
    """The lease, the next try and the target's consistency window pass, and others go on."""
    for seconds in (40, 60, 80):
        at_business_time(EVENING + timedelta(seconds=seconds))
        world.control.set_clock(business_now())
        a_worker("successor", source).advance(case_id=case.pk)


class Unrenewable(RecordDesk):
    """From its committed attempt on, this worker's lease cannot be prolonged any more."""

    is_blocked: bool = False

    def begin_attempt(
        self, *, grant: Grant, effect_id: int, capabilities: Capabilities
    ) -> AttemptOrder | None:
        """See `Desk.begin_attempt`."""
        self.is_blocked = True
        return super().begin_attempt(grant=grant, effect_id=effect_id, capabilities=capabilities)

    def permit_call(self, *, grant: Grant, lease: timedelta, lane: Lane | None = None) -> Grant:
        """See `Desk.permit_call`."""
        if self.is_blocked:
            raise OperationalError("the server closed the connection unexpectedly")
        return super().permit_call(grant=grant, lease=lease, lane=lane)


def test_d06_a_worker_that_cannot_renew_makes_no_call(
    cast: Cast, world: Simulator, source: TransportSource
) -> None:
    """It stops at once, long before its lease ends; another one finds that nothing happened."""
    case = released(cast, source)
    assert a_worker("cut off", source, door=Unrenewable).advance(case_id=case.pk) is Visit.FAILED
    assert bookings(world) == (0, 0)
    assert Attempt.objects.get().outcome == "open"
    later(case, world, source)
    assert bookings(world) == (1, 1)


class CutOff(TransportSource):
    """Its task has a time limit: half a second into the call, a signal that raises where it is."""

    def __init__(self, world: Simulator) -> None:
        super().__init__(address=world.url, token=world.token, timeout=timedelta(seconds=10))

    def perform(
        self, *, order: AttemptOrder, fencing_token: int | None, permit: Permit
    ) -> CallResult:
        """See `Source.perform`."""

        def is_over(*_: object) -> None:
            raise SoftTimeLimitExceeded

        def begin() -> None:
            permit()
            signal.setitimer(signal.ITIMER_REAL, 0.5)

        before = signal.signal(signal.SIGALRM, is_over)
        try:
            return super().perform(order=order, fencing_token=fencing_token, permit=begin)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def test_b11_d11_a_call_cut_off_by_the_tasks_time_limit_is_looked_up_and_not_repeated(
    cast: Cast, world: Simulator, source: TransportSource
) -> None:
    """The target booked, and answers when nobody listens any more: not failed, and one booking."""
    case = released(cast, source)
    world.control.fault("commit_then_timeout", path_prefix="/v1/bookings", times=1, seconds=2)
    hurried = CutOff(world)
    assert a_worker("hurried", hurried).advance(case_id=case.pk) is Visit.FAILED
    hurried.close()
    assert Attempt.objects.get().outcome == "open"
    later(case, world, source)
    assert bookings(world) == (1, 1)
    case.refresh_from_db()
    assert case.stage == "waiting_for_acceptance"


def test_b13_a_message_for_a_case_that_was_cancelled_does_nothing(
    cast: Cast, world: Simulator, source: TransportSource
) -> None:
    """Withdrawn and closed while the nudge lay in its queue and no worker lived."""
    case = released(cast, source)
    withdraw_release(case_id=case.pk, by=cast.owner, at=business_now(), reason="Cancelled")
    a_person_closes(case, by=cast.owner)
    visits = [a_worker("restarted", source).advance(case_id=case.pk) for _ in range(2)]
    assert visits == [Visit.CLOSED, Visit.NOT_CLAIMED]
    assert bookings(world) == (0, 0)
    assert Attempt.objects.count() == 0

"""P15, P16: the transport system itself tells late what became of a call nobody saw the end of.

Its own process sends signed events to a real server; agent, adapter and record are real.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from agent.desk import RecordDesk
from agent.planner.rules import RulePlanner
from agent.runner import Runner, Visit
from agent.sources.transport import TransportSource
from agent.sweep import sweep_due
from cases.actions import clock, decisions, intake, pauses
from cases.clock import business_now
from cases.models import Case, Effect, InboundEvent
from cases.vocabulary.actors import SYSTEM
from tests.agent.rig import MemoryCheckpoints
from tests.cases.builders import EVENING, Cast, a_cast, an_answer, events_of
from tests.cases.sender import KEY, OLD_KEY, secret_of
from tests.simulator import Simulator
from tools.simulator_control import Delivery, SimulatorControl


@dataclass(kw_only=True)
class Desk:
    """S-318 with a release of its booking, and one agent that visits the case when it is due."""

    control: SimulatorControl
    runner: Runner
    case: Case

    def work(self) -> None:
        """Visits until nothing is due any more, as sweep and worker would make them."""
        for _ in range(20):
            nudged = sweep_due(
                desk=self.runner.desk, waiting=lambda _: 0, send=lambda case_id, lane: None
            )
            if not nudged:
                return
            self.visit()
        raise AssertionError("still busy after twenty visits")

    def visit(self) -> Visit:
        """One visit."""
        return self.runner.advance(case_id=self.case.pk)

    def stage(self) -> str:
        """Where the case stands, read fresh."""
        self.case.refresh_from_db()
        return self.case.stage

    def booking(self) -> Effect:
        """The booking among the effects of the first release."""
        return Effect.objects.get(
            decision__case=self.case,
            proposed_action__action="book_replacement_carrier",
            decision__proposal__number=1,
        )

    def pass_time(self, **duration: float) -> None:
        """Both clocks move on."""
        by = timedelta(**duration)
        clock.move_business_clock(by=by)
        self.control.advance_clock(seconds=by.total_seconds())

    def our_effects(self) -> list[str]:
        """What we caused, by the transport system's own ledger."""
        ours = "watchbill-agent"
        return [entry.kind for entry in self.control.ledger() if entry.principal == ours]

    def wait_for_events(self, *names: str) -> None:
        """Wait until exactly these have come in about our bookings and messages, in this order."""
        arrived = InboundEvent.objects.exclude(event_type="shipment.updated")
        wait_until(lambda: tuple(arrived.values_list("event_type", flat=True)) == names)


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for what comes from another process."""
    deadline = time.monotonic() + 15
    while not holds():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.02)


@pytest.fixture
def agent(simulator: Simulator, cast: Cast) -> Iterator[Runner]:
    """An agent with real doors to the record and to the transport system."""
    source = TransportSource(
        address=simulator.url, token=simulator.token, timeout=timedelta(seconds=0.5)
    )
    yield Runner(
        desk=RecordDesk(agent_name="exception-bot", agent_version="1.0"),
        source=source,
        planner=RulePlanner(),
        checkpoints=MemoryCheckpoints(),
        worker="test",
    )
    source.close()


@pytest.fixture
def cast(transactional_db: None, settings: Settings) -> Cast:
    """People whose clock may move."""
    settings.MOVABLE_CLOCK = True
    return a_cast()


@pytest.fixture
def desk(
    live_server: LiveServer, simulator: Simulator, settings: Settings, agent: Runner, cast: Cast
) -> Iterator[Desk]:
    """17:00: the proposal is released; carriers confirm after a minute; events are sent here."""
    settings.WEBHOOK_KEYS = {"transport": (KEY,)}
    control = simulator.control
    control.reset(scenario="s318", now=EVENING)
    control.settings(booking_confirm_seconds=60)
    clock.set_business_clock(to=EVENING)
    address = f"{live_server.url}/hooks/transport/"
    control.subscribe(url=address, secret=secret_of(KEY))
    control.actor(
        "carrier_offers_quote",
        shipment_id="S-318",
        quote_id="QX-71",
        scac="BLUX",
        name="Bluewater Express",
        amount_minor=179000,
        currency="USD",
        expires_at="2026-11-24T06:00:00Z",
        expires_zone="America/Chicago",
    )
    opened = intake.open_case(
        wanted=intake.NewCase(
            kind="freight_exception",
            case_type="E02",
            subject="S-318",
            system="transport",
            desk=cast.desk,
            owner=cast.owner,
        ),
        by=SYSTEM,
        at=business_now(),
    )
    desk = Desk(control=control, runner=agent, case=Case.objects.get(pk=opened.case_id))
    desk.work()
    desk.case.refresh_from_db()
    decisions.release(answer=an_answer(desk.case), by=cast.owner, at=business_now())
    yield desk
    control.unsubscribe_all()


def lose_the_answer(desk: Desk) -> None:
    """The booking is made and its answer lost; then nothing can be looked up: the case blocks."""
    desk.control.fault("commit_then_timeout", path_prefix="/v1/bookings", times=1, seconds=1)
    desk.control.fault("lookup_down")
    desk.work()
    assert (desk.stage(), desk.booking().state) == ("blocked", "unknown")
    assert desk.our_effects() == ["booking"]
    desk.control.clear_faults()


def carrier_confirms(desk: Desk) -> None:
    """A minute passes at the transport system alone: no clock of ours makes anything due."""
    desk.control.advance_clock(seconds=60)


def test_p16_a_late_webhook_resolves_an_unknown_outcome_at_once(desk: Desk) -> None:
    lose_the_answer(desk)
    desk.work()
    assert desk.stage() == "blocked", "the next try is not due yet"
    carrier_confirms(desk)
    desk.wait_for_events("booking.confirmed")
    assert desk.booking().state == "unknown", "a report proves nothing"
    desk.work()
    assert desk.booking().state == "adopted"
    assert desk.our_effects() == ["booking", "message"]
    assert desk.booking().attempts.count() == 1


def test_p30_a_webhook_that_comes_twice_counts_once(desk: Desk) -> None:
    lose_the_answer(desk)
    desk.control.fault("webhook_duplicate", event="booking.confirmed", times=1)
    carrier_confirms(desk)
    wait_until(lambda: [d.status for d in told(desk, "booking")] == ["delivered", "delivered"])
    desk.wait_for_events("booking.confirmed")
    assert events_of(desk.case).count("event_reported") == 1
    desk.work()
    assert desk.our_effects() == ["booking", "message"]


def test_p16_without_its_webhook_it_is_looked_up_all_the_same(desk: Desk) -> None:
    lose_the_answer(desk)
    desk.control.fault("webhook_drop")
    carrier_confirms(desk)
    wait_until(lambda: [d.status for d in told(desk, "booking")] == ["dropped"])
    desk.work()
    assert desk.stage() == "blocked"
    desk.pass_time(seconds=60)
    desk.work()
    assert (desk.booking().state, desk.our_effects()) == ("adopted", ["booking", "message"])
    assert InboundEvent.objects.filter(event_type__startswith="booking").count() == 0


def test_p30_webhooks_in_another_order_lead_to_the_same(desk: Desk) -> None:
    lose_the_answer(desk)
    desk.control.fault("webhook_reorder", event="booking.confirmed", times=1, seconds=3600)
    carrier_confirms(desk)
    desk.control.actor("carrier_declines", booking_id=only_booking(desk))
    desk.wait_for_events("booking.declined", "booking.confirmed")
    desk.work()
    assert (desk.stage(), desk.booking().state) == ("escalated", "refused")
    assert desk.our_effects() == ["booking"]


def test_secrets_are_exchanged_without_losing_an_event(desk: Desk, settings: Settings) -> None:
    settings.WEBHOOK_KEYS = {"transport": (OLD_KEY,)}
    lose_the_answer(desk)
    carrier_confirms(desk)
    wait_until(lambda: told(desk, "booking")[0].answer_status == 401)
    assert InboundEvent.objects.filter(event_type="booking.confirmed").count() == 0
    settings.WEBHOOK_KEYS = {"transport": (OLD_KEY, KEY)}
    desk.control.advance_clock(seconds=10)  # the next attempt is due
    desk.wait_for_events("booking.confirmed")
    desk.work()
    assert desk.booking().state == "adopted"


def test_p21_what_came_in_during_a_pause_is_applied_by_the_next_sweep(
    desk: Desk, cast: Cast
) -> None:
    pause = pauses.set_pause(
        lane="intake", kind="", agent="", reason="Flood.", by=cast.lead, at=business_now()
    )
    lose_the_answer(desk)
    carrier_confirms(desk)
    desk.wait_for_events("booking.confirmed")
    desk.work()
    assert desk.stage() == "blocked"
    pauses.lift_pause(pause_id=pause.pk, reason="Over.", by=cast.lead, at=business_now())
    desk.work()
    assert desk.booking().state == "adopted"


def test_p16_a_case_that_a_person_has_is_resolved_by_a_late_webhook(desk: Desk) -> None:
    """Nobody could look the booking up in time, so a person was to find out."""
    lose_the_answer(desk)
    desk.control.fault("webhook_delay", event="booking.confirmed", times=1, seconds=3600)
    desk.control.fault("lookup_down")
    desk.pass_time(minutes=16)
    desk.work()
    assert (desk.stage(), desk.booking().state) == ("escalated", "unknown")
    desk.control.clear_faults()
    desk.pass_time(hours=1)
    desk.wait_for_events("booking.confirmed")
    assert desk.stage() == "reconciling"
    desk.work()
    assert desk.booking().state == "adopted"
    assert desk.our_effects() == ["booking"]
    assert desk.stage() == "waiting_for_review", "what is left to do is proposed anew"


def told(desk: Desk, record_type: str) -> list[Delivery]:
    """Deliveries of events about records of that type."""
    return [one for one in desk.control.deliveries() if one.event.startswith(record_type)]


def only_booking(desk: Desk) -> str:
    """The transport system's name for the booking."""
    (entry,) = [entry for entry in desk.control.ledger() if entry.kind == "booking"]
    return entry.record_id

"""Events that get lost, come twice, come late or come in the wrong order."""

import time
from collections.abc import Iterator

import pytest

from tests.transport_sim.caller import Caller, read
from tests.transport_sim.receiver import SECRET, Receiver, receiving
from tools.simulator_control import SimulatorControl


@pytest.fixture
def receiver(control: SimulatorControl) -> Iterator[Receiver]:
    """A subscriber from the start of the world."""
    with receiving() as receiver:
        control.subscribe(url=receiver.url, secret=SECRET)
        yield receiver
        control.unsubscribe_all()


def _edit(control: SimulatorControl) -> int:
    """Give S-318 a new version and tell which."""
    return int(
        control.actor("employee_edits", shipment_id="S-318", employee="k.ito", patch={})["version"]
    )


def _versions(receiver: Receiver) -> list[int]:
    return [one.content["data"]["version"] for one in receiver.received]


def test_a_dropped_event_is_never_sent_and_the_next_one_is(
    control: SimulatorControl, receiver: Receiver
) -> None:
    control.fault("webhook_drop", times=1)
    assert (_edit(control), _edit(control)) == (40, 41)
    receiver.wait_for(1)
    time.sleep(0.5)
    assert _versions(receiver) == [41]
    dropped, sent = control.deliveries()
    assert (dropped.status, dropped.attempts) == ("dropped", 0)
    assert (sent.status, sent.attempts) == ("delivered", 1)


def test_a_fault_can_be_about_one_kind_of_event(
    caller: Caller, control: SimulatorControl, receiver: Receiver
) -> None:
    control.fault("webhook_drop", event="booking.confirmed")
    booking = read(caller.book())
    message = read(caller.tell())
    receiver.wait_for(2)
    control.advance_clock(seconds=5)
    assert read(caller.client.get(f"/v1/bookings/{booking['id']}"))["status"] == "confirmed"
    time.sleep(0.5)
    assert receiver.names() == ["shipment.updated", "message.delivered"]
    assert receiver.received[1].content["data"]["record_id"] == message["id"]


def test_a_duplicated_event_comes_twice_under_one_id(
    control: SimulatorControl, receiver: Receiver
) -> None:
    control.fault("webhook_duplicate", times=1)
    _edit(control)
    first, second = receiver.wait_for(2)
    assert (first.webhook_id, first.body) == (second.webhook_id, second.body)
    _edit(control)
    assert receiver.wait_for(3)[2].webhook_id != first.webhook_id
    time.sleep(0.5)
    assert len(receiver.received) == 3


def test_a_delayed_event_comes_when_the_simulators_clock_says_so(
    control: SimulatorControl, receiver: Receiver
) -> None:
    control.fault("webhook_delay", times=1, seconds=3600)
    _edit(control)
    time.sleep(0.7)
    assert receiver.received == []
    assert control.deliveries()[0].attempts == 0
    control.advance_clock(seconds=3600)
    receiver.wait_for(1)
    assert _versions(receiver) == [40]


def test_a_reordered_event_comes_right_after_the_next_one(
    control: SimulatorControl, receiver: Receiver
) -> None:
    control.fault("webhook_reorder", times=1, seconds=3600)
    _edit(control)
    time.sleep(0.5)
    assert receiver.received == []
    _edit(control)
    receiver.wait_for(2)
    _edit(control)
    receiver.wait_for(3)
    assert _versions(receiver) == [41, 40, 42]


def test_a_reordered_event_that_nothing_follows_comes_late(
    control: SimulatorControl, receiver: Receiver
) -> None:
    control.fault("webhook_reorder", times=1, seconds=1)
    _edit(control)
    receiver.wait_for(1)
    assert _versions(receiver) == [40]


def test_faults_of_events_do_not_concern_calls_nor_the_other_way_round(
    caller: Caller, control: SimulatorControl, receiver: Receiver
) -> None:
    control.fault("webhook_drop", times=1)
    caller.shipment()
    assert control.faults()[0].times_left == 1
    control.clear_faults()
    control.fault("503")
    _edit(control)
    receiver.wait_for(1)

"""Events for subscribers: signed, told of late outcomes, at least once."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from tests.simulator import Simulator
from tests.transport_sim.caller import BOOKING, Caller, read
from tests.transport_sim.receiver import SECRET, Receiver, receiving
from tools.ports import free_port
from tools.simulator_control import Delivery, SimulatorControl, SimulatorRefused


@pytest.fixture
def receiver(control: SimulatorControl) -> Iterator[Receiver]:
    """A subscriber from the start of the world."""
    with receiving() as receiver:
        control.subscribe(url=receiver.url, secret=SECRET)
        yield receiver
        control.unsubscribe_all()


def _settled(control: SimulatorControl) -> list[Delivery]:
    """All deliveries once none is pending."""
    for _ in range(200):
        found = control.deliveries()
        if all(delivery.status != "pending" for delivery in found):
            return found
        time.sleep(0.05)
    raise AssertionError(f"still pending: {found}")


def test_a_late_confirmation_is_told_although_nobody_asks(
    caller: Caller, control: SimulatorControl, receiver: Receiver
) -> None:
    booking = read(caller.book())
    updated, confirmed = receiver.wait_for(2)
    assert updated.content["type"] == "shipment.updated"
    assert updated.content["data"] == {
        "record_type": "shipment",
        "record_id": "S-318",
        "shipment_id": "S-318",
        "client_reference": None,
        "version": 40,
        "status": "booked",
    }
    assert confirmed.content["type"] == "booking.confirmed"
    assert confirmed.content["data"] == {
        "record_type": "booking",
        "record_id": booking["id"],
        "shipment_id": "S-318",
        "client_reference": BOOKING["client_reference"],
        "version": 2,
        "status": "confirmed",
    }
    shown = read(caller.client.get(f"/v1/bookings/{booking['id']}"))
    assert confirmed.content["timestamp"] == shown["confirmed_at"]


def test_declined_delivered_and_bounced_are_told_too(
    caller: Caller, control: SimulatorControl, receiver: Receiver
) -> None:
    booking = read(caller.book())
    message = read(caller.tell())
    receiver.wait_for(3)
    control.actor("carrier_declines", booking_id=booking["id"])
    control.actor("message_bounces", message_id=message["id"])
    told = {
        (one.content["type"], one.content["data"]["record_id"], one.content["data"]["version"])
        for one in receiver.wait_for(6)
    }
    assert told == {
        ("shipment.updated", "S-318", 40),
        ("booking.confirmed", booking["id"], 2),
        ("message.delivered", message["id"], 2),
        ("booking.declined", booking["id"], 3),
        ("shipment.updated", "S-318", 41),
        ("message.bounced", message["id"], 3),
    }


def test_a_message_bounces_once_and_stays_bounced(
    caller: Caller, control: SimulatorControl
) -> None:
    message = read(caller.tell())
    bounced = control.actor("message_bounces", message_id=message["id"])
    assert (bounced["status"], bounced["delivered_at"]) == ("bounced", None)
    control.advance_clock(seconds=60)
    assert read(caller.client.get(f"/v1/messages/{message['id']}")) == bounced
    with pytest.raises(SimulatorRefused, match="bounced already"):
        control.actor("message_bounces", message_id=message["id"])


def test_each_delivery_is_signed_over_id_timestamp_and_body(
    caller: Caller, receiver: Receiver
) -> None:
    read(caller.book())
    first, second = receiver.wait_for(2)
    assert first.is_signed()
    assert second.is_signed()
    assert first.webhook_id != second.webhook_id
    assert first.headers["content-type"] == "application/json"


def test_the_timestamp_is_of_the_clock_that_was_chosen(
    control: SimulatorControl, receiver: Receiver
) -> None:
    with receiving() as other:
        control.subscribe(url=other.url, secret=SECRET, clock="real")
        control.actor("employee_edits", shipment_id="S-318", employee="k.ito", patch={})
        (simulated,), (real,) = receiver.wait_for(1), other.wait_for(1)
        stamps = [int(one.headers["webhook-timestamp"]) for one in (simulated, real)]
        assert abs(stamps[0] - control.clock().now.timestamp()) < 10
        assert abs(stamps[1] - datetime.now(UTC).timestamp()) < 10
        assert simulated.webhook_id == real.webhook_id
        control.unsubscribe_all()


def test_what_is_refused_is_repeated_under_the_same_id_until_it_is_taken(
    control: SimulatorControl, receiver: Receiver
) -> None:
    receiver.statuses[:] = [500, 302]
    control.actor("employee_edits", shipment_id="S-318", employee="k.ito", patch={})
    tries = receiver.wait_for(3, seconds=15)
    assert len({one.webhook_id for one in tries}) == 1
    assert len({one.headers["webhook-timestamp"] for one in tries}) > 1
    assert all(one.is_signed() for one in tries)
    (delivery,) = _settled(control)
    assert (delivery.status, delivery.attempts, delivery.answer_status) == ("delivered", 3, 204)
    assert delivery.body == tries[0].content


def test_a_subscriber_that_is_down_gets_it_when_it_is_back(control: SimulatorControl) -> None:
    port = free_port()
    control.subscribe(url=f"http://127.0.0.1:{port}/", secret=SECRET)
    control.actor("employee_edits", shipment_id="S-318", employee="k.ito", patch={})
    for _ in range(100):
        (delivery,) = control.deliveries()
        if delivery.error is not None:
            break
        time.sleep(0.05)
    assert (delivery.status, delivery.answer_status) == ("pending", None)
    with receiving(port) as receiver:
        receiver.wait_for(1)
        assert _settled(control)[0].status == "delivered"
    control.unsubscribe_all()


def test_a_subscriber_that_does_not_answer_is_given_up_for_now_and_tried_again(
    control: SimulatorControl, receiver: Receiver
) -> None:
    receiver.answering.clear()
    control.actor("employee_edits", shipment_id="S-318", employee="k.ito", patch={})
    first, second = receiver.wait_for(2, seconds=15)[:2]
    assert first.webhook_id == second.webhook_id
    assert "TimeoutError" in str(control.deliveries()[0].error)
    receiver.answering.set()
    assert _settled(control)[0].status == "delivered"


def test_a_delivery_fails_after_its_last_attempt(
    control: SimulatorControl, receiver: Receiver
) -> None:
    receiver.statuses[:] = [500] * 20
    control.actor("employee_edits", shipment_id="S-318", employee="k.ito", patch={})
    for attempt in range(1, 9):
        receiver.wait_for(attempt)
        control.advance_clock(seconds=300)
    (delivery,) = _settled(control)
    assert (delivery.status, delivery.attempts, delivery.answer_status) == ("failed", 8, 500)
    control.advance_clock(seconds=3600)
    time.sleep(0.5)
    assert len(receiver.received) == 8


def test_nothing_is_sent_inside_a_transaction(
    simulator: Simulator, control: SimulatorControl, receiver: Receiver
) -> None:
    receiver.answering.clear()
    control.actor("employee_edits", shipment_id="S-318", employee="k.ito", patch={})
    receiver.wait_for(1)
    open_transactions = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND xact_start IS NOT NULL AND pid <> pg_backend_pid()"
        " AND backend_type = 'client backend'"
    )
    with psycopg.connect(simulator.database_url) as observer:
        assert observer.execute(open_transactions).fetchone() == (0,)
    assert control.deliveries()[0].attempts == 1


def test_what_was_undone_is_not_told(control: SimulatorControl, receiver: Receiver) -> None:
    edit = {"actor": "employee_edits", "shipment_id": "S-318", "employee": "k.ito", "patch": {}}
    withdrawal = {"actor": "quote_withdrawn", "quote_id": "QX-68"}
    with pytest.raises(SimulatorRefused, match="quote_not_open"):
        control.batch([edit, withdrawal, withdrawal])
    assert control.deliveries() == []
    control.batch([edit])
    assert [one.content["data"]["version"] for one in receiver.wait_for(1)] == [40]


def test_events_hide_what_the_system_does_not_have(control: SimulatorControl) -> None:
    control.reset(profile="no_version")
    control.settings(lookup_by_reference=False)
    with receiving() as receiver:
        control.subscribe(url=receiver.url, secret=SECRET)
        control.actor("employee_edits", shipment_id="S-318", employee="k.ito", patch={})
        (told,) = receiver.wait_for(1)
        assert set(told.content["data"]) == {"record_type", "record_id", "shipment_id", "status"}
        control.unsubscribe_all()


def test_a_reset_forgets_subscribers_and_deliveries(
    control: SimulatorControl, receiver: Receiver
) -> None:
    control.actor("employee_edits", shipment_id="S-318", employee="k.ito", patch={})
    receiver.wait_for(1)
    assert SECRET not in json.dumps(control.subscriptions())
    control.reset()
    assert (control.subscriptions(), control.deliveries()) == ([], [])
    control.actor("employee_edits", shipment_id="S-318", employee="k.ito", patch={})
    assert control.deliveries() == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"url": "ftp://127.0.0.1/"}, "url"),
        ({"url": "http://"}, "url"),
        ({"url": "http://127.0.0.1:99999/"}, "url"),
        ({"url": "http://127.0.0.1/a b"}, "url"),
        ({"secret": "hunter2"}, "secret"),
        ({"secret": "whsec_!!!"}, "secret"),
        ({"secret": "whsec_c2hvcnQ="}, "secret"),
        ({"clock": "sun"}, "clock"),
    ],
)
def test_a_malformed_subscription_is_refused(
    control: SimulatorControl, changes: dict[str, str], field: str
) -> None:
    with pytest.raises(SimulatorRefused, match=f"Field {field}"):
        control.subscribe(**{"url": "http://127.0.0.1:9/", "secret": SECRET, **changes})
    assert control.subscriptions() == []


def test_a_delivery_is_dated_by_the_simulators_clock(
    control: SimulatorControl, receiver: Receiver
) -> None:
    control.actor("employee_edits", shipment_id="S-318", employee="k.ito", patch={})
    (delivery,) = _settled(control)
    assert delivery.delivered_at is not None
    now = control.clock().now
    for at in (delivery.queued_at, delivery.delivered_at):
        assert now - timedelta(seconds=10) < at <= now

"""Kinds of transport systems: without keys, without versions, without a search, with locks."""

import pytest

from tests.transport_sim.caller import MESSAGE, Caller, read, refused
from tools.simulator_control import SimulatorControl, SimulatorRefused

PROFILES = ("modern", "no_idempotency", "no_version", "locked_by_user")


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_is_chosen_at_reset_and_shown(control: SimulatorControl, profile: str) -> None:
    control.reset(profile=profile)
    assert control.health()["profile"] == profile
    control.reset()
    assert control.health()["profile"] == "modern"
    assert control.settings()["versions"] is True


def test_an_unknown_profile_is_refused_and_the_world_stays(control: SimulatorControl) -> None:
    control.reset(profile="no_version")
    with pytest.raises(SimulatorRefused, match="profile"):
        control.reset(profile="perfect")
    assert control.health()["profile"] == "no_version"


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_books_tells_and_shows_for_a_caller_who_sends_everything(
    caller: Caller, control: SimulatorControl, profile: str
) -> None:
    control.reset(profile=profile)
    lease = caller.lease()
    headers = {
        "Idempotency-Key": "one",
        "If-Match": '"39"',
        "Fencing-Token": str(lease["fencing_token"]),
    }
    booking = read(caller.book(headers))
    message = read(caller.tell({**headers, "Idempotency-Key": "two", "If-Match": '"40"'}))
    for kind, record in (("bookings", booking), ("messages", message)):
        assert read(caller.client.get(f"/v1/{kind}/{record['id']}"))["id"] == record["id"]
    assert [entry.kind for entry in control.ledger()] == ["booking", "message"]


def test_without_keys_a_repeated_message_is_a_second_effect_that_a_search_finds(
    caller: Caller, control: SimulatorControl
) -> None:
    control.reset(profile="no_idempotency")
    headers = caller.headers()
    first, second = read(caller.tell(headers)), read(caller.tell(headers))
    assert first["id"] != second["id"]
    assert [entry.kind for entry in control.ledger()] == ["message", "message"]
    search = {"client_reference": MESSAGE["client_reference"]}
    found = read(caller.client.get("/v1/messages", params=search))["items"]
    assert [message["id"] for message in found] == [first["id"], second["id"]]


def test_without_keys_nobody_has_to_send_one(caller: Caller, control: SimulatorControl) -> None:
    control.reset(profile="no_idempotency")
    assert caller.book(caller.headers(Idempotency_Key=None)).status_code == 202
    # Not even a key that would be refused elsewhere makes a difference.
    assert caller.tell(caller.headers(Idempotency_Key="two words")).status_code == 202
    assert [entry.idempotency_key for entry in control.ledger()] == [None, None]


def test_without_keys_a_repeated_booking_meets_the_rules_of_the_business(
    caller: Caller, control: SimulatorControl
) -> None:
    control.reset(profile="no_idempotency")
    headers = caller.headers()
    read(caller.book(headers))
    refused(caller.book(headers), 412, "version_mismatch")
    refused(caller.book(), 409, "shipment_already_covered")
    assert len(control.ledger()) == 1


def test_where_a_shipment_takes_several_bookings_a_repeated_one_is_a_second_truck(
    caller: Caller, control: SimulatorControl
) -> None:
    control.reset(profile="no_idempotency")
    control.settings(one_booking_per_shipment=False)
    first, second = read(caller.book()), read(caller.book())
    assert first["id"] != second["id"]
    assert [entry.kind for entry in control.ledger()] == ["booking", "booking"]
    shown = read(caller.client.get("/v1/bookings?shipment_ids=S-318"))["items"]
    assert [booking["id"] for booking in shown] == [first["id"], second["id"]]


def test_several_bookings_do_not_open_a_shipment_that_is_under_way(
    caller: Caller, control: SimulatorControl
) -> None:
    control.settings(one_booking_per_shipment=False)
    patch = {"status": "cancelled"}
    control.actor("employee_edits", shipment_id="S-318", employee="d.ruiz", patch=patch)
    refused(caller.book(), 409, "shipment_not_open")


def test_without_versions_no_answer_tells_one(caller: Caller, control: SimulatorControl) -> None:
    control.reset(profile="no_version")
    caller_headers = {"Fencing-Token": str(caller.lease()["fencing_token"])}
    booking = caller.book({**caller_headers, "Idempotency-Key": "one"})
    message = caller.tell({**caller_headers, "Idempotency-Key": "two"})
    answers = [
        booking,
        message,
        caller.patch({"weight_kg": "18300"}, etag=None),
        *(
            caller.client.get(f"/v1/{path}")
            for path in (
                "shipments/S-318",
                "shipments?ids=S-318",
                "shipments",
                "quotes/QX-68",
                "quotes?shipment_ids=S-318",
                f"bookings/{booking.json()['id']}",
                "bookings?shipment_ids=S-318",
                f"messages/{message.json()['id']}",
                "changes",
            )
        ),
    ]
    for answer in answers:
        read(answer)
        assert "ETag" not in answer.headers
        assert '"version"' not in answer.text
        assert '"etag"' not in answer.text
    # What happened is told in full to the director.
    assert control.ledger()[0].details["shipment_version"] == 40


def test_without_versions_a_late_write_goes_through(
    caller: Caller, control: SimulatorControl
) -> None:
    control.reset(profile="no_version")
    control.actor("employee_edits", shipment_id="S-318", employee="d.ruiz", patch={})
    assert caller.patch({"weight_kg": "18300"}, etag='"39"').status_code == 200
    assert caller.patch({"weight_kg": "18400"}, etag="nonsense").status_code == 200
    known = caller.client.get("/v1/shipments/S-318", headers={"If-None-Match": '"42"'})
    assert known.status_code == 200
    headers = {"Fencing-Token": str(caller.lease()["fencing_token"]), "Idempotency-Key": "one"}
    assert caller.book({**headers, "If-Match": '"39"'}).status_code == 202


def test_without_versions_keys_still_work(caller: Caller, control: SimulatorControl) -> None:
    control.reset(profile="no_version")
    headers = {"Fencing-Token": str(caller.lease()["fencing_token"]), "Idempotency-Key": "one"}
    first, again = caller.book(headers), caller.book(headers)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.content == first.content
    assert len(control.ledger()) == 1


def test_without_a_search_no_record_can_be_told_by_the_callers_reference(
    caller: Caller, control: SimulatorControl
) -> None:
    control.reset(profile="no_idempotency")
    control.settings(lookup_by_reference=False)
    message = read(caller.tell())
    search = caller.client.get("/v1/messages?client_reference=case-318 tell")
    assert refused(search, 400, "lookup_not_supported")["retryable"] is False
    for path in (f"messages/{message['id']}", "messages?shipment_ids=S-318"):
        shown = caller.client.get(f"/v1/{path}")
        assert message["id"] in shown.text
        assert "client_reference" not in shown.text
    assert "client_reference" not in message
    assert control.ledger()[0].client_reference == "case-318 tell"

"""Who has a shipment in hands: employees with the record open, other agents and people."""

from datetime import datetime

import pytest

from tests.transport_sim.caller import Caller, read, refused
from tools.simulator_control import SimulatorControl, SimulatorRefused

OPEN = {"shipment_id": "S-318", "employee": "k.ito"}
LEASE = {"shipment_id": "S-318", "holder": "m.ortiz", "holder_kind": "person", "ttl_seconds": 60}


@pytest.fixture
def control(control: SimulatorControl) -> SimulatorControl:
    """The director of a system that locks a record while it is open."""
    control.reset(profile="locked_by_user")
    return control


def test_an_open_record_refuses_every_write_and_says_who_has_it_and_since_when(
    caller: Caller, control: SimulatorControl
) -> None:
    headers = caller.headers()
    opened = control.actor("employee_opens_record", **OPEN)
    assert opened["open_at"] == "k.ito"
    assert datetime.fromisoformat(opened["since"]) <= control.clock().now
    lease = {"resource": "shipment:S-318", "holder": "worker-1", "ttl_seconds": 60}
    for attempt in (
        caller.book(headers),
        caller.tell(headers),
        caller.patch({"weight_kg": "18300"}, etag=headers["If-Match"]),
        caller.client.post("/v1/leases", json=lease),
    ):
        problem = refused(attempt, 423, "record_locked")
        assert (problem["locked_by"], problem["locked_since"]) == ("k.ito", opened["since"])
        assert problem["retryable"] is True
    assert control.ledger() == []
    assert caller.shipment()["version"] == 39


def test_once_the_record_is_closed_the_same_write_goes_through(
    caller: Caller, control: SimulatorControl
) -> None:
    headers = caller.headers()
    control.actor("employee_opens_record", **OPEN)
    refused(caller.book(headers), 423, "record_locked")
    for _ in range(2):
        closed = control.actor("employee_closes_record", **OPEN)
        assert (closed["open_at"], closed["since"]) == (None, None)
    assert caller.book(headers).status_code == 202


def test_an_open_record_concerns_its_own_shipment_and_nobody_who_reads(
    caller: Caller, control: SimulatorControl
) -> None:
    control.actor("employee_opens_record", shipment_id="S-377", employee="k.ito")
    assert caller.shipment("S-377")["version"] == 12
    assert caller.book().status_code == 202


def test_an_employee_saves_what_they_have_open(caller: Caller, control: SimulatorControl) -> None:
    control.actor("employee_opens_record", **OPEN)
    control.actor("employee_edits", **OPEN, patch={"weight_kg": "18300"})
    assert caller.shipment()["version"] == 40


def test_a_colleague_neither_opens_nor_closes_what_is_open(control: SimulatorControl) -> None:
    first = control.actor("employee_opens_record", **OPEN)
    control.advance_clock(seconds=60)
    assert control.actor("employee_opens_record", **OPEN) == first
    for actor in ("employee_opens_record", "employee_closes_record"):
        with pytest.raises(SimulatorRefused, match="k.ito"):
            control.actor(actor, shipment_id="S-318", employee="m.ortiz")


def test_elsewhere_an_open_record_keeps_nobody_out(
    caller: Caller, control: SimulatorControl
) -> None:
    control.reset(profile="modern")
    control.actor("employee_opens_record", **OPEN)
    assert caller.book().status_code == 202


def test_a_lease_taken_by_a_person_fences_the_agent_off(
    caller: Caller, control: SimulatorControl
) -> None:
    own = caller.lease()
    headers = caller.headers(Fencing_Token=str(own["fencing_token"]))
    taken = control.actor("other_takes_lease", **LEASE)
    assert taken["fencing_token"] > own["fencing_token"]
    renewal = caller.client.put(f"/v1/leases/{own['lease_id']}", json={"ttl_seconds": 60})
    refused(renewal, 409, "lease_lost")
    refused(caller.book(headers), 409, "stale_fencing_token")
    lease = {"resource": "shipment:S-318", "holder": "worker-1", "ttl_seconds": 60}
    problem = refused(caller.client.post("/v1/leases", json=lease), 409, "lease_held")
    assert (problem["holder"], problem["holder_kind"]) == ("m.ortiz", "person")
    assert problem["expires_at"] == taken["expires_at"]
    assert control.ledger() == []
    control.advance_clock(seconds=61)
    assert read(caller.client.post("/v1/leases", json=lease))["holder_kind"] == "agent"


def test_an_agent_does_not_get_the_lease_of_a_person_by_using_their_name(
    caller: Caller, control: SimulatorControl
) -> None:
    control.actor("other_takes_lease", **LEASE)
    lease = {"resource": "shipment:S-318", "holder": "m.ortiz", "ttl_seconds": 60}
    refused(caller.client.post("/v1/leases", json=lease), 409, "lease_held")


@pytest.mark.parametrize("changes", [{"holder_kind": "robot"}, {"ttl_seconds": 0}])
def test_a_malformed_taking_is_refused(
    control: SimulatorControl, changes: dict[str, object]
) -> None:
    with pytest.raises(SimulatorRefused, match=next(iter(changes))):
        control.actor("other_takes_lease", **{**LEASE, **changes})

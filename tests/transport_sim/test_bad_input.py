"""Whatever is sent, the answer is a problem that says what to do, never a page or a crash."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.transport_sim.caller import BOOKING, Caller, refused
from tools.simulator_control import SimulatorControl

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from([*BOOKING, "status", "stops", "carrier", "weight_kg", "ttl_seconds"])


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "malformed_json"),
        (b"{", 400, "malformed_json"),
        (b"[]", 400, "malformed_json"),
        (b"null", 400, "malformed_json"),
        (b'"text"', 400, "malformed_json"),
        (b'{"weight_kg": NaN}', 400, "malformed_json"),
        (b"\xff\xfe\x00", 400, "malformed_json"),
        (b"[" * 100_000, 400, "malformed_json"),
        (b" " * 3_000_000, 413, "body_too_big"),
        (b'{"colour": 1}', 422, "unknown_field"),
        (b'{"equipment": null}', 422, "invalid_field"),
        (b'{"equipment": "a\\u0000b"}', 422, "invalid_field"),
        (b'{"equipment": "\\ud800"}', 422, "invalid_field"),
        (b'{"\\ud800": 1}', 422, "unknown_field"),
        (b'{"weight_kg": 18250}', 422, "invalid_field"),
        (b'{"weight_kg": "0"}', 422, "invalid_field"),
        (b'{"weight_kg": "1e9"}', 422, "invalid_field"),
        (b'{"status": "booked?"}', 422, "invalid_field"),
        (b'{"status": ["booked"]}', 422, "invalid_field"),
        (b'{"stops": {}}', 422, "invalid_field"),
        (b'{"stops": [1]}', 422, "invalid_field"),
        (b'{"stops": [{"id": "S-318-1", "window": {"start": 1}}]}', 422, "invalid_field"),
        (b'{"carrier": {"scac": "blux", "name": "B"}}', 422, "invalid_field"),
    ],
)
def test_a_body_that_makes_no_sense_is_refused_and_the_field_is_named(
    caller: Caller, control: SimulatorControl, body: bytes, status: int, code: str
) -> None:
    headers = {"If-Match": '"39"', "Content-Type": "application/json"}
    answer = caller.client.patch("/v1/shipments/S-318", content=body, headers=headers)
    problem = refused(answer, status, code)
    assert ("field" in problem) == (status == 422)
    assert control.ledger() == []


@pytest.mark.parametrize(
    "changes",
    [
        {"amount_minor": "191000"},
        {"amount_minor": 191_000.0},
        {"amount_minor": True},
        {"amount_minor": 10**30},
        {"amount_minor": 0},
        {"currency": "usd"},
        {"client_reference": ""},
        {"client_reference": "x" * 201},
        {"shipment_id": "../S-318"},
        {"quote_id": None},
    ],
)
def test_a_booking_field_of_the_wrong_kind_is_named(
    caller: Caller, control: SimulatorControl, changes: dict[str, Any]
) -> None:
    answer = caller.book(**changes)
    assert refused(answer, 422, "invalid_field")["field"] in changes
    assert control.ledger() == []


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/v1/shipments?id=S-318", "unknown_field"),
        ("/v1/shipments?ids=", "invalid_field"),
        ("/v1/shipments?ids=a,,b", "invalid_field"),
        ("/v1/shipments?ids=%00", "invalid_field"),
        ("/v1/shipments?ids=%FF%FE", "invalid_field"),
        ("/v1/shipments?updated_since=yesterday", "invalid_field"),
        ("/v1/shipments?limit=-1", "invalid_field"),
        ("/v1/shipments?limit=501", "invalid_field"),
        ("/v1/changes?after=99999999999999999999", "invalid_field"),
        ("/v1/quotes", "invalid_field"),
        ("/v1/bookings?client_reference=%00", "invalid_field"),
    ],
)
def test_a_query_that_makes_no_sense_is_refused(caller: Caller, path: str, code: str) -> None:
    refused(caller.client.get(path), 422, code)


def test_a_wrong_method_is_told_the_right_ones(caller: Caller) -> None:
    answer = caller.client.delete("/v1/shipments/S-318")
    refused(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == "GET, PATCH"


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(body=st.dictionaries(FIELDS, ANYTHING), path=st.sampled_from(["bookings", "leases", "S"]))
def test_no_json_crashes_the_server(caller: Caller, body: dict[str, object], path: str) -> None:
    headers = {"If-Match": '"0"', "Idempotency-Key": "any", "Fencing-Token": "1"}
    content = json.dumps(body).encode()  # escapes lone surrogates, as another client might
    if path == "S":
        answer = caller.client.patch("/v1/shipments/S-318", content=content, headers=headers)
    else:
        answer = caller.client.post(f"/v1/{path}", content=content, headers=headers)
    assert answer.status_code < 500, answer.text
    assert answer.headers["Content-Type"] in {"application/problem+json", "application/json"}


@pytest.mark.parametrize("command", [["migrate"], ["serve", "--port", "1"]])
def test_a_command_without_its_settings_says_in_one_line_what_to_set(command: list[str]) -> None:
    bare = {"PATH": os.environ["PATH"]}
    program = [sys.executable, "-m", "transport_sim", *command]
    done = subprocess.run(
        program, env=bare, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert "SIMULATOR_DATABASE_URL" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_database_that_does_not_answer_is_one_line() -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "SIMULATOR_DATABASE_URL": "postgresql://127.0.0.1:1/transport_sim",
    }
    program = [sys.executable, "-m", "transport_sim", "migrate"]
    done = subprocess.run(
        program, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    assert "does not answer" in done.stderr
    assert "Traceback" not in done.stderr

"""P16, P17: every answer of the target to a change means exactly one thing for the attempt."""

import pytest

from agent.sources.transport_answers import (
    NotInContract,
    headers_for,
    no_lease_because,
    request_for,
    result_of,
)
from agent.sources.transport_profiles import MODERN, PROFILES
from cases.vocabulary.work import CallOutcome, CallResult, VersionKind
from tests.agent import samples

ANSWERED, UNKNOWN = CallOutcome.ANSWERED, CallOutcome.UNKNOWN
MOVED, REFUSED, NOT_SENT = CallOutcome.WORLD_MOVED, CallOutcome.REFUSED, CallOutcome.NOT_SENT


def answer(status: int, body: object) -> CallResult:
    """What that answer means."""
    return result_of(status=status, body=body, retry_after=None)


@pytest.mark.parametrize(
    ("status", "code", "outcome"),
    [
        (412, "version_mismatch", MOVED),
        (409, "shipment_already_covered", MOVED),
        (409, "shipment_not_open", MOVED),
        (410, "quote_expired", MOVED),
        (410, "quote_not_open", MOVED),
        (400, "idempotency_key_missing", REFUSED),
        (401, "unauthorized", REFUSED),
        (403, "forbidden", REFUSED),
        (404, "shipment_not_found", REFUSED),
        (422, "idempotency_key_reused", REFUSED),
        (422, "amount_mismatch", REFUSED),
        (428, "precondition_required", REFUSED),
        (423, "record_locked", NOT_SENT),
        (409, "something_new", UNKNOWN),
        (409, "", UNKNOWN),
        (409, "stale_fencing_token", NOT_SENT),
        (429, "rate_limited", NOT_SENT),
        (409, "idempotency_in_progress", UNKNOWN),
        (408, "", UNKNOWN),
        (302, "", UNKNOWN),
        (500, "internal_error", UNKNOWN),
        (502, "", UNKNOWN),
        (503, "unavailable", UNKNOWN),
        (504, "", UNKNOWN),
        (599, "", UNKNOWN),
    ],
)
def test_a_refusal_means_one_thing(status: int, code: str, outcome: CallOutcome) -> None:
    result = answer(status, samples.problem(status, code))
    assert result.outcome is outcome
    assert str(status) in result.detail
    assert "In its own words" in result.detail
    assert not result.record_id


@pytest.mark.parametrize("status", [200, 201, 202])
def test_an_accepted_change_names_its_record(status: int) -> None:
    result = answer(status, samples.booking())
    assert (result.outcome, result.record_id) == (ANSWERED, "B-5001")


@pytest.mark.parametrize("body", [None, [], {}, {"id": 5}, "accepted"])
def test_an_acceptance_that_names_no_record_is_unknown_and_looked_up(body: object) -> None:
    assert answer(202, body).outcome is UNKNOWN


@pytest.mark.parametrize("body", [None, "<html>", [1], {"code": 409}])
def test_an_error_page_is_still_understood_by_its_status(body: object) -> None:
    assert answer(503, body).outcome is UNKNOWN
    assert answer(412, body).outcome is MOVED
    assert answer(409, body).outcome is UNKNOWN


def test_a_booking_is_asked_for_with_exactly_what_was_released() -> None:
    assert request_for(samples.order()) == (
        "/v1/bookings",
        {
            "shipment_id": "S-318",
            "quote_id": "QX-71",
            "scac": "BLUX",
            "amount_minor": 179_000,
            "currency": "USD",
            "client_reference": "WB-1-3-1",
        },
    )


def test_a_message_is_sent_with_exactly_what_was_released() -> None:
    path, body = request_for(samples.order("send_customer_update"))
    given = samples.MESSAGE_PARAMETERS
    assert path == "/v1/messages"
    assert body == {
        "shipment_id": "S-318",
        "recipient": given["recipient"],
        "channel": given["channel"],
        "template": given["template"],
        "about": given["about"],
        "body": given["body"],
        "client_reference": "WB-1-3-2",
    }


def test_key_version_and_fence_go_with_every_change() -> None:
    assert headers_for(samples.order(), can=MODERN, fencing_token=12) == {
        "Idempotency-Key": str(samples.KEY),
        "If-Match": '"41"',
        "Fencing-Token": "12",
    }


@pytest.mark.parametrize(
    ("profile", "unknown"), [("no_idempotency", "Idempotency-Key"), ("no_version", "If-Match")]
)
def test_p17_what_a_system_does_not_know_is_not_sent(profile: str, unknown: str) -> None:
    can = PROFILES[profile]
    version = None if can.versions is VersionKind.NONE else 41
    headers = headers_for(samples.order(version=version), can=can, fencing_token=12)
    assert set(headers) == {"Idempotency-Key", "If-Match", "Fencing-Token"} - {unknown}


def test_without_a_version_that_was_read_no_call_is_made() -> None:
    with pytest.raises(NotInContract, match="read first"):
        headers_for(samples.order(version=None), can=MODERN, fencing_token=1)


def test_p20_an_action_outside_the_contract_has_no_call() -> None:
    with pytest.raises(NotInContract, match="no call for 'cancel_everything'"):
        request_for(samples.order("cancel_everything"))


def test_p19_the_case_can_say_who_holds_the_resource_and_until_when() -> None:
    held = samples.problem(
        409, "lease_held", holder="dispatch-bot", expires_at="2026-11-24T14:05:00Z"
    )
    assert no_lease_because(subject="S-318", status=409, body=held) == (
        "dispatch-bot is changing S-318 until 2026-11-24T14:05:00Z."
    )
    by_person = {**held, "holder": "J. Ortiz", "holder_kind": "person"}
    assert no_lease_because(subject="S-318", status=409, body=by_person) == (
        "J. Ortiz (person) is changing S-318 until 2026-11-24T14:05:00Z."
    )
    opened = samples.problem(423, "record_locked", locked_by="J. Ortiz")
    assert no_lease_because(subject="S-318", status=423, body=opened) == "J. Ortiz has S-318 open."
    assert no_lease_because(subject="S-318", status=503, body=None) == (
        "S-318 could not be reserved: transport system answered 503 (service unavailable)."
    )

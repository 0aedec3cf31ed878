"""Signed events from outside: who is believed, what is kept, and what counts once (P30)."""

from typing import Any

import pytest
from pytest_django import Settings

from cases.models import AuditEvent, InboundEvent
from tests.cases.builders import Cast
from tests.cases.sender import KEY, OLD_KEY, Sender, an_event

FORGER = b"a key that nobody here ever heard of"


@pytest.fixture
def sender(cast: Cast, settings: Settings) -> Sender:
    """The transport system, whose key is known here."""
    settings.WEBHOOK_KEYS = {"transport": (KEY,)}
    return Sender()


def kept() -> list[tuple[str, str]]:
    """Id and state of every event that was kept, in order."""
    return list(InboundEvent.objects.values_list("event_id", "state"))


def test_a_signed_event_is_kept_as_it_came(sender: Sender) -> None:
    body = b'{ "type": "shipment.updated", "timestamp": "2026-11-23T23:00:05Z", "data": {} }'
    assert sender.send(body, event_id="msg_1") == 202
    event = InboundEvent.objects.get()
    assert (event.system, event.event_id, event.event_type) == (
        "transport",
        "msg_1",
        "shipment.updated",
    )
    assert bytes(event.content) == body
    assert event.occurred_at is not None
    assert event.occurred_at.isoformat() == "2026-11-23T23:00:05+00:00"


def test_an_event_about_nothing_we_know_is_kept_and_ignored_with_a_reason(sender: Sender) -> None:
    assert sender.send(an_event("somebody-elses"), event_id="msg_1") == 202
    event = InboundEvent.objects.get()
    assert (event.state, event.case) == ("ignored", None)
    assert event.detail == "Nothing of ours waits for it."


@pytest.mark.parametrize("keys", [(), (FORGER,), (FORGER, FORGER)])
def test_what_nobody_we_know_has_signed_is_refused_and_not_kept(
    sender: Sender, keys: tuple[bytes, ...]
) -> None:
    sender.keys = keys
    answer = sender.answer(an_event())
    assert (answer.status_code, answer["Content-Type"]) == (401, "application/problem+json")
    assert kept() == []


def test_a_signature_is_over_id_time_and_body(sender: Sender) -> None:
    body = b'{"type": "shipment.updated", "data": {}}'
    headers = sender.headers("msg_1", body)
    forged = [
        ({**headers, "webhook-id": "msg_2"}, body),
        ({**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) + 1)}, body),
        (headers, body.replace(b"updated", b"deleted")),
        (
            {**headers, "webhook-signature": headers["webhook-signature"].replace("v1,", "v2,")},
            body,
        ),
        ({**headers, "webhook-signature": "v1,ümlaut"}, body),
    ]
    for altered, content in forged:
        assert sender.post("/hooks/transport/", content, altered).status_code == 401
    assert kept() == []
    assert sender.post("/hooks/transport/", body, headers).status_code == 202


@pytest.mark.parametrize("missing", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_each_header_is_needed(sender: Sender, missing: str) -> None:
    headers = sender.headers("msg_1", b"{}")
    del headers[missing]
    assert sender.post("/hooks/transport/", b"{}", headers).status_code == 401
    assert kept() == []


@pytest.mark.parametrize(("seconds", "status"), [(-303, 401), (-295, 202), (295, 202), (310, 401)])
def test_a_replay_counts_for_five_minutes_of_business_time(
    sender: Sender, seconds: int, status: int
) -> None:
    """The test's business clock is years off the real one; only the business clock judges."""
    sender.seconds = seconds
    assert sender.send(an_event()) == status


def test_two_secrets_are_in_force_while_one_is_exchanged(
    sender: Sender, settings: Settings
) -> None:
    sender.keys = (OLD_KEY,)
    assert sender.send(an_event()) == 401
    settings.WEBHOOK_KEYS = {"transport": (KEY, OLD_KEY)}
    assert sender.send(an_event()) == 202
    sender.keys = (FORGER, KEY)  # it signs with both, and one of them is not ours yet
    assert sender.send(an_event()) == 202
    settings.WEBHOOK_KEYS = {"transport": (KEY,)}
    sender.keys = (OLD_KEY,)
    assert sender.send(an_event()) == 401


def test_p30_e07_the_same_event_twice_counts_once(sender: Sender) -> None:
    for _ in range(3):
        assert sender.send(an_event(), event_id="msg_1") == 202
    assert kept() == [("msg_1", "ignored")]


def test_p30_e07_the_same_id_with_other_content_is_set_aside_once(sender: Sender) -> None:
    assert sender.send(an_event(), event_id="msg_1") == 202
    for _ in range(2):
        assert sender.send(an_event(status="declined"), event_id="msg_1") == 202
    assert sender.send(an_event(), event_id="msg_1") == 202
    assert kept() == [("msg_1", "ignored"), ("msg_1", "quarantined")]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "not JSON"),
        (b"hello", "not JSON"),
        (b'{"type": "a", "data": {}} and more', "not JSON"),
        (b"[" * 60_000, "not JSON"),
        (b'{"type": "a", "data": {"version": NaN}}', "not JSON"),
        (b'{"type": "a", "data": {"version": 1e999}}', "not JSON"),
        (b'{"type": "a", "data": {"version": ' + b"9" * 5000 + b"}}", "not JSON"),
        (b'{"type": "a", "data": {"note": "\\u0000"}}', "NUL"),
        (b'{"type": "a", "data": {"note": "\\ud800"}}', "not UTF-8"),
        (b'{"type": "a", "data": {"note": "\xff"}}', "not UTF-8"),
        (b'["type", "data"]', "not a JSON object"),
        (b'{"type": "a"}', "not a JSON object"),
        (b'{"data": {}}', "type is missing"),
        (b'{"type": "a\\u202eb", "data": {}}', "type is not a line"),
        (b'{"type": 7, "data": {}}', "type is not a line"),
        (b'{"type": "a", "timestamp": "yesterday", "data": {}}', "not an ISO 8601 time"),
        (b'{"type": "a", "data": {"client_reference": ["x"]}}', "client_reference is not a line"),
        (b'{"type": "a", "data": {"shipment_id": "' + b"S" * 301 + b'"}}', "shipment_id is not"),
    ],
)
def test_what_cannot_be_read_is_kept_aside_when_it_is_signed(
    sender: Sender, body: bytes, why: str
) -> None:
    assert sender.send(body) == 202
    event = InboundEvent.objects.get()
    assert event.state == "quarantined"
    assert why in event.detail
    assert bytes(event.content) == body
    sender.keys = (FORGER,)
    assert sender.send(body) == 401


def test_a_backslash_before_a_zero_is_no_nul(sender: Sender) -> None:
    assert sender.send(b'{"type": "a", "data": {"note": "\\\\u0000"}}') == 202
    assert InboundEvent.objects.get().state == "ignored"


def test_an_event_has_at_most_64_kilobytes(sender: Sender) -> None:
    start = b'{"type": "a", "data": {"note": "'
    for size, status in ((64 * 1024, 202), (64 * 1024 + 1, 413)):
        body = start + b"x" * (size - len(start) - 3) + b'"}}'
        answer = sender.answer(body)
        assert (len(body), answer.status_code) == (size, status)
    assert answer["Content-Type"] == "application/problem+json"
    assert len(kept()) == 1


def test_a_system_without_a_secret_sends_nothing_here(sender: Sender, settings: Settings) -> None:
    settings.WEBHOOK_KEYS = {"transport": (), "billing": (KEY,)}
    assert sender.answer(an_event()).status_code == 404
    assert sender.answer(an_event(), system="nobody").status_code == 404
    assert kept() == []


@pytest.mark.parametrize("method", ["get", "put", "delete"])
def test_events_are_posted(sender: Sender, method: str) -> None:
    ask: Any = getattr(sender.client, method)
    assert ask("/hooks/transport/").status_code == 405


def test_nothing_is_audited_for_what_concerns_no_case(sender: Sender) -> None:
    before = AuditEvent.objects.count()
    sender.send(an_event())
    sender.send(b"no json")
    assert AuditEvent.objects.count() == before


def test_p30_an_event_is_not_lost_behind_one_of_its_id_that_could_not_be_read(
    sender: Sender,
) -> None:
    """The sender corrects itself under the same id; it was answered 202, so it will not again."""
    assert sender.send(b'{"type": "x", "data": NaN}', event_id="msg_1") == 202
    assert sender.send(an_event("WB-1-1-1"), event_id="msg_1") == 202
    assert kept() == [("msg_1", "quarantined"), ("msg_1", "ignored")]


def test_a_message_with_very_many_signatures_is_refused(sender: Sender) -> None:
    """Each would have to be compared, for anybody who sends them."""
    headers = sender.headers("msg_1", b"{}")
    headers["webhook-signature"] += " v1,x" * 10
    assert sender.post("/hooks/transport/", b"{}", headers).status_code == 401

"""Signatures as others make them, and secrets as people write them down."""

from datetime import UTC, datetime, timedelta

import pytest

from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.signatures import NotSigned, check_signature, keys_from

SECRET = "whsec_ZGVtby1zZWNyZXQtbm90LXJlYWwtMDEyMzQ1Njc4OWFi"
HEADERS = {
    "webhook-id": "msg_0004",
    "webhook-timestamp": "1796137200",
    "webhook-signature": "v1,DUhYIoTI1r/MQG1UJJSfI9oauHo6P/BSN2UikVWx+Xc=",
}
BODY = (
    b'{"type":"booking.confirmed","event_id":"evt_000941","occurred_at":"2026-12-01T15:00:00Z",'
    b'"sequence":941,"data":{"booking_id":"B-5512","shipment_id":"S-318","carrier_scac":"NRDX",'
    b'"client_reference":"FE-318:P4:A1","accepted_at":"2026-12-01T14:22:10Z"}}'
)
AT = datetime.fromtimestamp(1796137200, UTC)


def test_a_sample_signed_elsewhere_is_accepted() -> None:
    for at in (AT - timedelta(minutes=5), AT, AT + timedelta(minutes=5)):
        assert check_signature(keys=keys_from(SECRET), headers=HEADERS, body=BODY, at=at)


@pytest.mark.parametrize("seconds", [-301, 301])
def test_a_sample_of_another_time_is_not(seconds: int) -> None:
    at = AT + timedelta(seconds=seconds)
    with pytest.raises(NotSigned, match="too long ago"):
        check_signature(keys=keys_from(SECRET), headers=HEADERS, body=BODY, at=at)


@pytest.mark.parametrize(
    "changes",
    [
        {"webhook-id": ""},
        {"webhook-id": "two words"},
        {"webhook-id": "m" * 129},
        {"webhook-timestamp": "1796137200.0"},
        {"webhook-timestamp": "-1796137200"},
        {"webhook-timestamp": "١٧٩٦١٣٧٢٠٠"},
        {"webhook-timestamp": "9" * 400},
        {"webhook-signature": ""},
        {"webhook-signature": "v1,"},
        {"webhook-signature": "DUhYIoTI1r/MQG1UJJSfI9oauHo6P/BSN2UikVWx+Xc="},
    ],
)
def test_odd_headers_are_no_signature(changes: dict[str, str]) -> None:
    with pytest.raises(NotSigned):
        check_signature(keys=keys_from(SECRET), headers={**HEADERS, **changes}, body=BODY, at=AT)


def test_several_secrets_are_separated_by_blanks() -> None:
    assert keys_from("") == ()
    assert len(keys_from(f" {SECRET}\n{SECRET} ")) == 2


@pytest.mark.parametrize("secret", ["hunter2", "whsec_", "whsec_!!!", "whsec_c2hvcnQ="])
def test_a_malformed_secret_is_refused_without_being_repeated(secret: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        keys_from(f"{SECRET} {secret}")
    assert "hunter2" not in str(refusal.value)
    assert "whsec_ and the base64 of 24 to 64 bytes" in str(refusal.value)

"""Signatures of webhooks in the Standard Webhooks layout, version 1 (HMAC-SHA256).

A message counts only with a signature over its id, its time and its body, made with one of the keys
in force. While a secret is exchanged two are in force, and the sender may sign with both.
"""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from cases.vocabulary.errors import InvalidInput, WatchbillError

TOLERANCE = timedelta(minutes=5)
SECRET_PREFIX = "whsec_"
KEY_BYTES = range(24, 65)
MOST_SIGNATURES = 10
EVENT_ID = re.compile(r"[!-~]{1,128}")
SECONDS = re.compile(r"[0-9]{1,11}")


class NotSigned(WatchbillError):
    """A message that nobody we know has signed just now; nothing of it is kept."""

    code = "not_signed"


def keys_from(secrets: str) -> tuple[bytes, ...]:
    """The keys of secrets separated by blanks, each whsec_ and base64 of 24 to 64 bytes.

    Raises `InvalidInput` for a malformed one, without repeating it.
    """
    return tuple(_key_from(secret) for secret in secrets.split())


def _key_from(secret: str) -> bytes:
    try:
        if not secret.startswith(SECRET_PREFIX):
            raise ValueError
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
        if len(key) not in KEY_BYTES:
            raise ValueError
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(
            f"A webhook secret is {SECRET_PREFIX} and the base64 of "
            f"{KEY_BYTES[0]} to {KEY_BYTES[-1]} bytes."
        ) from error
    return key


def check_signature(
    *, keys: Sequence[bytes], headers: Mapping[str, str], body: bytes, at: datetime
) -> str:
    """The id of a message that was signed with one of `keys`, at most 5 minutes from `at`.

    `headers` are found by lower-case names. Raises `NotSigned` for any other message.
    """
    event_id, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if EVENT_ID.fullmatch(event_id) is None or SECONDS.fullmatch(stamp) is None:
        raise NotSigned("Send webhook-id, webhook-timestamp and webhook-signature.")
    signed = f"{event_id}.{stamp}.".encode() + body
    presented = [part.encode() for part in headers.get("webhook-signature", "").split()]
    if len(presented) > MOST_SIGNATURES:
        raise NotSigned(f"Send at most {MOST_SIGNATURES} signatures.")
    ours = [_signature(key, signed) for key in keys]
    matches = [  # all of them, so that the time taken tells nothing
        hmac.compare_digest(expected, signature) for expected in ours for signature in presented
    ]
    if not any(matches):
        raise NotSigned("No signature fits a key in force.")
    if abs(datetime.fromtimestamp(int(stamp), UTC) - at) > TOLERANCE:
        raise NotSigned("It was signed too long ago, or by a clock that is ahead.")
    return event_id


def _signature(key: bytes, signed: bytes) -> bytes:
    return b"v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256))

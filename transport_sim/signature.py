"""Signatures of webhooks in the Standard Webhooks layout, version 1 (HMAC-SHA256)."""

import base64
import binascii
import hashlib
import hmac

SECRET_PREFIX = "whsec_"
SHORTEST_KEY, LONGEST_KEY = 24, 64


def key_of(secret: str) -> bytes:
    """The HMAC key in a secret of the form whsec_<base64 of 24 to 64 bytes>; else ValueError."""
    if not secret.startswith(SECRET_PREFIX):
        raise ValueError(f"start it with {SECRET_PREFIX}")
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError("write it in base64") from error
    if not SHORTEST_KEY <= len(key) <= LONGEST_KEY:
        raise ValueError(f"use {SHORTEST_KEY} to {LONGEST_KEY} bytes")
    return key


def signed_headers(*, webhook_id: str, timestamp: int, body: bytes, secret: str) -> dict[str, str]:
    """The three headers of one attempt; ``timestamp`` is in whole seconds since 1970, UTC."""
    content = f"{webhook_id}.{timestamp}.".encode() + body
    digest = hmac.digest(key_of(secret), content, hashlib.sha256)
    return {
        "webhook-id": webhook_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }

"""A sender of signed events, as an outside system is: made from the layout's description alone."""

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from django.http import HttpResponseBase
from django.test import Client

from cases.clock import business_now

KEY = b"0123456789abcdef0123456789abcdef"
OLD_KEY = b"an older secret of the same system"


def secret_of(key: bytes) -> str:
    """The secret as both sides write it down."""
    return f"whsec_{base64.b64encode(key).decode()}"


def an_event(reference: str | None = None, **changes: Any) -> dict[str, Any]:
    """What the transport system says of a booking that was confirmed."""
    data = {
        "record_type": "booking",
        "record_id": "B-1",
        "shipment_id": "S-318",
        "client_reference": reference,
        "version": 2,
        "status": "confirmed",
        **changes,
    }
    return {"type": "booking.confirmed", "timestamp": "2026-11-23T23:00:05Z", "data": data}


def as_body(event: dict[str, Any]) -> bytes:
    """The event as it is sent."""
    return json.dumps(event).encode()


@dataclass(kw_only=True)
class Sender:
    """Posts events, signed with `keys` and stamped `seconds` ahead of business time."""

    keys: tuple[bytes, ...] = (KEY,)
    seconds: int = 0
    client: Client = field(default_factory=lambda: Client(enforce_csrf_checks=True))

    def send(self, event: Any, *, event_id: str = "") -> int:
        """Send an event, or bytes as they are, under a new id unless one is given: the status."""
        return self.answer(event, event_id=event_id).status_code

    def answer(
        self, event: Any, *, event_id: str = "", system: str = "transport"
    ) -> HttpResponseBase:
        """The whole answer."""
        body = event if isinstance(event, bytes) else as_body(event)
        headers = self.headers(event_id or f"msg_{uuid4().hex}", body)
        address = f"/hooks/{system}/"
        return self.post(address, body, headers)

    def post(self, address: str, body: bytes, headers: dict[str, str]) -> HttpResponseBase:
        """One request as it is."""
        return self.client.post(
            address, data=body, content_type="application/json", headers=headers
        )

    def headers(self, event_id: str, body: bytes) -> dict[str, str]:
        """The three headers of the layout."""
        stamp = int(business_now().timestamp()) + self.seconds
        signed = f"{event_id}.{stamp}.".encode() + body
        digests = [hmac.new(key, signed, hashlib.sha256).digest() for key in self.keys]
        return {
            "webhook-id": event_id,
            "webhook-timestamp": str(stamp),
            "webhook-signature": " ".join(
                f"v1,{base64.b64encode(digest).decode()}" for digest in digests
            ),
        }

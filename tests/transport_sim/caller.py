"""An outsider that calls the transport system the way an adapter would."""

import uuid
from dataclasses import dataclass
from typing import Any

import httpx

BOOKING: dict[str, Any] = {
    "shipment_id": "S-318",
    "quote_id": "QX-68",
    "scac": "NRDX",
    "amount_minor": 191_000,
    "currency": "USD",
    "client_reference": "case-318 book",
}
MESSAGE: dict[str, Any] = {
    "shipment_id": "S-318",
    "recipient": "receiving@harborfoods.example",
    "channel": "email",
    "template": "delivery_update",
    "about": "delivery 10:00",
    "body": "Your delivery is planned for 10:00.",
    "client_reference": "case-318 tell",
}


@dataclass(frozen=True)
class Caller:
    """Shorthand for the calls that tests repeat; ``client`` is there for all others."""

    client: httpx.Client

    def shipment(self, shipment_id: str = "S-318") -> dict[str, Any]:
        """Read a shipment."""
        return read(self.client.get(f"/v1/shipments/{shipment_id}"))

    def lease(self, *, holder: str = "worker-1", ttl_seconds: int = 60) -> dict[str, Any]:
        """Take a lease on S-318."""
        body = {"resource": "shipment:S-318", "holder": holder, "ttl_seconds": ttl_seconds}
        return read(self.client.post("/v1/leases", json=body))

    def headers(self, **changes: str | None) -> dict[str, str]:
        """All three headers of a write to S-318, right now; None leaves one out."""
        headers = {
            "Idempotency-Key": str(uuid.uuid4()),
            "If-Match": self.shipment()["etag"],
            "Fencing-Token": str(self.lease()["fencing_token"]),
        }
        changed = {name.replace("_", "-"): value for name, value in changes.items()}
        return {n: v for n, v in {**headers, **changed}.items() if v is not None}

    def book(self, headers: dict[str, str] | None = None, **changes: Any) -> httpx.Response:
        """Ask for the booking of QX-68, with changes to its body."""
        return self.client.post(
            "/v1/bookings",
            json={**BOOKING, **changes},
            headers=self.headers() if headers is None else headers,
        )

    def tell(self, headers: dict[str, str] | None = None, **changes: Any) -> httpx.Response:
        """Ask for a message to the customer, with changes to its body."""
        return self.client.post(
            "/v1/messages",
            json={**MESSAGE, **changes},
            headers=self.headers() if headers is None else headers,
        )

    def patch(self, body: dict[str, Any], *, etag: str | None) -> httpx.Response:
        """Change S-318 at a version."""
        headers = {} if etag is None else {"If-Match": etag}
        return self.client.patch("/v1/shipments/S-318", json=body, headers=headers)


def read(response: httpx.Response) -> dict[str, Any]:
    """The JSON of an answer that must be a success."""
    assert response.is_success, response.text
    return dict(response.json())


def refused(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The problem of an answer that must be this refusal, complete in form."""
    assert response.headers["Content-Type"] == "application/problem+json", response.text
    problem = dict(response.json())
    assert (response.status_code, problem["code"]) == (status, code), problem
    assert problem["status"] == status
    assert {"type", "title", "detail", "retryable"} <= set(problem)
    assert problem["correlation_id"] == response.headers["X-Correlation-Id"]
    return problem

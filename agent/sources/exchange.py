"""One call over HTTP whose answer is bounded in size and time, and read without surprises."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass

import httpx

LONGEST_BODY = 5_000_000


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back. `body` is its JSON; None when there is none, and then `flaw` says why."""

    status: int
    media_type: str
    date: str
    body: object
    flaw: str = ""

    @property
    def is_success(self) -> bool:
        """Whether the status says that the system did what was asked."""
        return 200 <= self.status < 300


def exchange(
    *,
    client: httpx.Client,
    method: str,
    path: str,
    query: Mapping[str, str] | None = None,
    body: Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Make one call. Raises `httpx.RequestError` when no complete answer came.

    An answer may take the client's read timeout from its first to its last byte, and 5 MB.
    """
    with client.stream(method, path, params=query, json=body, headers=headers) as response:
        content, flaw = _content(response, seconds=client.timeout.read)
        media_type, _, _ = response.headers.get("Content-Type", "").partition(";")
        read, flaw = (None, flaw) if flaw else _json(content)
        return Answer(
            status=response.status_code,
            media_type=media_type.strip().lower(),
            date=response.headers.get("Date", ""),
            body=read,
            flaw=flaw,
        )


def _content(response: httpx.Response, *, seconds: float | None) -> tuple[bytes, str]:
    """The body, decompressed, or what is wrong with it."""
    content = bytearray()
    began = time.monotonic()
    for chunk in response.iter_bytes():
        content += chunk
        if len(content) > LONGEST_BODY:
            return b"", f"more than {LONGEST_BODY // 1_000_000} MB"
        if seconds is not None and time.monotonic() - began > seconds:
            raise httpx.ReadTimeout("the answer came too slowly")
    return bytes(content), ""


def _json(content: bytes) -> tuple[object, str]:
    try:
        return json.loads(content), ""
    except (ValueError, RecursionError):
        return None, "no readable JSON"

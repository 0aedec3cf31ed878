"""One call over HTTP whose answer is bounded in size and time, and read without surprises."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

import httpx

from agent.sources.base import Permit
from agent.sources.pace import Pace, retry_after

LONGEST_BODY = 5_000_000
PERMIT_HOLDS_FOR_SECONDS = 0.25
SENDING = "http11.send_request_headers.started"  # as the HTTP library names that moment


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back. `body` is its JSON; None when there is none, and then `flaw` says why.

    `retry_after` is how long the system asked to be left alone, None when it did not.
    """

    status: int
    media_type: str
    date: str
    body: object
    flaw: str = ""
    retry_after: timedelta | None = None

    @property
    def is_success(self) -> bool:
        """Whether the status says that the system did what was asked."""
        return 200 <= self.status < 300


def exchange(
    *,
    client: httpx.Client,
    pace: Pace,
    permit: Permit,
    method: str,
    path: str,
    query: Mapping[str, str] | None = None,
    body: Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Make one call in its turn, if it is permitted.

    Raises `httpx.RequestError` when no whole answer came, and `HeldBack` when its turn is far off.
    An answer may take the client's read timeout from its first to its last byte, and 5 MB. After
    a 429 the system is left alone for as long as it asks.

    The permit is asked before connecting, and once more when the request is about to be sent if
    that took a while: a slow connection must not carry a call past a pause or a lost lease.
    """
    pace.wait_for_turn()
    permit()
    extensions = {"trace": _asking_again(permit, asked_at=time.monotonic())}
    with client.stream(
        method, path, params=query, json=body, headers=headers, extensions=extensions
    ) as response:
        answer = _answer_of(response, seconds=client.timeout.read)
    if answer.status == HTTPStatus.TOO_MANY_REQUESTS and answer.retry_after is not None:
        pace.hold_off(answer.retry_after)
    return answer


def _asking_again(permit: Permit, *, asked_at: float) -> Callable[[str, object], None]:
    """What the HTTP library is to call at each of its moments: asks again if that was long ago."""

    def at_moment(name: str, _: object) -> None:
        if name == SENDING and time.monotonic() - asked_at > PERMIT_HOLDS_FOR_SECONDS:
            permit()

    return at_moment


def _answer_of(response: httpx.Response, *, seconds: float | None) -> Answer:
    content, flaw = _content(response, seconds=seconds)
    media_type, _, _ = response.headers.get("Content-Type", "").partition(";")
    read, flaw = (None, flaw) if flaw else _json(content)
    date = response.headers.get("Date", "")
    return Answer(
        status=response.status_code,
        media_type=media_type.strip().lower(),
        date=date,
        body=read,
        flaw=flaw,
        retry_after=retry_after(response.headers.get("Retry-After", ""), date=date),
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

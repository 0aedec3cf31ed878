"""A transport system that answers over real HTTP with whatever a test says, byte for byte."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from agent.sources.transport import TransportSource
from tests.agent import samples

DATE = "Mon, 23 Nov 2026 23:00:00 GMT"
SHIPMENT = "GET /v1/shipments/S-318"
QUOTES = "GET /v1/quotes"
MESSAGES = "GET /v1/messages"
BOOKINGS = "GET /v1/bookings"
BOOK = "POST /v1/bookings"
LEASE = "POST /v1/leases"


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One answer; `pieces` are sent one after the other, `pause` seconds apart."""

    status: int = 200
    pieces: tuple[bytes, ...] = (b"",)
    headers: dict[str, str] = field(default_factory=dict)
    pause: float = 0.0


def says(body: object, *, status: int = 200, media_type: str = "application/json") -> Reply:
    """An answer in JSON; characters that UTF-8 cannot hold go as escapes."""
    content = json.dumps(body).encode()
    return Reply(status=status, pieces=(content,), headers={"Content-Type": media_type})


def usual() -> dict[str, Reply]:
    """What the system says on an ordinary evening."""
    return {
        SHIPMENT: says(samples.shipment()),
        QUOTES: says({"items": [samples.quote()]}),
        MESSAGES: says({"items": []}),
        BOOKINGS: says({"items": []}),
        LEASE: says({"lease_id": "L-1", "fencing_token": 1}, status=201),
        BOOK: says(samples.booking(), status=202),
    }


@dataclass
class OddSystem:
    """What is answered to which request, and which requests came."""

    replies: dict[str, Reply] = field(default_factory=usual)
    requests: list[str] = field(default_factory=list)
    url: str = ""

    def reply_to(self, request: str) -> Reply:
        """The answer to `GET /path`."""
        self.requests.append(request)
        return self.replies.get(request, Reply(status=204))

    def source(self) -> TransportSource:
        """The real adapter, pointed at this system."""
        return TransportSource(address=self.url, token="t", timeout=timedelta(seconds=2))


@contextmanager
def odd_system() -> Iterator[OddSystem]:
    """A running one, on a port of this machine."""
    system = OddSystem()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            reply = system.reply_to(f"{self.command} {self.path.partition('?')[0]}")
            self.send_response_only(reply.status)
            length = str(sum(map(len, reply.pieces)))
            for name, value in {"Date": DATE, "Content-Length": length, **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                for piece in reply.pieces:
                    self.wfile.write(piece)
                    time.sleep(reply.pause)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the adapter had read enough

        do_GET = do_POST = do_DELETE = answer  # noqa: N815 (names of the standard library)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    system.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield system
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

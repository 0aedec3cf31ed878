"""A subscriber on its own port that keeps what it is sent and answers as it is told."""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = b"0123456789abcdef0123456789abcdef"
SECRET = f"whsec_{base64.b64encode(KEY).decode()}"


@dataclass(frozen=True)
class Received:
    """One request as it came in, with the real time in seconds since 1970."""

    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def webhook_id(self) -> str:
        """What makes a repeated delivery recognisable."""
        return self.headers["webhook-id"]

    @property
    def content(self) -> dict[str, Any]:
        """The event."""
        return dict(json.loads(self.body))

    def is_signed(self) -> bool:
        """Whether the signature fits, recomputed here from the layout's description."""
        signed = b".".join(
            (self.webhook_id.encode(), self.headers["webhook-timestamp"].encode(), self.body)
        )
        digest = hmac.new(KEY, signed, hashlib.sha256).digest()
        expected = f"v1,{base64.b64encode(digest).decode()}"
        return hmac.compare_digest(self.headers["webhook-signature"], expected)


@dataclass
class Receiver:
    """What arrived so far; ``statuses`` are the next answers, then always 204."""

    url: str
    statuses: list[int] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    answering: threading.Event = field(default_factory=threading.Event)

    def names(self) -> list[str]:
        """The names of the events in the order of their arrival."""
        return [one.content["type"] for one in self.received]

    def wait_for(self, count: int, *, seconds: float = 10.0) -> list[Received]:
        """The requests once there are so many of them."""
        until = time.monotonic() + seconds
        while len(self.received) < count:
            assert time.monotonic() < until, f"{len(self.received)} of {count} arrived"
            time.sleep(0.02)
        return self.received


@contextmanager
def receiving(port: int = 0) -> Iterator[Receiver]:
    """A receiver for the time of the block; 0 takes any free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status = receiver.statuses.pop(0) if receiver.statuses else 204
            receiver.received.append(Received(headers=headers, body=body, at=time.time()))
            receiver.answering.wait(timeout=30)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        receiver = Receiver(url=f"http://127.0.0.1:{server.server_address[1]}/hooks?desk=1")
        receiver.answering.set()
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield receiver
        finally:
            receiver.answering.set()
            server.shutdown()
            thread.join()

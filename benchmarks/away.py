"""A way to the transport system on which everything about some shipments is answered with 503."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

KEPT = ("Content-Type", "Date", "Retry-After")


@contextmanager
def partly_away(*, url: str, mark: str) -> Iterator[str]:
    """The address of a proxy to `url` that lets no request through whose address has the mark."""
    with httpx.Client(base_url=url, trust_env=False, timeout=30) as onward:

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if mark in self.path:
                    self.send_error(503)
                    return
                given = {"Authorization": self.headers.get("Authorization", "")}
                answer = onward.get(self.path, headers=given)
                self.send_response_only(answer.status_code)
                for name in KEPT:
                    if name in answer.headers:
                        self.send_header(name, answer.headers[name])
                self.end_headers()
                self.wfile.write(answer.content)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

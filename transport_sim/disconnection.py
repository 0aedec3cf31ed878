"""Breaks a connection off without an answer, as a crashing proxy would."""

import asyncio
import socket
import struct
from collections.abc import Callable
from typing import Any, cast

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest
from uvicorn.protocols.http.h11_impl import H11Protocol

RESET = "transport_sim.reset_connection"
# Linger for 0 seconds: the kernel sends RST instead of a polite end.
_NO_LINGER = struct.pack("ii", 1, 0)


class ResettableProtocol(H11Protocol):
    """uvicorn's own protocol; each request can have its connection reset."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Offer the reset to the application, next to what it is told anyway."""
        super().connection_made(transport)
        application = self.app

        async def resettable(scope: Any, receive: Any, send: Any) -> None:
            scope[RESET] = lambda: _reset(transport)
            await application(scope, receive, send)

        self.app = resettable


def _reset(transport: asyncio.Transport) -> None:
    connection = transport.get_extra_info("socket")
    if connection is not None and not transport.is_closing():
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
    transport.abort()


def reset_connection(request: HttpRequest) -> None:
    """Break the connection of this request off now. Only from the server's event loop."""
    reset = cast(Callable[[], None], cast(ASGIRequest, request).scope[RESET])
    reset()

"""ASGI entry point: ``uvicorn transport_sim.asgi:application``."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

# Assigned, not defaulted: a parent process may carry the settings of another project.
os.environ["DJANGO_SETTINGS_MODULE"] = "transport_sim.settings"

from django.core.asgi import get_asgi_application  # noqa: E402 (needs the choice above)
from django.db import connections  # noqa: E402

from transport_sim.settings import SERVER_POOL  # noqa: E402

type Message = dict[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Mapping[str, Any]], Awaitable[None]]

_django = get_asgi_application()

from transport_sim import arrival, courier  # noqa: E402 (the models need the line above)

connections.settings["default"]["OPTIONS"]["pool"] = SERVER_POOL


async def application(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Serve one request to its end, even when the client hangs up meanwhile.

    A real server does not undo a booking because the caller lost patience, and the call log
    must show how such a call ended. So the application never learns of the disconnect.
    """
    if scope["type"] == "lifespan":
        await _live(receive, send)
        return
    if scope["type"] == "http":
        arrival.note(scope)
        receive = _deaf_after_the_body(receive)
    await _django(scope, receive, send)


async def _live(receive: Receive, send: Send) -> None:
    await receive()
    courier.start()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})


def _deaf_after_the_body(receive: Receive) -> Receive:
    body_complete = False

    async def receive_body() -> Message:
        nonlocal body_complete
        if body_complete:
            await asyncio.Event().wait()  # cancelled by Django once the answer is sent
        message = await receive()
        body_complete = not message.get("more_body", False)
        return message

    return receive_body

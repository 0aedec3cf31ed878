"""When a request arrived, noted before any wait for a thread or a database connection.

So a busy simulator cannot make an early call look late.
"""

from datetime import UTC, datetime
from typing import Any, cast

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest

_ARRIVED = "transport_sim.arrived_at"


def note(scope: dict[str, Any]) -> None:
    """Keep the present real instant as the arrival of this ASGI request."""
    scope[_ARRIVED] = datetime.now(UTC)


def real_instant(request: HttpRequest) -> datetime:
    """The arrival on the real clock, UTC."""
    return cast(datetime, cast(ASGIRequest, request).scope[_ARRIVED])

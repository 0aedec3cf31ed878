"""Lenses: a read that sees an older world, or one without its newest records.

A lens is a schema of views with the names of the tables (migration 0004_past). The same code
reads through it, so no answer can forget that it is late.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

from django.db import connection

from transport_sim.database import snapshot

type Schema = Literal["transport_sim_past", "transport_sim_settled"]


@dataclass(frozen=True)
class Lens:
    """Which views to look through, and how many seconds of the simulator's clock they lag."""

    schema: Schema
    lag_seconds: float


ordered: ContextVar[Lens | None] = ContextVar("ordered_lens", default=None)


@contextmanager
def looking() -> Iterator[None]:
    """Read through the lens that was ordered for this request; without one, just read."""
    lens = ordered.get()
    if lens is None:
        yield
        return
    with snapshot():
        with connection.cursor() as cursor:
            # Both end with the transaction.
            cursor.execute(
                "SELECT set_config('transport_sim.lag', %s, true),"
                " set_config('search_path', %s, true)",
                [str(lens.lag_seconds), f"{lens.schema}, public"],
            )
        yield

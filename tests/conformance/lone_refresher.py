"""A process that refreshes once, as a tick of the beat orders it, and ends."""

from collections.abc import Sequence

import agent.standalone  # noqa: F401 (before the door to the record is imported)

# isort: split
from agent.crew import crew, stand_down


def work(_: Sequence[str]) -> None:
    """One pass."""
    crew().refresher.refresh()
    stand_down()

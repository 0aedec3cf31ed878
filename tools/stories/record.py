"""The record, ready to be used by a story: importing this sets Django up from the environment."""

import os
import time
from collections.abc import Callable
from datetime import datetime

import django
from django.db import connection

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cases.settings")
django.setup()

POLL_SECONDS = 0.1
PATIENCE_SECONDS = 60.0


class StoryBroke(Exception):  # noqa: N818 (a story breaks; it is no error of a program)
    """Something the story needs did not happen; the message says what."""


def wait_until(holds: Callable[[], bool], *, what: str, patience: float = PATIENCE_SECONDS) -> None:
    """Wait until `holds()`; raises `StoryBroke` naming `what` after `patience` real seconds."""
    deadline = time.monotonic() + patience
    while not holds():
        if time.monotonic() > deadline:
            raise StoryBroke(f"After {patience:.0f} s still not so: {what}.")
        time.sleep(POLL_SECONDS)


def leave_database() -> None:
    """Close this process's connection, so that a long wait holds nothing."""
    connection.close()


def instant(text: str) -> datetime:
    """An ISO 8601 time with its offset, as a story states it."""
    return datetime.fromisoformat(text)

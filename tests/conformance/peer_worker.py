"""A process of the peer: takes its thread as far as it goes, and an answer from the inbox.

The answer stays in the inbox until the call that delivered it came back, so that a process that
dies in between does not lose it: the best a service without a record of its own can do.
"""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import httpx

from tests.conformance.peer import Refused
from tests.conformance.peer_desk import PeerDesk, Standing, peer_desk, peer_saver

PAUSE_SECONDS = 0.01


def work(_: Sequence[str]) -> None:
    """Go on until a signal ends this process."""
    inbox = Path(os.environ["INBOX"])
    with (
        peer_saver(os.environ["DATABASE_URL"]) as saver,
        peer_desk(
            saver=saver,
            thread=os.environ["THREAD"],
            url=os.environ["TRANSPORT_URL"],
            token=os.environ["TRANSPORT_TOKEN"],
        ) as desk,
    ):
        while True:
            with suppress(Refused, httpx.HTTPError):  # tried again: it may pass
                take_step(desk, inbox)
            time.sleep(PAUSE_SECONDS)


def take_step(desk: PeerDesk, inbox: Path) -> None:
    """Whatever is to be done next, if anything."""
    match desk.standing():
        case Standing.NEW:
            desk.start()
        case Standing.UNFINISHED:
            desk.go_on()
        case Standing.WAITING if inbox.exists():
            desk.answer(inbox.read_text(encoding="utf-8"))
            inbox.unlink(missing_ok=True)
        case _:
            pass

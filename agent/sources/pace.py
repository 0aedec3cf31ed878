"""How often a system may be called: at most so often a minute, and not while it asks for peace.

Counted for one process. Where several share an allowance, each declares its part of it.
"""

import time
from collections import deque
from datetime import timedelta
from email.utils import parsedate_to_datetime
from threading import Lock

MINUTE = 60.0
LONGEST_WAIT = timedelta(seconds=2)
LONGEST_HOLD = timedelta(hours=1)


class HeldBack(Exception):  # noqa: N818 (said of a call)
    """The call was not made, since it would have come too early; `wait` is how long it still is.

    `was_asked` says that the system asked for peace; otherwise it is our own pace.
    """

    def __init__(self, wait: timedelta, *, was_asked: bool = True) -> None:
        super().__init__(f"no call for another {max(1, round(wait.total_seconds()))} s")
        self.wait = wait
        self.was_asked = was_asked


class Pace:
    """Waits for a call's turn, if that is soon. Counts by this process's monotonic clock."""

    def __init__(self, *, calls_per_minute: int | None) -> None:
        self._most = calls_per_minute
        self._made: deque[float] = deque(maxlen=calls_per_minute or 0)
        self._not_before = 0.0
        self._lock = Lock()

    def wait_for_turn(self) -> None:
        """Return when a call may be made, and count it. Raises `HeldBack` when that is not soon."""
        with self._lock:
            now = time.monotonic()
            wait = self._wait(now)
            if wait > LONGEST_WAIT.total_seconds():
                was_asked = self._not_before - now >= wait
                raise HeldBack(timedelta(seconds=wait), was_asked=was_asked)
            if wait > 0:
                time.sleep(wait)
            self._made.append(time.monotonic())

    def hold_off(self, wait: timedelta) -> None:
        """The system asked to be left alone for so long."""
        with self._lock:
            until = time.monotonic() + min(wait, LONGEST_HOLD).total_seconds()
            self._not_before = max(self._not_before, until)

    def _wait(self, now: float) -> float:
        is_full = self._most is not None and len(self._made) == self._most
        slot = self._made[0] + MINUTE if is_full else now
        return max(slot, self._not_before) - now


def retry_after(header: str, *, date: str) -> timedelta | None:
    """What `Retry-After` asks for, in seconds or as a date beside the answer's own `Date`.

    At most an hour: nobody is left alone for longer without being asked again.
    """
    try:
        if header.strip().isdecimal():
            wait = timedelta(seconds=min(int(header), LONGEST_HOLD.total_seconds()))
        else:
            wait = parsedate_to_datetime(header) - parsedate_to_datetime(date)
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(timedelta(0), wait), LONGEST_HOLD)

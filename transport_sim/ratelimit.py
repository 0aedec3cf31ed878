"""A fixed window per principal, counted in this process by real time."""

import math
import threading
import time
from dataclasses import dataclass

from transport_sim.problems import Problem


@dataclass(frozen=True)
class Allowance:
    """What a principal may still do in the present window."""

    limit: int
    remaining: int
    reset_seconds: int
    exceeded: bool

    def headers(self) -> dict[str, str]:
        """The RateLimit-* headers of an answer."""
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(self.reset_seconds),
        }

    def check(self) -> None:
        """Raise Problem 429 when this call is one too many."""
        if self.exceeded:
            raise Problem(
                status=429,
                code="rate_limited",
                detail=f"Only {self.limit} calls per window. Wait as Retry-After says.",
                retryable=True,
                headers={"Retry-After": str(self.reset_seconds)},
            )


class RateLimiter:
    """Counts calls; a changed limit starts a new window at once."""

    def __init__(self) -> None:
        """Start with no window open."""
        self._lock = threading.Lock()
        self._windows: dict[str, tuple[int, int, float, int]] = {}

    def take(self, *, principal: str, limit: int, window_seconds: int) -> Allowance:
        """Count one call of ``principal`` and say what is left of ``limit``."""
        now = time.monotonic()
        with self._lock:
            known = self._windows.get(principal)
            if known is None or known[:2] != (limit, window_seconds) or known[2] <= now:
                known = (limit, window_seconds, now + window_seconds, 0)
            used = known[3] + 1
            self._windows[principal] = (*known[:3], used)
        return Allowance(
            limit=limit,
            remaining=max(0, limit - used),
            reset_seconds=max(1, math.ceil(known[2] - now)),
            exceeded=used > limit,
        )

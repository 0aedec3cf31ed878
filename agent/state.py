"""What the graph remembers between processes, and what its steps work with inside one."""

import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypedDict

from agent.desk import Desk
from agent.planner.base import Planner
from agent.sources.base import Source
from cases.vocabulary.clocks import instant_from
from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.lanes import Lane
from cases.vocabulary.work import Grant, Situation

READINGS_HOLD_FOR = timedelta(minutes=2)


class CaseState(TypedDict, total=False):
    """Saved after every step: ids and short text only. Facts and plans live in the record.

    `read_at` is the business instant of the last reading, as ISO text.
    """

    case_id: int
    flow_version: int
    request_id: int
    read_at: str


@dataclass(kw_only=True)
class Work:
    """One visit to one case: its doors, its claim, and how much may still be done in it.

    `grant` is renewed for `lease` before every step and every call to the outside. `ends_at` is on
    this process's monotonic clock: it bounds how long the visit takes, never who holds the case.
    `has_asked_again` is set when the record moved on under a step of this visit.
    """

    desk: Desk
    source: Source
    planner: Planner
    grant: Grant
    lease: timedelta
    steps_left: int
    ends_at: float
    has_asked_again: bool = False

    def begin_step(self) -> Situation:
        """Renew the claim and read where the case stands; raises `LeaseLost`, `CallsPaused`."""
        self.grant = self.desk.renew(grant=self.grant, lease=self.lease)
        self.steps_left -= 1
        return self.desk.situation(case_id=self.grant.case_id)

    def permit(self, lane: Lane | None = None) -> None:
        """Asked right before every call to the outside; see `Desk.permit_call`."""
        self.grant = self.desk.permit_call(grant=self.grant, lease=self.lease, lane=lane)

    @property
    def now(self) -> datetime:
        """Business time when the claim was last renewed, by the database's clock."""
        return self.grant.lease_until - self.lease

    def has_fresh_readings(self, state: CaseState) -> bool:
        """Whether the case was read a moment ago; not so after a stop between two steps."""
        try:
            read_at = instant_from(state.get("read_at", ""))
        except InvalidInput:
            return False
        return timedelta(0) <= self.now - read_at <= READINGS_HOLD_FOR

    @property
    def is_used_up(self) -> bool:
        """Whether no further step fits into this visit."""
        return self.steps_left <= 0 or time.monotonic() >= self.ends_at

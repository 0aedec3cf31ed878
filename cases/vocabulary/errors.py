"""Everything the record can refuse, as errors whose message is a sentence for the operator.

Views, API, commands and the agent map each class once: `Refused` is 403, `Conflict` 409,
`InvalidInput` 422, `NotFound` 404.
"""

from collections.abc import Sequence
from typing import Any


class WatchbillError(Exception):
    """Base of all refusals; `str(error)` says what happened and what to do next."""

    code = "error"


class InvalidInput(WatchbillError):
    """Something typed, posted or planned does not fit; nothing was changed."""

    code = "invalid_input"


class NotFound(WatchbillError):
    """The thing asked for does not exist."""

    code = "not_found"


class Refused(WatchbillError):
    """This person or agent may not do this now."""

    code = "refused"


class Conflict(WatchbillError):
    """The record moved on since it was read."""

    code = "conflict"


class Busy(Conflict):
    """Someone else kept it locked; nothing was looked at, so nothing was decided either."""

    code = "busy"


class ImpossibleTransition(Conflict):
    """The stage table does not allow this step from the present stage."""

    code = "impossible_transition"


class DecisionRefused(Conflict):
    """A decision does not count: it was made on something that is no longer the current proposal.

    `reason_code` is one of `stale`, `expired`, `superseded`, `already_decided`, `digest_mismatch`,
    `case_changed`, `unseen_changes`, `not_waiting`, `blocked`, `held`. `changes` holds the
    field-by-field difference as plain mappings (key, label, then, now, mark, why). `current_number`
    is the version to look at instead, if there is one.
    """

    code = "decision_refused"

    def __init__(
        self,
        message: str,
        *,
        reason_code: str,
        changes: Sequence[dict[str, Any]] = (),
        current_number: int | None = None,
    ) -> None:
        super().__init__(message)
        self.reason_code = reason_code
        self.changes = list(changes)
        self.current_number = current_number


class Overtaken(Conflict):
    """What the person saw is not how it stands.

    `differences` lists what they saw and what holds now: (what, then, now), in words.
    """

    code = "overtaken"

    def __init__(self, message: str, *, differences: Sequence[tuple[str, str, str]]) -> None:
        super().__init__(message)
        self.differences = tuple(differences)


class FindingOvertaken(Overtaken):
    """More is known of an unknown outcome than the person saw who recorded what they found."""

    code = "finding_overtaken"


class RowOvertaken(Overtaken):
    """A row of a handover sheet is not as the person saw it who answered or signed."""

    code = "row_overtaken"


class ReadBackDiffers(Overtaken):
    """A critical fact was not read back as it is now; `differences` has (what, read back, now)."""

    code = "read_back_differs"


class SheetOvertaken(Conflict):
    """The desk has a newer handover sheet; `present` is its number."""

    code = "sheet_overtaken"

    def __init__(self, message: str, *, present: int) -> None:
        super().__init__(message)
        self.present = present


class LeaseLost(Conflict):
    """A worker wrote with a fencing token that is not the newest, or after its lease ended."""

    code = "lease_lost"


class CallsPaused(WatchbillError):
    """A call to the outside must not be made now: a person paused the agents, or took this one out.

    No fault of the case: what was to be done stays due.
    """

    code = "calls_paused"


class NotInTransaction(RuntimeError):
    """A programming fault: a row lock was asked for outside a transaction."""

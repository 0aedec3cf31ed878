"""What the record and the agent hand each other: plain frozen values, no rows.

The agent reads a `Situation`, does one step outside, and reports what it saw or what happened.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.facts import FactSheet, Value
from cases.vocabulary.playbook import PlannedAction
from cases.vocabulary.stages import Stage


@dataclass(frozen=True, kw_only=True)
class Grant:
    """A claim on one case: every write of its worker carries the fencing token.

    The lease ends at `lease_until` (business time, judged by the database).
    """

    case_id: int
    fencing_token: int
    worker: str
    lease_until: datetime
    flow_version: int


@dataclass(frozen=True, kw_only=True)
class DueCase:
    """A case with work due, and the stage that says which lane the work belongs to."""

    case_id: int
    stage: Stage


@dataclass(frozen=True, kw_only=True)
class FlowInUse:
    """How many open cases were saved under a flow version, and the oldest of them."""

    flow_version: int
    cases: int
    oldest_case_id: int


@dataclass(frozen=True, kw_only=True)
class RecordKey:
    """A source record the case is about."""

    record_type: str
    record_id: str


class ReadOutcome(StrEnum):
    """How a reading of a source ended."""

    READ = "read"
    MISSING = "missing"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class SourceReading:
    """What an adapter brought from a source: facts with version and the source's clock, or why not.

    `version` is None when the source has no numbers, `etag` empty when it has no tags. Without
    either, what was read is told apart by a fingerprint of `fields`.
    """

    system: str
    record_type: str
    record_id: str
    outcome: ReadOutcome
    version: int | None = None
    etag: str = ""
    source_time: datetime | None = None
    fields: Mapping[str, Value] = field(default_factory=dict)
    failure: str = ""


class Comparison(StrEnum):
    """How a refresh of a case ended, and so what the agent does next."""

    RETAIN = "retain"
    REPLACE = "replace"
    CLEAR = "clear"
    PLAN = "plan"
    ACT = "act"
    BLOCKED = "blocked"


@dataclass(frozen=True, kw_only=True)
class TurnedDown:
    """A proposal a person sent back or rejected, with the reason they gave."""

    number: int
    reason: str
    actions: tuple[PlannedAction, ...]


@dataclass(frozen=True, kw_only=True)
class PlanQuestion:
    """What a planner is asked; `answer` is already there when the round was answered before."""

    request_id: int
    planning_round: int
    kind: str
    case_type: str
    sheet: FactSheet
    turned_down: tuple[TurnedDown, ...]
    now: datetime
    answer: Mapping[str, Any] | None


class EffectState(StrEnum):
    """Where an effect stands; the same words as in the record."""

    WANTED = "wanted"
    UNKNOWN = "unknown"
    ANSWERED = "answered"
    CONFIRMED = "confirmed"
    ADOPTED = "adopted"
    REFUSED = "refused"
    NOT_NEEDED = "not_needed"


@dataclass(frozen=True, kw_only=True)
class EffectWork:
    """One effect of the release in force: what to do and how to find it again."""

    effect_id: int
    position: int
    action: str
    target_record: str
    parameters: Mapping[str, Value]
    key: UUID
    reference: str
    state: EffectState
    target_record_id: str


@dataclass(frozen=True, kw_only=True)
class Situation:
    """Everything the agent needs to know of a case for its next step.

    `effects` are those of the release in force, in order; `refresh_is_due` says that a shift
    boundary or a person asks for a new reading; `release_in_force` that a release stands.
    """

    case_id: int
    kind: str
    case_type: str
    subject: str
    stage: Stage
    records: tuple[RecordKey, ...]
    release_in_force: bool
    refresh_is_due: bool
    try_is_due: bool
    effects: tuple[EffectWork, ...]

    def next_effect(self) -> EffectWork | None:
        """The first effect still wanted, or None."""
        return next((work for work in self.effects if work.state is EffectState.WANTED), None)

    def to_look_up(self) -> tuple[EffectWork, ...]:
        """Effects whose target must be read again: attempted, but not yet adopted."""
        unsettled = {EffectState.UNKNOWN, EffectState.ANSWERED, EffectState.CONFIRMED}
        return tuple(work for work in self.effects if work.state in unsettled)


@dataclass(frozen=True, kw_only=True)
class AttemptOrder:
    """Permission for exactly one call: made only after the attempt row was committed.

    `subject_version` and `subject_etag` are those of the newest reading; None and empty where the
    source has none.
    """

    attempt_id: int
    effect: EffectWork
    subject: str
    subject_version: int | None
    subject_etag: str = ""


SETTLE_WITHIN = timedelta(minutes=15)
"""By when an unknown outcome should be settled; after it, a look that fails asks a person."""


class CallOutcome(StrEnum):
    """How a call that should change something ended, as the adapter understood it.

    `answered`: accepted, to be read back. `unknown`: it may or may not have happened.
    `world_moved`: the target refused because facts differ (version, covered, expired).
    `refused`: the target refuses this call whatever the facts. `not_sent`: surely never arrived.
    """

    ANSWERED = "answered"
    UNKNOWN = "unknown"
    WORLD_MOVED = "world_moved"
    REFUSED = "refused"
    NOT_SENT = "not_sent"


@dataclass(frozen=True, kw_only=True)
class CallResult:
    """The outcome of a call with the target's own words; `record_id` when it named the record.

    `retry_after` is how long the target asked to be left alone, None when it did not.
    """

    outcome: CallOutcome
    detail: str
    record_id: str = ""
    retry_after: timedelta | None = None


@dataclass(frozen=True, kw_only=True)
class TargetLook:
    """A fresh look at the target for one effect, by its reference: found or not, and as what.

    `readable` is False when the target could not be asked; then `found` says nothing and `detail`
    says why. `searchable` is False when there is no way to ask: the target cannot be searched by
    reference and no answer ever named the record. `records` is how many carry the reference.

    `asked_at` is the business time at which the look was permitted, so never later than what it
    shows. The engine sets it, not the adapter; a look without it proves no absence.
    """

    effect_id: int
    found: bool
    readable: bool = True
    searchable: bool = True
    record_id: str = ""
    state: str = ""
    fields: Mapping[str, Value] = field(default_factory=dict)
    detail: str = ""
    records: int = 1
    asked_at: datetime | None = None


class VersionKind(StrEnum):
    """How a source tells one state of a record from another.

    `number` rises with each change, so that going back is seen. `etag` only differs. With `none`,
    states are told apart by a fingerprint of the selected fields and by when they were read.
    """

    NUMBER = "number"
    ETAG = "etag"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a source can do; the engine's behaviour follows from it and from nothing else.

    `conditional_writes`: a change that names any but the newest version is refused. `leases`: one
    holder at a time; `fencing`: their tokens rise, and a change under any but the newest is
    refused. `lookup_by_reference`: a change is found again by our own reference. `key_lifetime` is
    how long the target honours an idempotency key (None: it has no keys), `consistency_window` how
    long a change may stay invisible to look-ups, `calls_per_minute` what one process of the agent
    may make (None: as many as it likes). `change_feed`: it tells without a gap which subjects
    changed, so that its silence proves that one did not. A declaration that contradicts itself
    raises `InvalidInput`.
    """

    system: str
    versions: VersionKind
    conditional_writes: bool
    leases: bool
    fencing: bool
    lookup_by_reference: bool
    key_lifetime: timedelta | None
    consistency_window: timedelta
    calls_per_minute: int | None = None
    change_feed: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be true together."""
        if self.conditional_writes and self.versions is VersionKind.NONE:
            raise InvalidInput(f"{self.system}: conditional writes need a version to name.")
        if self.fencing and not self.leases:
            raise InvalidInput(f"{self.system}: fencing tokens come with leases.")
        if self.consistency_window < timedelta(0):
            raise InvalidInput(f"{self.system}: the consistency window is negative.")
        if self.key_lifetime is not None and self.key_lifetime <= timedelta(0):
            raise InvalidInput(f"{self.system}: keys that are never honoured are no keys.")
        if self.calls_per_minute is not None and self.calls_per_minute < 1:
            raise InvalidInput(f"{self.system}: no calls at all are allowed.")

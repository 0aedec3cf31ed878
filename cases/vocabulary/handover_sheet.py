"""The handover sheet: into which section a case goes, how urgent it is, and why. Pure rules.

A case stands in the first section that fits, and sections stand in the order of the table, so the
most dangerous comes first and nothing is listed twice or left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from cases.vocabulary.shifts import Shift

SOON = timedelta(hours=1)
QUICKEST_READING = timedelta(seconds=3)
"""Nobody reads a row faster than this."""
TODAY = timedelta(hours=12)


class Section(StrEnum):
    """A section of the sheet, in the order in which they are read."""

    NO_OWNER = "no_owner"
    UNKNOWN_OUTCOME = "unknown_outcome"
    NOT_REFRESHED = "not_refreshed"
    STALE = "stale"
    READY = "ready"
    WAKING = "waking"
    UNDER_WAY = "under_way"
    DONE = "done"


REFRESH_BEFORE = timedelta(minutes=30)
"""How long before the next shift begins its handover is opened, and the refresh begins."""


def due_boundaries(shift: Shift, *, at: datetime) -> tuple[datetime, ...]:
    """The starts of shifts whose handover should be open in this shift at `at`, newest last."""
    is_next_due = shift.ends_at - at <= REFRESH_BEFORE
    return (shift.starts_at, shift.ends_at) if is_next_due else (shift.starts_at,)


@dataclass(frozen=True, kw_only=True)
class SectionRule:
    """What a section is called, what it asks for, and what an empty one says."""

    label: str
    asks_for: str
    empty: str


SECTIONS: dict[Section, SectionRule] = {
    Section.NO_OWNER: SectionRule(
        label="No available owner",
        asks_for="Give each an owner, or escalate it.",
        empty="Nobody is away; who went off shift keeps a case until it is accepted.",
    ),
    Section.UNKNOWN_OUTCOME: SectionRule(
        label="Outcome unknown",
        asks_for="Take over the look-up; it cannot be put off.",
        empty="No attempt is in doubt.",
    ),
    Section.NOT_REFRESHED: SectionRule(
        label="Source not refreshed",
        asks_for="Accept only as blocked, and keep the next try in view.",
        empty="Every source was read.",
    ),
    Section.STALE: SectionRule(
        label="Stale overnight",
        asks_for="Look at what changed and at the revised proposal.",
        empty="No proposal went stale.",
    ),
    Section.READY: SectionRule(
        label="Ready to decide",
        asks_for="Decide before the time beside it.",
        empty="No proposal waits for a decision.",
    ),
    Section.WAKING: SectionRule(
        label="Waking today",
        asks_for="Ask again at the time beside it.",
        empty="Nothing was put off until today.",
    ),
    Section.UNDER_WAY: SectionRule(
        label="Under way",
        asks_for="Nothing now; the agent or the other party has the next step.",
        empty="Nothing else is under way.",
    ),
    Section.DONE: SectionRule(
        label="Done overnight",
        asks_for="Say that the job is done, or look why not.",
        empty="Nothing was finished overnight.",
    ),
}


class Condition(StrEnum):
    """How closely a row must be watched; each has a word and a sign, never colour alone."""

    URGENT = "urgent"
    WATCH = "watch"
    STABLE = "stable"


SIGNS = {Condition.URGENT: "‼", Condition.WATCH: "!", Condition.STABLE: "·"}


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What the sheet must know of a case to place it. Instants are business time.

    `is_refreshed` says that all its sources were read for this handover; `changed` that a proposal
    of it went stale or expired since the shift before began; `wakes_at` is when somebody it waits
    for is asked again; `ends_at` the first moment at which something of it runs out (the decision's
    time, the proposal's, the due time of a line that asks for something).
    """

    has_owner: bool
    has_unknown_outcome: bool
    is_blocked: bool
    is_refreshed: bool
    changed: bool
    waits_for_decision: bool
    is_done: bool
    wakes_at: datetime | None
    ends_at: datetime | None


def section_of(standing: Standing, *, at: datetime) -> Section:
    """The one section in which the case stands."""
    wakes_today = standing.wakes_at is not None and standing.wakes_at <= at + TODAY
    fits = {
        Section.NO_OWNER: not standing.has_owner,
        Section.UNKNOWN_OUTCOME: standing.has_unknown_outcome,
        Section.NOT_REFRESHED: standing.is_blocked or not standing.is_refreshed,
        Section.STALE: standing.changed,
        Section.READY: standing.waits_for_decision,
        Section.DONE: standing.is_done,
        Section.WAKING: wakes_today,
        Section.UNDER_WAY: True,
    }
    return next(section for section, does in fits.items() if does)


def condition_of(standing: Standing, *, at: datetime) -> Condition:
    """How closely the case must be watched."""
    ends_soon = standing.ends_at is not None and standing.ends_at <= at + SOON
    if not standing.has_owner or standing.has_unknown_outcome or ends_soon:
        return Condition.URGENT
    is_open = not standing.is_refreshed or standing.is_blocked or standing.changed
    if is_open or standing.waits_for_decision:
        return Condition.WATCH
    return Condition.STABLE


def rank(
    section: Section, condition: Condition, ends_at: datetime | None, case_id: int
) -> tuple[int, int, bool, float, int]:
    """Sorting key of a row: section, condition, what runs out first, and the case's number."""
    return (
        list(Section).index(section),
        list(Condition).index(condition),
        ends_at is None,
        0.0 if ends_at is None else ends_at.timestamp(),
        case_id,
    )


@dataclass(frozen=True, kw_only=True)
class ReadBackFact:
    """A critical fact that a receiver must read back: its key and words, and its value now."""

    key: str
    label: str
    shown: str


MOST_READ_BACK = 3


def read_back_mismatches(
    *, wanted: Sequence[ReadBackFact], given: Mapping[str, str]
) -> tuple[ReadBackFact, ...]:
    """The critical facts that were not read back as they are now; blanks count as not read."""
    return tuple(fact for fact in wanted if _plain(given.get(fact.key, "")) != _plain(fact.shown))


def _plain(text: str) -> str:
    """How a value compares that somebody typed: blanks, capitals and kinds of dash do not count."""
    return " ".join(text.replace("–", "-").casefold().split())


def can_have_read(*, shown_at: datetime, last_at: datetime | None, at: datetime) -> bool:
    """Whether a person can have read a row that they accept at `at`.

    The page showed it at `shown_at`; `last_at` is when the same person accepted another row.
    """
    since = shown_at if last_at is None else max(shown_at, last_at)
    return at - since >= QUICKEST_READING


def differences(
    *, seen: Mapping[str, str], now: Mapping[str, str]
) -> tuple[tuple[str, str, str], ...]:
    """What stands otherwise in a row than it was seen: (what, as seen, now), in the row's order."""
    labels = [*now, *(label for label in seen if label not in now)]
    return tuple(
        (label, seen.get(label, "–"), now.get(label, "–"))
        for label in labels
        if seen.get(label, "–") != now.get(label, "–")
    )

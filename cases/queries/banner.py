"""The three named axes of a case, and the one banner: what, when learned, what is blocked, next."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cases.models import Case, Decision, Effect, Proposal
from cases.queries.facts_table import FactTable
from cases.queries.fate import fate_of
from cases.queries.sources import SourceState
from cases.queries.values import counted
from cases.vocabulary.stages import Stage


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One axis: its name, the word it stands at, since when, and a detail."""

    name: str
    word: str
    tone: str
    detail: str = ""
    at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Banner:
    """What happened, when we learned it, what that stops, and the one next step.

    `at` is when we learned it; `until` the time the next step waits for, if any.
    """

    tone: str
    what: str
    at: datetime
    stops: str
    next_step: str
    until: datetime | None = None
    newer: int | None = None


def axes_of(
    *,
    case: Case,
    table: FactTable,
    proposals: Sequence[Proposal],
    effects: Sequence[Effect],
    release: Decision | None,
    at: datetime,
) -> tuple[Axis, Axis, Axis]:
    """Facts, Proposal, Action."""
    return (
        _facts_axis(table, at),
        _proposal_axis(case, proposals),
        action_axis(effects=effects, release=release),
    )


def _version_of(subject: SourceState | None) -> str:
    if subject is None or subject.version is None:
        return ""
    return f"{subject.record_type} v{subject.version}"


def _facts_axis(table: FactTable, at: datetime) -> Axis:
    detail = _version_of(table.subject)
    seen = None if table.subject is None else table.subject.observed_at
    if table.unreadable:
        source = table.unreadable[0]
        return Axis(
            name="Facts",
            word="Unverified",
            tone="blocked",
            at=source.failed_at,
            detail=f"{source.name} {source.trouble}",
        )
    if seen is None:
        return Axis(name="Facts", word="Not read yet", tone="waiting")
    if table.subject is not None and table.subject.is_missing:
        return Axis(name="Facts", word="Not found", tone="blocked", at=seen)
    if table.changed and not table.is_settled:
        word = f"Changed ({len(table.changed)})"
        return Axis(name="Facts", word=word, tone="changed", at=seen, detail=detail)
    if table.subject is not None and table.subject.word(at=at) == "ageing":
        age = table.subject.age(at=at)
        return Axis(name="Facts", word=f"Read {age} ago", tone="waiting", at=seen, detail=detail)
    return Axis(name="Facts", word="Current", tone="done", at=seen, detail=detail)


def _proposal_axis(case: Case, proposals: Sequence[Proposal]) -> Axis:
    if not proposals:
        return Axis(name="Proposal", word="None yet", tone="waiting")
    newest_first = sorted(proposals, key=lambda proposal: -proposal.number)
    newest = newest_first[0]
    before = newest_first[1] if len(newest_first) > 1 else None
    tones = {
        Proposal.State.READY: "ready",
        Proposal.State.RELEASED: "done",
        Proposal.State.STALE: "changed",
        Proposal.State.EXPIRED: "changed",
    }
    on_hold = is_on_hold(case, newest.state)
    earlier = "" if before is None else f"v{before.number} {before.get_state_display().lower()}"
    return Axis(
        name="Proposal",
        word=f"v{newest.number} {state_label(case, newest.state).lower()}",
        tone="none" if on_hold else tones.get(Proposal.State(newest.state), "none"),
        at=case.stage_since if on_hold else newest.state_since,
        detail=earlier,
    )


def is_on_hold(case: Case, state: str) -> bool:
    """A ready version of a blocked case cannot be decided on until its facts are read again."""
    return state == Proposal.State.READY and case.current_stage is Stage.BLOCKED


def state_label(case: Case, state: str) -> str:
    """The state of a version as people should read it."""
    return "On hold" if is_on_hold(case, state) else str(Proposal.State(state).label)


def action_axis(*, effects: Sequence[Effect], release: Decision | None) -> Axis:
    """How far the newest release has come."""
    if release is None:
        return Axis(name="Action", word="None attempted", tone="none")
    fate = fate_of(release=release, effects=effects)
    return Axis(name="Action", word=fate.word, tone=fate.tone, at=fate.at, detail=fate.detail)


def banner_of(
    *, case: Case, table: FactTable, proposals: Sequence[Proposal], unsettled: str = ""
) -> Banner | None:
    """The banner of the case, or None when nothing stands in the way.

    `unsettled` is the reference of an effect whose outcome is unknown, or empty.
    """
    if case.current_stage is Stage.BLOCKED:
        return _blocked(case, unsettled)
    if case.current_stage is Stage.ESCALATED:
        return Banner(
            tone="blocked",
            what=case.stage_reason or "No plan stands.",
            at=case.stage_since,
            stops="Nothing is planned or sent by itself.",
            next_step=f"Find out whether {unsettled} happened and record it below; until then "
            "nothing is planned and the case stays open."
            if unsettled
            else "Ask for a new plan, or close the case with a reason.",
        )
    if case.current_stage is Stage.RECONCILING:
        return Banner(
            tone="unknown",
            what=case.stage_reason or "An attempt may or may not have happened.",
            at=case.stage_since,
            stops="Nothing is sent again until it is known whether it happened.",
            next_step=f"It is looked up in the target by its reference. Owner: {_owner(case)}.",
        )
    newest = max(proposals, key=lambda proposal: proposal.number, default=None)
    overtaken = [
        proposal
        for proposal in proposals
        if proposal.state in {Proposal.State.STALE, Proposal.State.EXPIRED}
        and newest is not None
        and proposal.number >= newest.number - 1  # older ones are history, not news
    ]
    if newest is None or not overtaken:
        return None
    return _overtaken(case, overtaken[-1], newest)


def _owner(case: Case) -> str:
    return "nobody yet" if case.owner is None else str(case.owner)


def _blocked(case: Case, unsettled: str) -> Banner:
    found_out_by_a_person = (
        f" Find out meanwhile whether {unsettled} happened and record it below."
        if unsettled and case.underlying_stage is Stage.ESCALATED
        else ""
    )
    if case.is_out_of_budget:
        return Banner(
            tone="blocked",
            what=case.blocked_reason,
            at=case.blocked_since or case.stage_since,
            stops="The agent does nothing on this case, and no version can be released.",
            next_step="It goes on by itself once the budget is raised."
            f"{found_out_by_a_person} Owner: {_owner(case)}.",
        )
    return Banner(
        tone="blocked",
        what=case.blocked_reason,
        at=case.blocked_since or case.stage_since,
        stops="No version can be released. Values below are saved ones, not today's.",
        next_step=(
            f"It is tried again by itself ({counted(case.blocked_tries, 'try', 'tries')} so far)."
            f"{found_out_by_a_person} Owner: {_owner(case)}. Next try:"
        ),
        until=case.next_try_at,
    )


def _overtaken(case: Case, proposal: Proposal, newest: Proposal) -> Banner | None:
    """A version that no longer holds; silent once a later one was decided on."""
    if newest.number == proposal.number:
        next_step, newer = "The agent prepares a revised version.", None
    elif newest.state == Proposal.State.READY:
        next_step, newer = f"Review v{newest.number}.", newest.number
    else:
        return None
    return Banner(
        tone="changed",
        what=f"Proposal {proposal.number} no longer holds. {proposal.state_reason}",
        at=proposal.state_since,
        stops=f"Release of v{proposal.number} is refused everywhere.",
        next_step=next_step,
        newer=newer,
    )

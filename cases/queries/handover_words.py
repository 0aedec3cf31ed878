"""A row of the sheet in words: its one line, why it may change, and the agent's draft of a note."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from cases.models import Case, CaseLine, Handover, Person, Proposal
from cases.queries.handover_facts import SheetFact
from cases.queries.handover_parts import Parts
from cases.queries.handover_shapes import SheetLine, SheetProposal, SheetWait
from cases.queries.proposal_view import cost_text, few_words
from cases.queries.values import counted
from cases.vocabulary.clocks import local_text
from cases.vocabulary.playbook import Playbook
from cases.vocabulary.stages import STAGES, Stage, Turn
from cases.vocabulary.work import SETTLE_WITHIN


def would_do(playbook: Playbook, parts: Parts) -> str:
    """What releasing the version that waits would do outside; empty while none waits."""
    if parts.ready is None:
        return ""
    cost = cost_text(parts.ready)
    return few_words(playbook=playbook, names=parts.action_names, cost=cost)


def one_line(case: Case, playbook: Playbook, parts: Parts) -> str:
    """Where the case stands, in one sentence."""
    if case.current_stage is Stage.CLOSED:
        return f"Closed by {case.closed_by}: {case.stage_reason}"
    if case.current_stage is Stage.BLOCKED:
        return f"Blocked: {case.blocked_reason}"
    if parts.doubts:
        references = ", ".join(effect.reference for effect in parts.doubts)
        return f"Whether {references} happened is not known."
    if does := would_do(playbook, parts):
        number = 0 if parts.newest is None else parts.newest.number
        return f"Proposal {number} waits for a decision: would {does}."
    return case.stage_reason or STAGES[case.current_stage].meaning


def may_change(
    case: Case, parts: Parts, overtaken: Sequence[str], *, called: Person, at: datetime
) -> tuple[str, ...]:
    """Why what the row says may not hold for long, as sentences; empty when nothing is known.

    `called` is before whom a case is put by name.
    """

    def time(moment: datetime) -> str:
        return local_text(moment, zone=case.desk.zone, relative_to=at)

    reasons = []
    if overtaken:
        what = ", ".join(overtaken)
        reasons.append(f"{what} changed after the proposal was made; it is to be revised.")
    ready = parts.ready
    if ready is not None and ready.valid_until is not None:
        reasons.append(f"What proposal {ready.number} rests on runs out {time(ready.valid_until)}.")
    if ready is not None and case.decide_by is not None:
        reasons.append(f"Undecided by {time(case.decide_by)}, it goes to {called}.")
    if case.current_stage is Stage.BLOCKED and case.next_try_at is not None:
        reasons.append(f"Its source is tried again {time(case.next_try_at)}.")
    reasons += [
        f"Whether {effect.reference} happened is looked up until "
        f"{time(effect.state_since + SETTLE_WITHIN)}."
        for effect in parts.doubts
    ]
    reasons += [
        f"{line.party or 'Somebody'} is to answer by {time(line.due_at)}."
        for line in parts.lines_of(CaseLine.Sort.WAITING_ON)
        if line.due_at is not None
    ]
    return tuple(reasons)


def attempts_in_doubt(playbook: Playbook, parts: Parts) -> tuple[str, ...]:
    """Attempts that may or may not have happened, as sentences."""
    found = []
    for effect in parts.doubts:
        spec = playbook.actions.get(effect.proposed_action.action)
        label = effect.proposed_action.action if spec is None else spec.label
        found.append(f"{label} ({effect.reference}): {effect.state_reason or 'no usable answer.'}")
    return tuple(found)


def since_words(handover: Handover) -> str:
    """Since when what changed is marked on its sheet."""
    return "the sheet was opened" if handover.published_at is None else "published"


def proposal_words(proposal: SheetProposal | None, *, zone: str) -> str:
    """The newest version and the times that bind it, in words that hold at any moment."""
    if proposal is None:
        return "none"
    said = [str(proposal.number), proposal.label]
    if proposal.decide_by is not None:
        said.append(f"decide by {local_text(proposal.decide_by, zone=zone)}")
    if proposal.valid_until is not None:
        said.append(f"holds until {local_text(proposal.valid_until, zone=zone)}")
    return ", ".join(said)


def written_words(lines: Mapping[str, Sequence[SheetLine]]) -> str:
    """Everything written down or promised: its sort, with whom, and until when."""
    said = [
        f"{CaseLine.Sort(sort).label}: {_line_words(line)}"
        for sort, some in lines.items()
        for line in some
    ]
    return "; ".join(said) or "nothing"


def _line_words(line: SheetLine) -> str:
    party = f"{line.party}: " if line.party else ""
    if line.due_at is None:
        return party + line.text
    return f"{party}{line.text} ({line.due_word} {local_text(line.due_at, zone=line.zone)})"


def draft_note(
    case: Case,
    playbook: Playbook,
    parts: Parts,
    facts: Sequence[SheetFact],
    *,
    at: datetime,
) -> str:
    """What the agent would tell the next shift, from the record alone, in plain sentences."""
    said = [one_line(case, playbook, parts)]
    newest = parts.newest
    if newest is not None and newest.changes and newest.state == Proposal.State.READY:
        labels = ", ".join(change["label"] for change in newest.changes)
        said.append(f"{counted(len(newest.changes), 'fact')} changed before it was made: {labels}.")
    known = [f"{fact.label.lower()} {fact.shown}" for fact in facts if not fact.is_saved]
    if known:
        said.append(f"As read last: {'; '.join(known)}.")
    saved = [fact for fact in facts if fact.is_saved]
    if saved:
        source = saved[0].source or "the source"
        said.append(f"For {source} only saved facts are known; they may be old.")
    if parts.doubts:
        said.append("Nothing is sent again until it is known what happened.")
    said += [
        f"Promised to {line.party or 'the customer'}: {line.text}"
        for line in parts.lines_of(CaseLine.Sort.PROMISE)
    ]
    said += [f"Do not: {line.text}" for line in parts.lines_of(CaseLine.Sort.DO_NOT)]
    return " ".join(sentence.strip() for sentence in said if sentence.strip())


def waits_on(case: Case, *, called: Person) -> SheetWait:
    """On whom the case waits by its stage, and what happens next; owner and run are loaded.

    `called` is before whom a case is put by name.
    """
    owner, lead = str(case.owner or "an owner"), str(called)
    on = {
        Turn.AGENT: "the agent",
        Turn.OPERATOR: owner,
        Turn.LEAD: lead,
        Turn.NOBODY: "nobody",
    }[STAGES[case.current_stage].turn]
    following, at = _next_of(case, owner=owner, lead=lead)
    return SheetWait(
        on=on,
        since=case.stage_since,
        following=following or STAGES[case.current_stage].meaning,
        following_at=at,
    )


def _next_of(case: Case, *, owner: str, lead: str) -> tuple[str, datetime | None]:
    """What happens next, and when; a person's act comes before what the agent does by itself."""
    match case.current_stage:
        case Stage.WAITING_FOR_REVIEW:
            return f"{owner} decides.", case.decide_by
        case Stage.BLOCKED:
            return "The source is tried again.", case.next_try_at
        case Stage.ESCALATED:
            return f"{lead} says what happens instead.", None
        case Stage.WAITING_FOR_ACCEPTANCE:
            return f"{owner} accepts the outcome.", None
        case _:
            return case.run.due_reason, case.run.due_at

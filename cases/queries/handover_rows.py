"""One row of the handover sheet, made from what is stored: section, condition, references."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from cases.models import CaseLine, Handover, HandoverRow, Person, Proposal
from cases.queries.catalogue import type_label
from cases.queries.duty import OFF_SHIFT, Duty
from cases.queries.handover_facts import SheetFact, sheet_facts, subject_of
from cases.queries.handover_parts import Parts, overtaken_facts, playbook_of_parts
from cases.queries.handover_shapes import (
    Broken,
    SheetLine,
    SheetNote,
    SheetProposal,
    SheetRow,
    answer_to,
    call_from,
    lines_from,
    promises_from,
)
from cases.queries.handover_words import (
    attempts_in_doubt,
    draft_note,
    may_change,
    one_line,
    proposal_words,
    since_words,
    waits_on,
    would_do,
    written_words,
)
from cases.queries.lines import PromiseView
from cases.vocabulary.handover_sheet import (
    SIGNS,
    Condition,
    Standing,
    condition_of,
    section_of,
)
from cases.vocabulary.playbook import Playbook
from cases.vocabulary.stages import STAGES, Stage
from cases.vocabulary.work import SETTLE_WITHIN

TAKE, OWNER, READ = "take", "owner", "read"
"""The acts that repair a reference: take the facts into the row, give an owner, read again."""
OVERTAKEN = frozenset({Proposal.State.STALE, Proposal.State.EXPIRED})


@dataclass(frozen=True, kw_only=True)
class Around:
    """What rows need to know of everything else.

    `since` is when the outgoing shift began, `others` the values that facts have in other cases,
    `promises` what our own messages promised on each case, `called` before whom cases are put.
    """

    handover: Handover
    duty: Duty
    called: Person
    since: datetime
    others: Mapping[str, Sequence[str]]
    uncarried: Mapping[int, tuple[str, ...]]
    promises: Mapping[int, tuple[PromiseView, ...]]
    at: datetime


@dataclass(frozen=True)
class RowMaker:
    """Makes the row of one case; asks the database nothing."""

    row: HandoverRow
    parts: Parts
    around: Around

    @cached_property
    def playbook(self) -> Playbook:
        """The case's playbook."""
        return playbook_of_parts(self.row.case, self.parts)

    @cached_property
    def facts(self) -> tuple[SheetFact, ...]:
        """The critical facts."""
        return sheet_facts(
            playbook=self.playbook,
            sources=self.parts.sources,
            published=self.row.published,
            others=self.around.others,
            refreshed_at=self.row.case.refreshed_at,
        )

    @cached_property
    def proposal(self) -> SheetProposal | None:
        """The newest version."""
        return _proposal(self.row, self.parts, would_do(self.playbook, self.parts))

    @cached_property
    def overtaken(self) -> tuple[str, ...]:
        """Material facts that changed since the version that waits was made."""
        return overtaken_facts(self.row.case, self.playbook, self.parts)

    @cached_property
    def absence(self) -> str:
        """Why the owner is not available, in words; empty when they are."""
        owner = self.row.case.owner_id
        return "no owner" if owner is None else self.around.duty.absence_of(owner)

    @cached_property
    def standing(self) -> Standing:
        """What places the row."""
        case, parts = self.row.case, self.parts
        is_done = case.current_stage in {Stage.WAITING_FOR_ACCEPTANCE, Stage.CLOSED}
        return Standing(
            has_owner=self.is_closed or self.absence in {"", OFF_SHIFT},
            has_unknown_outcome=bool(parts.doubts),
            is_blocked=case.current_stage is Stage.BLOCKED,
            is_refreshed=self.is_closed or self._was_read(),
            changed=not is_done and _went_stale(parts, self.around.since),
            waits_for_decision=self._waits_for_decision(),
            is_done=is_done,
            wakes_at=self.wakes_at,
            ends_at=None if self.is_closed else _ends_at(self.row, parts),
        )

    @cached_property
    def wakes_at(self) -> datetime | None:
        """When whoever is waited for is to be asked again; None when that is over or unsaid."""
        lines = self.parts.lines_of(CaseLine.Sort.WAITING_ON)
        ahead = [line.due_at for line in lines if line.due_at and line.due_at > self.around.at]
        return min(ahead, default=None)

    def _waits_for_decision(self) -> bool:
        """Whether a person decides now: on a version, or without a plan what to do instead."""
        stage = self.row.case.current_stage
        has_no_plan = stage is Stage.ESCALATED and self.wakes_at is None
        return stage is Stage.WAITING_FOR_REVIEW or has_no_plan

    @property
    def is_closed(self) -> bool:
        """Whether the case was closed since the sheet was opened."""
        return self.row.case.current_stage is Stage.CLOSED

    def _was_read(self) -> bool:
        """Whether every source was asked for this handover and told, and none has failed since.

        What the feed named after the question is to be read again, and so is a subject that was not
        found.
        """
        read_at, named_at = self.row.case.refreshed_at, self.parts.named_at
        subject = subject_of(self.playbook, self.parts.sources)
        if read_at is None or (subject is not None and subject.is_missing):
            return False
        if any(source.is_unreadable for source in self.parts.sources):
            return False
        since = self.around.handover.opened_at
        return read_at >= since and (named_at is None or named_at < read_at)

    @property
    def only_as_blocked(self) -> bool:
        """Whether the case cannot be taken over as fresh."""
        return self.standing.is_blocked or not self.standing.is_refreshed

    def made(self) -> SheetRow:
        """The row."""
        row, case, parts, at = self.row, self.row.case, self.parts, self.around.at
        condition = condition_of(self.standing, at=at)
        return SheetRow(
            row_id=row.pk,
            case_id=case.pk,
            subject=case.subject,
            title=case.title,
            type_label=type_label(self.playbook, case.case_type),
            section=section_of(self.standing, at=at).value,
            condition=condition.value,
            sign=SIGNS[condition],
            stage_label=STAGES[case.current_stage].label,
            one_line=one_line(case, self.playbook, parts),
            may_change=may_change(case, parts, self.overtaken, called=self.around.called, at=at),
            facts=self.facts,
            proposal=self.proposal,
            attempts=attempts_in_doubt(self.playbook, parts),
            uncarried=self.around.uncarried.get(case.pk, ()),
            wait=waits_on(case, called=self.around.called),
            lines=self.lines,
            note=self._note(),
            owner="" if case.owner is None else str(case.owner),
            owner_before="" if row.owner_before is None else str(row.owner_before),
            absence=self.absence,
            calls=tuple(call_from(escalation) for escalation in parts.escalations),
            broken=self.broken,
            repairs=tuple(dict.fromkeys(one.repair for one in self.broken)),
            must_repair=any(one.repair != OWNER for one in self.broken),
            must_read_back=not self.is_closed and condition is Condition.URGENT,
            was_read=self.standing.is_refreshed,
            only_as_blocked=self.only_as_blocked,
            needs_answer=not self.is_closed,
            answer=answer_to(row),
            ends_at=self.standing.ends_at,
            seen=self._seen(),
        )

    @cached_property
    def lines(self) -> dict[str, tuple[SheetLine, ...]]:
        """What people wrote down, by sort; our own messages promise too."""
        lines = {sort.value: lines_from(self.parts.lines_of(sort)) for sort in CaseLine.Sort}
        lines[CaseLine.Sort.PROMISE] += promises_from(
            self.around.promises.get(self.row.case_id, ())
        )
        return lines

    def _note(self) -> SheetNote:
        row, at = self.row, self.around.at
        draft = draft_note(row.case, self.playbook, self.parts, self.facts, at=at)
        return SheetNote(text=row.note, by=row.note_by, at=row.note_at, draft=draft)

    @cached_property
    def broken(self) -> tuple[Broken, ...]:
        """References that do not exist, are not current, or cannot be read."""
        if self.is_closed:
            return ()
        found, proposal, since = [], self.proposal, since_words(self.around.handover)
        if self.absence not in {"", OFF_SHIFT}:
            says = f"Its owner cannot answer for it: {self.absence}."
            found.append(Broken(says=says, repair=OWNER))
        if proposal is not None and proposal.published != proposal.number:
            was = f"proposal {proposal.published}" if proposal.published else "no proposal"
            says = f"The row refers to {was}; proposal {proposal.number} is current."
            found.append(Broken(says=says, repair=TAKE))
        for fact in self.facts:
            if fact.has_changed:
                says = f"{fact.label} changed since {since}: {fact.published} → {fact.shown}."
                found.append(Broken(says=says, repair=TAKE))
        if self.overtaken:
            what = ", ".join(self.overtaken)
            says = f"The proposal stands on older facts: {what} changed since it was made."
            found.append(Broken(says=says, repair=READ))
        return tuple(found)

    def _seen(self) -> dict[str, str]:
        answer, zone = answer_to(self.row), self.row.case.desk.zone
        blocked = self.only_as_blocked
        doubts = ", ".join(effect.reference for effect in self.parts.doubts)
        uncarried = ", ".join(self.around.uncarried.get(self.row.case_id, ()))
        return {
            "Owner": str(self.row.case.owner or "nobody"),
            "Stage": STAGES[self.row.case.current_stage].label,
            "Proposal": proposal_words(self.proposal, zone=zone),
            **{fact.label: fact.shown for fact in self.facts},
            "Sources": "not read for this handover" if blocked else "read for this handover",
            "Unknown outcomes": doubts or "none",
            "Written down": written_words(self.lines),
            "No action for": uncarried or "nothing",
            "Note": self.row.note or "none",
            "Answer": f"{answer.label} by {answer.by}" if answer else "none",
        }


def _went_stale(parts: Parts, since: datetime) -> bool:
    """Whether a version was overtaken since the shift before began, and nothing released since."""
    newest = parts.newest
    if newest is None or newest.state not in {Proposal.State.READY, *OVERTAKEN}:
        return False
    return any(
        proposal.state in OVERTAKEN and proposal.state_since >= since
        for proposal in parts.proposals
    )


def _ends_at(row: HandoverRow, parts: Parts) -> datetime | None:
    ready = parts.ready
    # Until when something must not be done is no deadline: nothing has to happen then.
    moments = [line.due_at for line in parts.lines if line.sort != CaseLine.Sort.DO_NOT]
    moments += [effect.state_since + SETTLE_WITHIN for effect in parts.doubts]
    if ready is not None:
        moments += [row.case.decide_by, ready.valid_until]
    return min((moment for moment in moments if moment is not None), default=None)


def _proposal(row: HandoverRow, parts: Parts, does: str) -> SheetProposal | None:
    newest = parts.newest
    if newest is None:
        return None
    is_ready = parts.ready is not None
    return SheetProposal(
        number=newest.number,
        published=row.published.get("proposal"),
        state=newest.state,
        label=str(Proposal.State(newest.state).label).lower(),
        does=does,
        changes=tuple(change["label"] for change in newest.changes),
        decide_by=row.case.decide_by if is_ready else None,
        valid_until=newest.valid_until if is_ready else None,
    )

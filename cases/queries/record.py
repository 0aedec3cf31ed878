"""The record a case can print: one mapping, in the words of the product."""

from typing import Any

from cases.models import Attempt, Case, Proposal
from cases.queries.facts_table import live_changes
from cases.queries.loading import find_case, proposals_of, stored_playbook
from cases.queries.sources import sheet_from, sources_of
from cases.vocabulary.stages import Stage

NEXT_STEPS = {
    Stage.INVESTIGATING: "agent_prepares_proposal",
    Stage.WAITING_FOR_REVIEW: "operator_review",
    Stage.EXECUTING: "agent_carries_out_release",
    Stage.VERIFYING: "agent_reads_back_effects",
    Stage.RECONCILING: "agent_looks_up_unknown_outcome",
    Stage.BLOCKED: "source_is_tried_again",
    Stage.ESCALATED: "lead_decides",
    Stage.WAITING_FOR_ACCEPTANCE: "owner_accepts_outcome",
    Stage.CLOSED: "none",
}
OVERTAKEN = frozenset(
    {
        Proposal.State.STALE.value,
        Proposal.State.EXPIRED.value,
        Proposal.State.SUPERSEDED.value,
        Proposal.State.WITHDRAWN.value,
    }
)


def record_of(case_id: int) -> dict[str, Any]:
    """The case's record: what was saved, what holds now, what changed, and the next step.

    `previous_proposal` is the newest version that no longer holds, or else the newest one;
    `external_action_performed` says whether anything was sent outside for the case, whichever
    version asked for it. Raises `NotFound`.
    """
    case = find_case(case_id)
    sources = sources_of(case)
    playbook = stored_playbook(case, sources)
    sheet = sheet_from(case=case, subject_type=playbook.subject_type, sources=sources)
    proposals = proposals_of(case)
    previous = _previous(proposals)
    subject = sheet.reading(sheet.subject_type, sheet.subject_id)
    successor = next((p for p in proposals if previous and p.number == previous.number + 1), None)
    changes = []
    if successor is not None:
        changes = successor.changes
    elif previous is not None:
        changes = live_changes(playbook, previous, sheet)
    return {
        "case_id": case.pk,
        f"{playbook.subject_type}_id": case.subject,
        f"saved_{playbook.subject_type}_version": previous.subject_version if previous else None,
        f"current_{playbook.subject_type}_version": subject.version if subject else None,
        "previous_proposal": previous.number if previous else None,
        "previous_proposal_status": previous.state if previous else None,
        "changes": [change["key"] for change in changes],
        "next_step": next_step(case, proposals),
        "external_action_performed": was_sent(case),
    }


def _previous(proposals: list[Proposal]) -> Proposal | None:
    overtaken = [proposal for proposal in proposals if proposal.state in OVERTAKEN]
    if overtaken:
        return overtaken[-1]
    return proposals[-1] if proposals else None


def next_step(case: Case, proposals: list[Proposal]) -> str:
    """What the case waits for; a review of a version made because facts changed says so."""
    revised = bool(proposals) and bool(proposals[-1].changes)
    if case.current_stage is Stage.WAITING_FOR_REVIEW and revised:
        return "operator_review_of_revised_response"
    if case.is_out_of_budget:
        return "lead_raises_budget"
    return NEXT_STEPS[case.current_stage]


def was_sent(case: Case) -> bool:
    """Whether any attempt for the case may have reached a target; unknown counts as sent."""
    made = Attempt.objects.filter(effect__decision__case=case)
    without = (Attempt.Outcome.NO_EFFECT, Attempt.Outcome.NOT_SENT)
    return made.exclude(outcome__in=without).exists()

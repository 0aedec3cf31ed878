"""Has the case changed since a page was made? Cheap enough to ask every few seconds."""

from dataclasses import dataclass
from datetime import datetime

from cases.models import Case, Proposal
from cases.vocabulary.errors import NotFound
from cases.vocabulary.stages import STAGES, Stage, Turn


@dataclass(frozen=True, kw_only=True)
class CaseHint:
    """Where the case stands against what a page shows.

    `newer` is a version newer than the one shown; `goes_on` says whether asking again makes sense.
    """

    case_id: int
    version: int
    changed_at: datetime
    has_changed: bool
    stage_label: str
    desk_zone: str
    newer: int | None
    newer_is_ready: bool
    shown_is_ready: bool
    agent_works: bool
    goes_on: bool


def case_hint(*, case_id: int, seen_version: int, shown_number: int | None) -> CaseHint:
    """Compare with what the page shows; two queries. Raises `NotFound` for an unknown case."""
    case = Case.objects.select_related("desk").filter(pk=case_id).first()
    if case is None:
        raise NotFound(f"There is no case {case_id}.")
    shown = shown_number or 0
    versions = {
        row["number"]: row["state"]
        for row in case.proposals.filter(number__gte=shown).values("number", "state")
    }
    newest = max(versions, default=shown)
    rule = STAGES[case.current_stage]
    return CaseHint(
        case_id=case.pk,
        version=case.version,
        changed_at=case.changed_at,
        has_changed=case.version > seen_version,
        stage_label=rule.label,
        desk_zone=case.desk.zone,
        newer=newest if newest > shown else None,
        newer_is_ready=versions.get(newest) == Proposal.State.READY,
        shown_is_ready=versions.get(shown) == Proposal.State.READY,
        agent_works=rule.turn is Turn.AGENT,
        goes_on=case.current_stage is not Stage.CLOSED,
    )

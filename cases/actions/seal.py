"""The digest a release binds to, and whether what is stored is still what it was made from."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from cases.models import Case, Proposal, ProposedAction
from cases.vocabulary.clocks import iso
from cases.vocabulary.digest import digest_of
from cases.vocabulary.playbook import PlannedAction


def proposal_digest(
    *,
    case: Case,
    number: int,
    actions: Sequence[PlannedAction],
    facts: Sequence[dict[str, Any]],
    valid_until: datetime | None,
) -> str:
    """What a release binds to: case, version, actions, material facts and expiry; no prose.

    `facts` are in the form of `MaterialFact.as_value`.
    """
    return digest_of(
        {
            "case": case.pk,
            "subject": case.subject,
            "number": number,
            "actions": [planned.as_value() for planned in actions],
            "facts": list(facts),
            "valid_until": None if valid_until is None else iso(valid_until),
        }
    )


def is_intact(*, proposal: Proposal, digest: str) -> bool:
    """Whether the rows of a proposal, as stored now, still give `digest`."""
    return digest == proposal_digest(
        case=proposal.case,
        number=proposal.number,
        actions=[planned_from(row) for row in proposal.actions.all()],
        facts=proposal.facts,
        valid_until=proposal.valid_until,
    )


def planned_from(row: ProposedAction) -> PlannedAction:
    """A stored action as it was planned."""
    return PlannedAction(
        action=row.action, parameters=row.parameters, depends_on=tuple(row.depends_on)
    )

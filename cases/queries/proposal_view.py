"""One version of a proposal as people read it, built from its stored fields alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from cases.models import Case, Evidence, Proposal, ProposedAction
from cases.queries.banner import state_label
from cases.queries.catalogue import action_spec, fact_label, goal_label
from cases.queries.values import counted, money_text, parameters_text, said
from cases.vocabulary.digest import short_code
from cases.vocabulary.playbook import ActionSpec, Playbook

BUTTON_WORDS = {"message": ("send", "update"), "booking": ("book", "truck")}
"""What a target's record is called on the release button; others are named by their label."""


@dataclass(frozen=True, kw_only=True)
class ActionView:
    """One action: what it does, its effect, whether it can be undone, and its exact parameters.

    `goal` is the label of the goal that it carries.
    """

    position: int
    name: str
    label: str
    describes: str
    effect: str
    undo_note: str
    reversible: bool
    changes_the_outside: bool
    depends_on: tuple[int, ...]
    parameters: tuple[tuple[str, str], ...]
    rests_on: tuple[str, ...]
    goal: str


@dataclass(frozen=True, kw_only=True)
class EvidenceView:
    """An observation the proposal stands on, and when it was bound to it."""

    label: str
    version: int | None
    observed_at: datetime
    bound_at: datetime


@dataclass(frozen=True, kw_only=True)
class ProposalView:
    """A version with everything a release binds to; `summary` is the agent's own prose."""

    number: int
    state: str
    state_label: str
    state_reason: str
    state_since: datetime
    author: str
    created_at: datetime
    subject_version: int | None
    summary: str
    actions: tuple[ActionView, ...]
    evidence: tuple[EvidenceView, ...]
    cost: str
    decide_by: datetime
    valid_until: datetime | None
    digest: str
    code: str

    @property
    def is_ready(self) -> bool:
        """Whether it may still be decided on."""
        return self.state == Proposal.State.READY


@dataclass(frozen=True, kw_only=True)
class VersionLink:
    """A version in the list of versions."""

    number: int
    state: str
    state_label: str
    is_shown: bool


def proposal_view(*, playbook: Playbook, case: Case, proposal: Proposal) -> ProposalView:
    """The version with its evidence; one query where its actions are loaded."""
    evidence = (
        Evidence.objects.filter(proposal=proposal)
        .select_related("observation__record")
        .order_by("observation_id")
    )
    return ProposalView(
        number=proposal.number,
        state=proposal.state,
        state_label=state_label(case, proposal.state),
        state_reason=proposal.state_reason,
        state_since=proposal.state_since,
        author=proposal.author,
        created_at=proposal.created_at,
        subject_version=proposal.subject_version,
        summary=proposal.summary,
        actions=tuple(action_view(playbook, row) for row in proposal.actions.all()),
        evidence=tuple(
            EvidenceView(
                label=str(row.observation.record),
                version=row.observation.version,
                observed_at=row.observation.observed_at,
                bound_at=row.bound_at,
            )
            for row in evidence
        ),
        cost=cost_text(proposal),
        decide_by=proposal.decide_by,
        valid_until=proposal.valid_until,
        digest=proposal.digest,
        code=short_code(proposal.digest),
    )


def action_view(playbook: Playbook, row: ProposedAction) -> ActionView:
    """A stored action in the words of the catalogue."""
    spec = action_spec(playbook, row.action, parameters=row.parameters)
    unsayable = f"{spec.label}: what is stored of it cannot be said in words"
    return ActionView(
        position=row.position,
        name=row.action,
        label=spec.label,
        describes=said(lambda: spec.describe(row.parameters), otherwise=unsayable),
        effect=said(lambda: spec.effect(row.parameters), otherwise=unsayable),
        undo_note=spec.undo_note,
        reversible=spec.reversible,
        changes_the_outside=spec.changes_the_outside,
        depends_on=tuple(row.depends_on),
        parameters=tuple(parameters_text(spec=spec, parameters=row.parameters)),
        rests_on=tuple(fact_label(playbook, rests.key) for rests in spec.rests_on),
        goal=goal_label(playbook, spec.goal),
    )


def cost_text(proposal: Proposal) -> str:
    """What releasing spends: `USD 1,790.00`, or `nothing`."""
    if proposal.cost_minor is None:
        return "nothing"
    return money_text(minor=proposal.cost_minor, currency=proposal.currency)


def version_links(
    *, case: Case, proposals: Sequence[Proposal], shown: Proposal | None
) -> tuple[VersionLink, ...]:
    """Every version, oldest first."""
    return tuple(
        VersionLink(
            number=proposal.number,
            state=proposal.state,
            state_label=state_label(case, proposal.state),
            is_shown=proposal == shown,
        )
        for proposal in sorted(proposals, key=lambda proposal: proposal.number)
    )


def few_words(*, playbook: Playbook, names: Iterable[str], cost: str) -> str:
    """What actions do outside: `book 1 truck for USD 1,790.00, send 1 update`."""
    counts: dict[str, int] = {}
    specs: dict[str, ActionSpec] = {}
    for name in names:
        spec = action_spec(playbook, name)
        if spec.target_record is not None:
            counts[spec.target_record] = counts.get(spec.target_record, 0) + 1
            specs[spec.target_record] = spec
    phrases = []
    for target, count in counts.items():
        spec = specs[target]
        verb, noun = BUTTON_WORDS.get(target, ("", ""))
        phrase = f"{verb} {counted(count, noun)}" if verb else spec.label.lower()
        phrases.append(phrase + (f" for {cost}" if spec.cost_parameter else ""))
    return ", ".join(phrases) or "nothing is sent"


def recap_sentence(*, playbook: Playbook, case: Case, view: ProposalView) -> str:
    """What this release would do and cost, from structured fields alone."""
    outside = [action for action in view.actions if action.changes_the_outside]
    inside = len(view.actions) - len(outside)
    does = "; ".join(
        f"{action.describes}{'' if action.reversible else ' (cannot be undone)'}"
        for action in outside
    )
    act = playbook.wording.get("release", "Release")
    sends = f"does this outside: {does}." if outside else "sends nothing outside."
    rest = f" {counted(inside, 'action')} without outside effect." if inside else ""
    return f"{act} of version {view.number} for {case.subject} {sends}{rest} Cost: {view.cost}."

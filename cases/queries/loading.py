"""A case with everything its pages are made of, read in a fixed number of queries."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Prefetch

from cases.models import (
    BudgetRaise,
    Case,
    CaseLine,
    Decision,
    Effect,
    Escalation,
    Goal,
    Proposal,
    SourceRecord,
    StandingCondition,
)
from cases.queries.catalogue import playbook_for
from cases.queries.sources import SourceState, records_of, state_of
from cases.queries.together import together
from cases.vocabulary.errors import NotFound
from cases.vocabulary.playbook import Playbook


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A case with all that hangs on it, as read from the database.

    Proposals know their actions; decisions their effects, and these their action, attempts and
    looks. `lines` and `escalations` are those that stand, `holding` what stops releases.
    """

    case: Case
    playbook: Playbook
    records: Sequence[SourceRecord]
    sources: tuple[SourceState, ...]
    proposals: Sequence[Proposal]
    shown: Proposal | None
    decisions: Sequence[Decision]
    goals: Sequence[Goal]
    lines: Sequence[CaseLine]
    escalations: Sequence[Escalation]
    raises: Sequence[BudgetRaise]
    holding: Sequence[StandingCondition]

    @property
    def effects(self) -> Sequence[Effect]:
        """The effects of all releases, oldest first."""
        found = [effect for decision in self.decisions for effect in decision.effects.all()]
        return sorted(found, key=lambda effect: effect.pk)

    @property
    def newest(self) -> int | None:
        """The number of the newest version."""
        return self.proposals[-1].number if self.proposals else None

    @property
    def standing(self) -> Decision | None:
        """The decision on the version shown."""
        shown = None if self.shown is None else self.shown.pk
        return next((made for made in self.decisions if made.proposal_id == shown), None)

    @property
    def release(self) -> Decision | None:
        """The newest release, in force or ended."""
        releases = [made for made in self.decisions if made.kind == Decision.Kind.RELEASE]
        return releases[-1] if releases else None


def load_case(case_id: int, number: int | None) -> Loaded:
    """The case with version `number` shown, or the newest; raises `NotFound`. Nine queries."""
    case = find_case(case_id)
    proposals = proposals_of(case)
    records = records_of(case)
    sources = tuple(map(state_of, records))
    goals, lines, escalations, raises, holding = together(
        case.goals.all(),
        case.lines.filter(ended_at=None),
        case.escalations.filter(ended_at=None),
        case.budget_raises.all(),
        StandingCondition.objects.holding(case),
    )
    return Loaded(
        case=case,
        playbook=stored_playbook(case, sources),
        records=records,
        sources=sources,
        proposals=proposals,
        shown=choose(proposals, number),
        decisions=_decisions(case),
        goals=goals,
        lines=lines,
        escalations=escalations,
        raises=raises,
        holding=holding,
    )


def stored_playbook(case: Case, sources: Sequence[SourceState]) -> Playbook:
    """The case's playbook; for an unknown kind one that takes the first record as the subject."""
    subject = sources[0].record_type if sources else "source"
    return playbook_for(case.kind, subject_type=subject)


def find_case(case_id: int) -> Case:
    """The case with owner, desk and run; raises `NotFound`."""
    case = Case.objects.with_people().select_related("run").filter(pk=case_id).first()
    if case is None:
        raise NotFound(f"There is no case {case_id}. It may have been typed wrongly.")
    return case


def proposals_of(case: Case) -> list[Proposal]:
    """Every version, oldest first, each knowing its case and its actions; two queries."""
    found = list(case.proposals.prefetch_related("actions").order_by("number"))
    for proposal in found:
        proposal.case = case
    return found


def choose(proposals: Sequence[Proposal], number: int | None) -> Proposal | None:
    """Version `number`, or the newest; raises `NotFound` for a number that was never made."""
    if number is None:
        return proposals[-1] if proposals else None
    for proposal in proposals:
        if proposal.number == number:
            return proposal
    raise NotFound(f"This case has no proposal {number}.")


def before(proposals: Sequence[Proposal], shown: Proposal | None) -> Proposal | None:
    """The version made before the one shown."""
    if shown is None:
        return None
    earlier = [proposal for proposal in proposals if proposal.number < shown.number]
    return earlier[-1] if earlier else None


def versions_to_compare(
    proposals: Sequence[Proposal], shown: Proposal | None
) -> tuple[int, int] | None:
    """Which two versions to offer side by side: an older one with the newest, else with before."""
    if shown is None or proposals[0] == proposals[-1]:
        return None
    if shown.number < proposals[-1].number:
        return shown.number, proposals[-1].number
    return proposals[-2].number, shown.number


def _decisions(case: Case) -> list[Decision]:
    effects = Effect.objects.select_related("proposed_action")
    return list(
        case.decisions.select_related("proposal")
        .prefetch_related(Prefetch("effects", effects.prefetch_related("attempts", "read_backs")))
        .order_by("at", "id")
    )

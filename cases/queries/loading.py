"""A case with everything its pages are made of, read in a fixed number of queries."""

from collections.abc import Sequence
from dataclasses import dataclass

from cases.models import Case, Decision, Proposal
from cases.queries.catalogue import playbook_for
from cases.queries.sources import SourceState, sources_of
from cases.vocabulary.errors import NotFound
from cases.vocabulary.playbook import Playbook


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A case with its sources, versions and decisions, as read from the database."""

    case: Case
    playbook: Playbook
    sources: tuple[SourceState, ...]
    proposals: Sequence[Proposal]
    shown: Proposal | None
    decisions: Sequence[Decision]

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
    """The case with version `number` shown, or the newest; raises `NotFound`. Five queries."""
    case = find_case(case_id)
    proposals = proposals_of(case)
    sources = sources_of(case)
    return Loaded(
        case=case,
        playbook=stored_playbook(case, sources),
        sources=sources,
        proposals=proposals,
        shown=choose(proposals, number),
        decisions=_decisions(case),
    )


def stored_playbook(case: Case, sources: Sequence[SourceState]) -> Playbook:
    """The case's playbook; for an unknown kind one that takes the first record as the subject."""
    subject = sources[0].record_type if sources else "source"
    return playbook_for(case.kind, subject_type=subject)


def find_case(case_id: int) -> Case:
    """The case with owner and desk; raises `NotFound`."""
    case = Case.objects.with_people().filter(pk=case_id).first()
    if case is None:
        raise NotFound(f"There is no case {case_id}. It may have been typed wrongly.")
    return case


def proposals_of(case: Case) -> list[Proposal]:
    """Every version, oldest first, each knowing its case; one query."""
    found = list(case.proposals.order_by("number"))
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
    return list(
        case.decisions.select_related("proposal").prefetch_related("effects").order_by("at", "id")
    )

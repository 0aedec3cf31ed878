"""Two versions of a proposal side by side: facts, actions and their exact parameters."""

from dataclasses import dataclass, replace

from cases.models import Case, Proposal
from cases.queries.catalogue import fact_label, playbook_for
from cases.queries.loading import choose, find_case, proposals_of
from cases.queries.proposal_view import ProposalView, proposal_view
from cases.queries.values import fact_text, mark_word
from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.playbook import Playbook

RESTS = {"": "unchanged", "~": "changed", "−": "not used", "+": "newly used"}


@dataclass(frozen=True, kw_only=True)
class ComparedRow:
    """One thing in both versions; `mark` is empty where they agree. None: not in that version."""

    label: str
    mark: str
    word: str
    older: str | None
    newer: str | None


@dataclass(frozen=True, kw_only=True)
class ComparedAction:
    """An action of either version with its parameters compared."""

    label: str
    mark: str
    word: str
    rows: tuple[ComparedRow, ...]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """An older and a newer version; `changed_facts` counts the rows that differ."""

    case_id: int
    subject: str
    title: str
    zone: str
    older: ProposalView
    newer: ProposalView
    numbers: tuple[int, ...]
    terms: tuple[ComparedRow, ...]
    facts: tuple[ComparedRow, ...]
    actions: tuple[ComparedAction, ...]

    @property
    def changed_facts(self) -> int:
        """How many facts both versions rest on and that differ."""
        return sum(1 for row in self.facts if row.mark == "~")


def compare_versions(*, case_id: int, older: int, newer: int) -> Comparison:
    """Two versions; raises `NotFound`, or `InvalidInput` for one and the same."""
    if older == newer:
        raise InvalidInput("Choose two different versions to compare.")
    case = find_case(case_id)
    playbook = playbook_for(case.kind)
    proposals = proposals_of(case)
    first, second = choose(proposals, min(older, newer)), choose(proposals, max(older, newer))
    if first is None or second is None:
        raise InvalidInput("This case has no versions to compare yet.")
    views = (
        proposal_view(playbook=playbook, case=case, proposal=first),
        proposal_view(playbook=playbook, case=case, proposal=second),
    )
    return Comparison(
        case_id=case.pk,
        subject=case.subject,
        title=case.title,
        zone=case.desk.zone,
        older=views[0],
        newer=views[1],
        numbers=tuple(proposal.number for proposal in proposals),
        terms=_terms(case, *views),
        facts=_facts(playbook, first, second),
        actions=_actions(*views),
    )


def _row(label: str, older: str | None, newer: str | None) -> ComparedRow:
    if older == newer:
        mark = ""
    elif older is None:
        mark = "+"
    else:
        mark = "−" if newer is None else "~"
    return ComparedRow(
        label=label, mark=mark, word=mark_word(mark, now=newer), older=older, newer=newer
    )


def _terms(case: Case, older: ProposalView, newer: ProposalView) -> tuple[ComparedRow, ...]:
    def version(view: ProposalView) -> str:
        return "no version" if view.subject_version is None else f"v{view.subject_version}"

    return (
        _row("Built on", f"{case.subject} {version(older)}", f"{case.subject} {version(newer)}"),
        _row("Cost", older.cost, newer.cost),
        _row("Code", older.code, newer.code),
    )


def _facts(playbook: Playbook, older: Proposal, newer: Proposal) -> tuple[ComparedRow, ...]:
    def texts(proposal: Proposal) -> dict[tuple[str, str], str]:
        return {
            (fact["key"], fact["record_id"]): fact_text(
                playbook=playbook, key=fact["key"], value=fact["value"]
            )
            for fact in proposal.facts
        }

    before, after = texts(older), texts(newer)
    order = list(playbook.facts)
    names = sorted(
        {*before, *after},
        key=lambda name: (order.index(name[0]) if name[0] in order else len(order), name[1]),
    )
    rows = []
    for key, record_id in names:
        label = f"{fact_label(playbook, key)} ({record_id})"
        row = _row(label, before.get((key, record_id)), after.get((key, record_id)))
        rows.append(replace(row, word=RESTS[row.mark]))
    return tuple(rows)


def _actions(older: ProposalView, newer: ProposalView) -> tuple[ComparedAction, ...]:
    before = {action.name: action for action in older.actions}
    after = {action.name: action for action in newer.actions}
    compared = []
    for name in dict.fromkeys([*before, *after]):
        first, second = before.get(name), after.get(name)
        old = dict(first.parameters) if first else {}
        new = dict(second.parameters) if second else {}
        rows = tuple(
            _row(label, old.get(label), new.get(label)) for label in dict.fromkeys([*old, *new])
        )
        some = second or first
        mark = "+" if first is None else "−" if second is None else ""
        mark = mark or ("~" if any(row.mark for row in rows) else "")
        word = {"+": "new", "−": "dropped", "~": "changed", "": "unchanged"}[mark]
        label = some.label if some else name
        compared.append(ComparedAction(label=label, mark=mark, word=word, rows=rows))
    return tuple(compared)

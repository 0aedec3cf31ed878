"""What a case must achieve, how far each goal has come, and which action carries it.

The playbook's goals of the case's type always count, also where nobody settled one yet. Facts show
them; people settle them, and their own. An effect of ours that the other party took up counts until
the facts are read again.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from cases.models import Case, Decision, Effect, Goal, Proposal, ProposedAction
from cases.queries.catalogue import action_spec, goal_label, playbook_for
from cases.queries.sources import sheet_from, sources_of_many
from cases.queries.values import UNSAYABLE, said
from cases.vocabulary.facts import FactSheet
from cases.vocabulary.playbook import GoalSpec, Playbook
from cases.vocabulary.playbooks import type_of


@dataclass(frozen=True, kw_only=True)
class GoalStanding:
    """One goal of a case and where it stands.

    `reference` names it in forms: the playbook's key, or the number of a goal that people added.
    `state` is what people said, with by whom, when and why; `shown` who achieved it as the facts
    tell it, or what an effect of ours did, empty when neither shows it. `carried_by` are the
    positions of the current proposal's actions that carry it, `version` that proposal's number.
    """

    reference: str
    key: str
    label: str
    state: Goal.State
    by: str
    at: datetime | None
    reason: str
    shown: str
    carried_by: tuple[int, ...]
    version: int | None

    @property
    def is_settled(self) -> bool:
        """Whether it is achieved, or a person settled it."""
        return bool(self.shown) or self.state is not Goal.State.OPEN

    @property
    def is_carried(self) -> bool:
        """Whether an action of the current proposal carries it."""
        return bool(self.carried_by)

    @property
    def is_own(self) -> bool:
        """Whether people added it; then only people settle it."""
        return not self.key


@dataclass(frozen=True, kw_only=True)
class GoalWork:
    """What is under way for the goals of one case, as stored.

    `actions` are the current proposal's: number, position and name; `adopted` when effects were
    taken up by the other party, with the name of their action.
    """

    actions: Sequence[tuple[int, int, str]] = ()
    adopted: Sequence[tuple[datetime, str]] = ()


def standings(
    *,
    case: Case,
    playbook: Playbook,
    sheet: FactSheet | None,
    rows: Sequence[Goal],
    work: GoalWork,
) -> tuple[GoalStanding, ...]:
    """The goals of a case, the playbook's first; `sheet` is None while its facts cannot be read."""
    written = {row.key: row for row in rows if row.key}
    known = playbook.types.get(case.case_type)
    keys = dict.fromkeys([*(() if known is None else known.goals), *written])
    return tuple(
        _standing(
            reference=key or str(row.pk if row else ""),
            label=_label(playbook, key, row),
            key=key,
            row=row,
            shown=_shown(playbook=playbook, key=key, sheet=sheet, work=work),
            carried=_carrying(playbook, key, work),
        )
        for key, row in [
            *((key, written.get(key)) for key in keys),
            *(("", row) for row in rows if not row.key),
        ]
    )


def _standing(
    *,
    reference: str,
    label: str,
    key: str,
    row: Goal | None,
    shown: str,
    carried: Sequence[tuple[int, int]],
) -> GoalStanding:
    return GoalStanding(
        reference=reference,
        key=key,
        label=label,
        state=Goal.State.OPEN if row is None else Goal.State(row.state),
        by="" if row is None else row.settled_by or row.added_by,
        at=None if row is None else row.settled_at or row.added_at,
        reason="" if row is None else row.reason,
        shown=shown,
        carried_by=tuple(position for _, position in carried),
        version=carried[0][0] if carried else None,
    )


def _label(playbook: Playbook, key: str, row: Goal | None) -> str:
    if key in playbook.goals or row is None:
        return goal_label(playbook, key)
    return row.label


def _shown(*, playbook: Playbook, key: str, sheet: FactSheet | None, work: GoalWork) -> str:
    """Who achieved the goal; empty when neither the facts nor a newer effect of ours shows it."""
    spec = playbook.goals.get(key)
    if spec is None or sheet is None:
        return ""
    if _facts_show(spec, sheet):
        return said(lambda: spec.credit(sheet), otherwise="the facts show it")
    subject = sheet.reading(sheet.subject_type, sheet.subject_id)
    for adopted_at, name in work.adopted:
        is_newer = subject is None or subject.observed_at <= adopted_at
        if is_newer and action_spec(playbook, name).goal == key:
            return action_spec(playbook, name).adoption_label.lower()
    return ""


def _facts_show(spec: GoalSpec, sheet: FactSheet) -> bool:
    try:
        return spec.achieved(sheet)
    except UNSAYABLE:  # stored facts of a form this desk no longer knows show nothing
        return False


def _carrying(playbook: Playbook, key: str, work: GoalWork) -> list[tuple[int, int]]:
    if not key:
        return []
    return [
        (number, position)
        for number, position, name in work.actions
        if action_spec(playbook, name).goal == key
    ]


def goals_of(case: Case, sheet: FactSheet | None) -> tuple[GoalStanding, ...]:
    """The goals of one case on these facts; three queries."""
    return standings(
        case=case,
        playbook=playbook_for(case.kind),
        sheet=sheet,
        rows=list(case.goals.all()),
        work=_work_of([case.pk]).get(case.pk, GoalWork()),
    )


def open_goals(case: Case, sheet: FactSheet) -> list[str]:
    """Labels of the playbook's goals that the facts do not show and nobody settled; one query.

    Raises `InvalidInput` for a kind or type that is no longer run: nothing would show as open.
    """
    found = _on_facts_alone(case, sheet)
    return [goal.label for goal in found if not goal.is_own and not goal.is_settled]


def goal_credit(case: Case, sheet: FactSheet) -> str:
    """Who achieved the playbook's goals, as the facts tell it, or who settled them."""
    return "; ".join(
        goal.shown or f"“{goal.label}” was {goal.state.lower()} by {goal.by}: {goal.reason}"
        for goal in _on_facts_alone(case, sheet)
        if not goal.is_own
    )


def _on_facts_alone(case: Case, sheet: FactSheet) -> tuple[GoalStanding, ...]:
    """An effect of ours proves nothing to the agent: it reads the facts that it changed."""
    type_of(kind=case.kind, code=case.case_type)
    return standings(
        case=case,
        playbook=playbook_for(case.kind),
        sheet=sheet,
        rows=list(case.goals.all()),
        work=GoalWork(),
    )


def uncarried_goals(case_ids: Collection[int]) -> Mapping[int, tuple[str, ...]]:
    """Case to the labels of its open goals that no action of its current proposal carries.

    Cases without such a goal are left out. Five queries, whatever the number of cases.
    """
    cases = Case.objects.filter(pk__in=case_ids)
    rows: dict[int, list[Goal]] = defaultdict(list)
    for row in Goal.objects.filter(case__in=case_ids):
        rows[row.case_id].append(row)
    sources, works = sources_of_many(case_ids), _work_of(case_ids)
    found: dict[int, tuple[str, ...]] = {}
    for case in cases:
        playbook, states = playbook_for(case.kind), sources.get(case.pk, ())
        unreadable = any(state.is_unreadable for state in states)
        sheet = sheet_from(case=case, subject_type=playbook.subject_type, sources=states)
        labels = not_carried(
            standings(
                case=case,
                playbook=playbook,
                sheet=None if unreadable else sheet,
                rows=rows[case.pk],
                work=works.get(case.pk, GoalWork()),
            )
        )
        if labels:
            found[case.pk] = labels
    return found


def not_carried(goals: Iterable[GoalStanding]) -> tuple[str, ...]:
    """Labels of goals that are open and that nothing under way carries."""
    return tuple(goal.label for goal in goals if not goal.is_settled and not goal.is_carried)


def work_in(
    *, proposals: Iterable[Proposal], decisions: Iterable[Decision], effects: Iterable[Effect]
) -> GoalWork:
    """What is under way for the goals of one case that is loaded; see `_work_of`."""
    in_force = {
        made.proposal_id
        for made in decisions
        if made.kind == Decision.Kind.RELEASE and made.ended_at is None
    }
    carrying = [
        (proposal.number, action.position, action.action)
        for proposal in proposals
        if proposal.state == Proposal.State.READY or proposal.pk in in_force
        for action in proposal.actions.all()
    ]
    adopted = [
        (effect.adopted_at, effect.proposed_action.action)
        for effect in effects
        if effect.state == Effect.State.ADOPTED and effect.adopted_at is not None
    ]
    return GoalWork(actions=sorted(carrying, key=lambda action: action[1]), adopted=adopted)


def _work_of(case_ids: Collection[int]) -> Mapping[int, GoalWork]:
    """Case to what is under way for its goals; two queries.

    A proposal carries something while it is ready, or while its release is in force.
    """
    in_force = Decision.objects.filter(kind=Decision.Kind.RELEASE, ended_at=None)
    actions: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
    adopted: dict[int, list[tuple[datetime, str]]] = defaultdict(list)
    carrying: Any = (
        ProposedAction.objects.filter(proposal__case__in=case_ids)
        .filter(Q(proposal__state=Proposal.State.READY) | Q(proposal__decisions__in=in_force))
        .values_list("proposal__case_id", "proposal__number", "position", "action")
        .order_by("position")
    )
    for case_id, number, position, name in carrying:
        actions[case_id].append((number, position, name))
    taken_up: Any = Effect.objects.filter(
        decision__case__in=case_ids, state=Effect.State.ADOPTED
    ).values_list("decision__case_id", "adopted_at", "proposed_action__action")
    for case_id, adopted_at, name in taken_up:
        adopted[case_id].append((adopted_at, name))
    return {
        case_id: GoalWork(actions=actions[case_id], adopted=adopted[case_id])
        for case_id in {*actions, *adopted}
    }

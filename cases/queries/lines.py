"""What stands written on a case, and what was promised without anybody writing it down."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from cases.models import CaseLine, Effect
from cases.queries.catalogue import action_spec, playbook_for
from cases.queries.values import UNSAYABLE
from cases.vocabulary.playbook import Promised

ORDER = (
    CaseLine.Sort.DO_NOT,
    CaseLine.Sort.PROMISE,
    CaseLine.Sort.WAITING_ON,
    CaseLine.Sort.NEXT_STEP,
    CaseLine.Sort.IF_THEN,
    CaseLine.Sort.NOTE,
)
"""What must not be done comes first."""
DUE = {
    CaseLine.Sort.DO_NOT: "until",
    CaseLine.Sort.WAITING_ON: "ask again at",
    CaseLine.Sort.IF_THEN: "by",
}
"""How the time of a line reads; that of other sorts is when it is due."""
PARTY = {
    CaseLine.Sort.PROMISE: "to",
    CaseLine.Sort.WAITING_ON: "from",
}
"""How the party of a line reads beside its text."""


@dataclass(frozen=True, kw_only=True)
class LineView:
    """One line that stands; `due_at` is shown in `zone`. `is_over` says that its time has passed.

    A line that was to be done by then is overdue; one that forbids something until then has run
    out.
    """

    line_id: int
    sort: str
    label: str
    text: str
    party_word: str
    party: str
    due_word: str
    due_at: datetime | None
    zone: str
    is_over: bool
    is_overdue: bool
    by: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class PromiseView:
    """A promise that an effect of ours made: what, to whom, when it was sent, and until when.

    `word` says whether the other party has it. `is_over` says that the promised time has passed.
    """

    reference: str
    to: str
    what: str
    word: str
    sent_at: datetime
    until: datetime
    zone: str
    is_over: bool


def lines_in_order(lines: Iterable[CaseLine], *, at: datetime) -> tuple[LineView, ...]:
    """Lines that stand, in the order in which they are read, soonest due first."""
    found = [_view(line, at) for line in lines]
    order = {sort.value: place for place, sort in enumerate(ORDER)}
    found.sort(
        key=lambda line: (
            order[line.sort],
            line.due_at is None,
            line.due_at or line.at,
            line.line_id,
        )
    )
    return tuple(found)


def due_word_of(sort: CaseLine.Sort) -> str:
    """How the time of a line of that sort reads."""
    return DUE.get(sort, "due")


def _view(line: CaseLine, at: datetime) -> LineView:
    sort = CaseLine.Sort(line.sort)
    is_over = line.due_at is not None and line.due_at <= at
    return LineView(
        line_id=line.pk,
        sort=sort.value,
        label=str(sort.label),
        text=line.text,
        party_word=PARTY.get(sort, ""),
        party=line.party,
        due_word=due_word_of(sort),
        due_at=line.due_at,
        zone=line.due_zone,
        is_over=is_over,
        is_overdue=is_over and sort is not CaseLine.Sort.DO_NOT,
        by=line.written_by_name,
        at=line.written_at,
    )


def promises_made(
    case_ids: Collection[int], *, at: datetime
) -> Mapping[int, tuple[PromiseView, ...]]:
    """Case to what was promised on its behalf by effects that a read-back saw, oldest first.

    Nobody has to write such a promise down. Cases without one are left out; one query.
    """
    seen = Effect.objects.filter(decision__case__in=case_ids, confirmed_at__isnull=False)
    found: dict[int, list[Effect]] = defaultdict(list)
    for effect in seen.select_related("proposed_action", "decision__case"):
        found[effect.decision.case_id].append(effect)
    promised = {case_id: promises_by(effects, at=at) for case_id, effects in found.items()}
    return {case_id: promises for case_id, promises in promised.items() if promises}


def promises_by(effects: Iterable[Effect], *, at: datetime) -> tuple[PromiseView, ...]:
    """What these effects of one case promised once a read-back saw them, oldest first.

    Each effect knows its action, and through its decision the case.
    """
    found = [
        PromiseView(
            reference=effect.reference,
            to=promise.to,
            what=promise.what,
            word=_word(effect),
            sent_at=effect.confirmed_at,
            until=promise.until,
            zone=promise.zone,
            is_over=promise.until <= at,
        )
        for effect in sorted(effects, key=lambda effect: effect.pk)
        if effect.confirmed_at is not None and (promise := _promised_by(effect)) is not None
    ]
    return tuple(sorted(found, key=lambda promise: promise.sent_at))


def _promised_by(effect: Effect) -> Promised | None:
    planned, case = effect.proposed_action, effect.decision.case
    promises = action_spec(playbook_for(case.kind), planned.action).promises
    if promises is None:
        return None
    try:
        return promises(planned.parameters)
    except UNSAYABLE:  # parameters of a form this desk no longer knows
        return None


def _word(effect: Effect) -> str:
    if effect.adopted_at is None:
        return "sent, not yet delivered"
    return "delivered"

"""What a change of who is on duty would move, before it is made; and making it.

The change is really made, in a transaction that is rolled back, and the rules that keep every case
owned are asked before and after it. So a preview cannot differ from what happens.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.db.models.functions import Least

from cases.actions.change import busy_is_a_conflict
from cases.actions.lapses import Lapse, keep_owned, lapses, open_cases_of
from cases.models import Case, Desk, Proposal
from cases.queries.duty import Roster, roster_of
from cases.vocabulary.clocks import zone_named
from cases.vocabulary.digest import digest_of
from cases.vocabulary.errors import Conflict

type Alter = Callable[[], object]
type Outcomes = Mapping[datetime, Mapping[int, Lapse]]


@dataclass(frozen=True, kw_only=True)
class Moving:
    """A case that a change moves, or puts before somebody: whose it is, whose it becomes, why.

    `stays` says that its owner keeps it until `to` accepts it. `due` is the nearest deadline.
    """

    case_id: int
    subject: str
    title: str
    owner: str
    to: str
    why: str
    stays: bool
    due: datetime | None
    is_due_today: bool


@dataclass(frozen=True, kw_only=True)
class Consequence:
    """The cases of a desk that a change moves at one instant; those due first stand first."""

    desk: str
    zone: str
    at: datetime
    moving: tuple[Moving, ...]

    @property
    def due_today(self) -> int:
        """How many of them are due today."""
        return sum(row.is_due_today for row in self.moving)


def what_moves(
    alter: Alter, *, at: datetime, moments: Sequence[datetime], desk: Desk | None = None
) -> list[Consequence]:
    """What would move at each of the moments, as cases stand today; nothing is changed.

    Without a desk all desks are looked at. Raises whatever `alter` raises.
    """
    with transaction.atomic():
        found = _altered(alter, at=at, moments=moments, desk=desk)
        transaction.set_rollback(True)
    return found


def make_change(
    alter: Alter, *, seen: str, at: datetime, moments: Sequence[datetime], desk: Desk | None = None
) -> int:
    """Make the change and keep every case owned at once; says how many cases moved.

    `seen` is the digest of what was shown (`moves_digest`); raises `Conflict`, and changes nothing,
    when it moves anything else by now.
    """
    with busy_is_a_conflict("this"), transaction.atomic():
        if moves_digest(_altered(alter, at=at, moments=moments, desk=desk)) != seen:
            raise Conflict("What moves is no longer what you saw. Look again, then save.")
        return keep_owned()


def moves_digest(consequences: Sequence[Consequence]) -> str:
    """What was shown, short enough for a form: cases, to whom, and in which of the instants."""
    return digest_of(
        {
            f"{number} {row.case_id}": [row.to, row.stays]
            for number, found in enumerate(consequences)
            for row in found.moving
        }
    )


def _altered(
    alter: Alter, *, at: datetime, moments: Sequence[datetime], desk: Desk | None
) -> list[Consequence]:
    """Make the change, and tell how cases fare with it and how they did without."""
    desks = Desk.objects.all() if desk is None else Desk.objects.filter(pk=desk.pk)
    before = {known.pk: _outcomes(known, moments) for known in desks.order_by("id")}
    alter()
    after = {
        known.pk: (known, _outcomes(known, moments))
        for known in desks.select_related("lead", "manager").order_by("id")
    }
    return [
        Consequence(
            desk=known.name,
            zone=known.zone,
            at=moment,
            moving=_differing(known, before[known.pk][moment], found[moment], at),
        )
        for known, found in after.values()
        for moment in moments
    ]


def _outcomes(desk: Desk, moments: Sequence[datetime]) -> Outcomes:
    roster = roster_of(desk, since=min(moments))
    cases = list(_with_deadline(desk))
    return {moment: _outcome(roster, cases, moment) for moment in moments}


def _outcome(roster: Roster, cases: Sequence[Case], moment: datetime) -> Mapping[int, Lapse]:
    found = lapses(duty=roster.duty_at(moment), cases=cases)
    return {lapse.case.pk: lapse for lapse in found}


def _with_deadline(desk: Desk) -> Iterable[Case]:
    ready = Proposal.objects.filter(case=OuterRef("pk"), state=Proposal.State.READY)
    return open_cases_of(desk).annotate(
        due=Least("decide_by", Subquery(ready.values("valid_until")[:1]))
    )


def _differing(
    desk: Desk, before: Mapping[int, Lapse], after: Mapping[int, Lapse], at: datetime
) -> tuple[Moving, ...]:
    rows = [
        _moving(desk, lapse, at)
        for case_id, lapse in after.items()
        if case_id not in before or _fate(before[case_id]) != _fate(lapse)
    ]
    return tuple(sorted(rows, key=lambda row: (row.due is None, row.due or at, row.case_id)))


def _fate(lapse: Lapse) -> tuple[object, ...]:
    return lapse.moves, lapse.following, lapse.called


def _moving(desk: Desk, lapse: Lapse, at: datetime) -> Moving:
    due: datetime | None = lapse.case.due  # type: ignore[attr-defined]
    zone = zone_named(desk.zone)
    to, why = lapse.following, f"{lapse.why}; {lapse.following} is {lapse.following_why}."
    if to is None:
        to, why = lapse.called, f"{lapse.why}, and nobody of the chain is available."
    return Moving(
        case_id=lapse.case.pk,
        subject=lapse.case.subject,
        title=lapse.case.title,
        owner="" if lapse.owner is None else str(lapse.owner),
        to=str(to),
        why=why,
        stays=not lapse.moves,
        due=due,
        is_due_today=due is not None and due.astimezone(zone).date() <= at.astimezone(zone).date(),
    )

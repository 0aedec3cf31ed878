"""The queue: what each open case needs from a person, in a fixed number of queries.

Rows are ordered by deadline, then id, so that a page can continue exactly where the last one ended.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Case as When_
from django.db.models import F, OuterRef, Q, Subquery, When
from django.db.models.functions import Coalesce, Least

from cases.models import Case, Person, Proposal
from cases.models.case import CaseQuerySet
from cases.queries.acts import Act, View, condition_of, is_turn_of, open_with_act
from cases.queries.banner import is_on_hold, state_label
from cases.queries.catalogue import playbook_for, type_label
from cases.queries.escalations import EscalationView
from cases.queries.presence import Presence, owners_of
from cases.queries.proposal_view import few_words
from cases.queries.queue_parts import Parts, parts_of
from cases.queries.sources import SourceState
from cases.queries.values import money_text, zone_of_place
from cases.vocabulary.playbook import Playbook
from cases.vocabulary.stages import STAGES
from cases.vocabulary.work import SETTLE_WITHIN

PAGE = 100
AHEAD_OF_ALL = timedelta(days=36_500)
"""What was escalated stands before every other deadline, and by its own among its like."""

HEADINGS = {
    Act.REREVIEW: ("Review again", "Facts changed; a revised version waits for you."),
    Act.DECIDE: ("Decide", "A first version is ready."),
    Act.UNKNOWN: ("Outcome unknown", "An attempt may or may not have happened; it is looked up."),
    Act.UNADOPTED: ("Not taken up in time", "It was carried out; the agent keeps looking."),
    Act.BLOCKED: ("Blocked", "The agent cannot go on; each row says why. Nothing can be released."),
    Act.ESCALATED: ("Escalated", "No plan stands; a person decides what happens next."),
    Act.ACCEPT: ("Accept the outcome", "Everything released is done, or nothing is left to do."),
    Act.UNOWNED: (
        "Without an available owner",
        "The agent works on it, but nobody who is there answers for it.",
    ),
    Act.AGENT: ("With the agent", "Nothing to do for you; it comes back when it needs you."),
}


@dataclass(frozen=True, kw_only=True)
class Chip:
    """A version with the word for its state."""

    number: int
    state: str
    label: str


@dataclass(frozen=True, kw_only=True)
class QueueRow:
    """One open case; `due` is its nearest deadline, `due_word` what ends then."""

    case_id: int
    subject: str
    title: str
    type_label: str
    act: Act
    stage_label: str
    reason: str
    chips: tuple[Chip, ...]
    changes: tuple[str, ...]
    escalation: EscalationView | None
    owner: str
    is_mine: bool
    presence: Presence | None
    zone: str
    since: datetime
    does: str
    due: datetime | None
    due_word: str
    is_late: bool
    facts_at: datetime | None
    facts_word: str
    failed_at: datetime | None
    unknown_since: datetime | None
    changed_at: datetime


@dataclass(frozen=True, kw_only=True)
class Section:
    """Cases that wait for the same act, earliest deadline first."""

    act: Act
    heading: str
    meaning: str
    rows: tuple[QueueRow, ...]


@dataclass(frozen=True, kw_only=True)
class Queue:
    """What a view shows. `after` continues a long queue; `next_due` is the desk's nearest deadline.

    `newest_change` is what a page compares with to say that something changed since.
    """

    view: View
    at: datetime
    sections: tuple[Section, ...]
    count: int
    after: str
    next_due: QueueRow | None
    newest_change: datetime | None


def queue_of(
    *, view: View, person: Person, at: datetime, after: tuple[datetime, int] | None = None
) -> Queue:
    """The queue for a person; their own turn also shows what the agent does for them."""
    condition = condition_of(view, person=person)
    if view is View.MINE:
        condition |= Q(owner=person, act=Act.AGENT.value)
    found = _page(condition, after)
    cases = found[:PAGE]
    rows = _rows(cases, person=person, at=at)
    others = () if rows else _rows(_page(Q(), None)[:1], person=person, at=at)
    return Queue(
        view=view,
        at=at,
        sections=_sections(rows),
        count=sum(1 for row in rows if row.act is not Act.AGENT or view is not View.MINE),
        after=cursor_of(cases[-1]) if len(found) > PAGE else "",
        next_due=others[0] if others else None,
        newest_change=max((row.changed_at for row in rows), default=None),
    )


def cursor_of(case: Case) -> str:
    """Where a page ends: the deadline and id of its last case."""
    return f"{due_of(case).isoformat()},{case.pk}"


def due_of(case: Case) -> datetime:
    """The deadline the queue is ordered by, annotated as `due`."""
    due: datetime = case.due  # type: ignore[attr-defined]
    return due


def changed_since(*, person: Person, since: datetime) -> int:
    """How many cases of this person's turn changed after `since`; one query."""
    return open_with_act().filter(is_turn_of(person), changed_at__gt=since).count()


def _page(condition: Q, after: tuple[datetime, int] | None) -> list[Case]:
    found = by_deadline(condition)
    if after is not None:
        due, case_id = after
        found = found.filter(Q(due__gt=due) | Q(due=due, id__gt=case_id))
    return list(found[: PAGE + 1])


def by_deadline(condition: Q) -> CaseQuerySet:
    """Open cases that meet the condition, the most urgent first; each with `act` and `due`."""
    ready = Proposal.objects.filter(case=OuterRef("pk"), state=Proposal.State.READY)
    nearest = Coalesce(Least(F("decide_by"), F("valid_until")), F("next_try_at"), F("stage_since"))
    return (
        open_with_act()
        .filter(condition)
        .with_people()
        .annotate(valid_until=Subquery(ready.values("valid_until")[:1]))
        .annotate(
            due=When_(
                When(
                    is_overdue=True,
                    then=Coalesce(F("decide_by"), F("stage_since")) - AHEAD_OF_ALL,
                ),
                default=nearest,
            )
        )
        .order_by("due", "id")
    )


def _rows(cases: Sequence[Case], *, person: Person, at: datetime) -> tuple[QueueRow, ...]:
    parts = parts_of([case.pk for case in cases])
    there = owners_of(cases, at=at)
    return tuple(_row(case, parts[case.pk], there.get(case.pk), person, at) for case in cases)


def _row(
    case: Case, parts: Parts, presence: Presence | None, person: Person, at: datetime
) -> QueueRow:
    playbook, act = playbook_for(case.kind), Act(case.act)  # type: ignore[attr-defined]
    subject = parts.subject(playbook.subject_type)
    due, due_word = _deadline(case, act, parts.versions)
    return QueueRow(
        case_id=case.pk,
        subject=case.subject,
        title=case.title,
        type_label=type_label(playbook, case.case_type),
        act=act,
        stage_label=STAGES[case.current_stage].label,
        reason=case.blocked_reason or case.stage_reason,
        chips=tuple(_chip(case, version) for version in reversed(parts.versions)),
        changes=parts.changes,
        escalation=parts.escalation,
        owner="" if case.owner is None else str(case.owner),
        is_mine=case.owner_id == person.pk,
        presence=presence,
        zone=zone_of_place(
            playbook=playbook,
            fields={} if subject is None else subject.fields,
            otherwise=case.desk.zone,
        ),
        since=case.stage_since,
        does=_does(playbook, parts.versions),
        due=due,
        due_word=due_word,
        is_late=due is not None and due <= at,
        facts_at=None if subject is None else subject.observed_at,
        facts_word=_facts_word(parts, subject, at),
        failed_at=parts.failed_at,
        unknown_since=case.unknown_since,  # type: ignore[attr-defined]
        changed_at=case.changed_at,
    )


def _facts_word(parts: Parts, subject: SourceState | None, at: datetime) -> str:
    if parts.failed_at is not None:
        return "unreadable"
    return "" if subject is None else subject.word(at=at)


def _chip(case: Case, version: Mapping[str, Any]) -> Chip:
    state = version["state"]
    name = "on_hold" if is_on_hold(case, state) else state
    return Chip(number=version["number"], state=name, label=state_label(case, state).lower())


def _does(playbook: Playbook, versions: Sequence[Mapping[str, Any]]) -> str:
    """What releasing the newest version would do outside, while it can be decided on."""
    if not versions or versions[0]["state"] != Proposal.State.READY:
        return ""
    newest = versions[0]
    spent = newest["cost_minor"]
    cost = "" if spent is None else money_text(minor=spent, currency=newest["currency"])
    return few_words(playbook=playbook, names=newest["names"], cost=cost)


def _deadline(
    case: Case, act: Act, versions: Sequence[Mapping[str, Any]]
) -> tuple[datetime | None, str]:
    if act is Act.BLOCKED:
        return case.next_try_at, "next try"
    if act is Act.UNKNOWN:
        since: datetime | None = case.unknown_since  # type: ignore[attr-defined]
        return (None if since is None else since + SETTLE_WITHIN), "settle by"
    if act in {Act.REREVIEW, Act.DECIDE}:
        ready = [row["valid_until"] for row in versions if row["state"] == Proposal.State.READY]
        valid_until = ready[0] if ready else None
        if valid_until is not None and (case.decide_by is None or valid_until < case.decide_by):
            return valid_until, "valid until"
        return case.decide_by, "decide by"
    return None, ""


def _sections(rows: Sequence[QueueRow]) -> tuple[Section, ...]:
    sections = []
    for act in Act:
        members = tuple(row for row in rows if row.act is act)
        if members:
            heading, meaning = HEADINGS[act]
            sections.append(Section(act=act, heading=heading, meaning=meaning, rows=members))
    return tuple(sections)

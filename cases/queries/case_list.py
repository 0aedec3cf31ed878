"""Lists of cases outside the queue: the closed ones, and what a search finds; page by page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef, Q

from cases.models import Case, Effect
from cases.queries.catalogue import playbook_for, type_label
from cases.vocabulary.stages import STAGES, Stage
from cases.vocabulary.texts import plain_text

PAGE = 50


@dataclass(frozen=True, kw_only=True)
class ListedCase:
    """One case in a list; `zone` is its desk's. `reason` says why it stands where it does."""

    case_id: int
    subject: str
    title: str
    type_label: str
    stage_label: str
    is_closed: bool
    since: datetime
    closed_by: str
    reason: str
    owner: str
    zone: str


@dataclass(frozen=True, kw_only=True)
class CaseList:
    """A page of a list, newest first; `after` continues it, empty at the end."""

    rows: Sequence[ListedCase]
    after: str


def closed_cases(*, after: tuple[datetime, int] | None = None) -> CaseList:
    """Closed cases, the last closed first; `after` is where the page before ended."""
    found = Case.objects.filter(stage=Stage.CLOSED.value).with_people()
    if after is not None:
        closed_at, case_id = after
        found = found.filter(Q(closed_at__lt=closed_at) | Q(closed_at=closed_at, pk__lt=case_id))
    cases = list(found.order_by("-closed_at", "-id")[: PAGE + 1])
    shown = cases[:PAGE]
    rows = [_row(case) for case in shown]
    ends = f"{rows[-1].since.isoformat()},{rows[-1].case_id}" if len(cases) > PAGE else ""
    return CaseList(rows=rows, after=ends)


def search_cases(text: str, *, after: int | None = None) -> CaseList:
    """Open and closed cases by subject, title, reference or number, the newest case first.

    `after` is the number of the last case of the page before. Raises `InvalidInput` for text that
    cannot be kept, such as NUL.
    """
    words = plain_text(text).strip()
    if not words:
        return CaseList(rows=(), after="")
    found = Case.objects.filter(_matching(words)).with_people()
    if after is not None:
        found = found.filter(pk__lt=after)
    cases = list(found.order_by("-id")[: PAGE + 1])
    shown = cases[:PAGE]
    return CaseList(
        rows=[_row(case) for case in shown],
        after=str(shown[-1].pk) if len(cases) > PAGE else "",
    )


def _matching(words: str) -> Q:
    """A reference is ours (`WB-318-4-1`) or the target's own number of the record."""
    effects = Effect.objects.filter(decision__case=OuterRef("pk"))
    referred = effects.filter(Q(reference__iexact=words) | Q(target_record_id__iexact=words))
    matching = Q(subject__icontains=words) | Q(title__icontains=words) | Q(Exists(referred))
    if words.isdecimal():
        matching |= Q(pk=int(words))
    return matching


def _row(case: Case) -> ListedCase:
    stage = case.current_stage
    return ListedCase(
        case_id=case.pk,
        subject=case.subject,
        title=case.title,
        type_label=type_label(playbook_for(case.kind), case.case_type),
        stage_label=STAGES[stage].label,
        is_closed=stage is Stage.CLOSED,
        since=case.closed_at or case.stage_since,
        closed_by=case.closed_by,
        reason=case.blocked_reason or case.stage_reason,
        owner="" if case.owner is None else str(case.owner),
        zone=case.desk.zone,
    )

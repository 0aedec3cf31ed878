"""What someone typed and what has not counted: kept in their session, apart for every act."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import HttpRequest

from cases.queries.case_page import CasePage
from cases.web.forms import as_typed

LONGEST_DRAFT = 4000
FOR_WHAT = {
    "decide": "for a decision",
    "accept": "for accepting the outcome",
    "hand_back": "for handing the case back",
    "escalate": "for escalating the case",
    "plan": "for asking for another plan",
    "close": "for closing without action",
    "withdraw": "for withdrawing the release",
    "finding": "for recording what you found out",
    "trust": "for trusting a source again",
    "budget": "for raising the agent's budget",
    "handover": "for answering on the handover sheet",
    "handover_note": "for a note to the next shift",
    "goal": "for a new goal",
    "settle": "for settling a goal",
    "line": "for a line on the case",
}
"""The acts that take a reason, and how a kept text says which it was typed for."""


@dataclass(frozen=True, kw_only=True)
class KeptText:
    """A text whose form is not open now, so that it is shown by itself."""

    act: str
    for_what: str
    text: str


def _name(case_id: int, act: str) -> str:
    return f"draft-{case_id}-{act}"


def keep_draft(request: HttpRequest, *, case_id: int, act: str, reason: str) -> None:
    """Keep a typed reason; an empty one forgets."""
    if reason.strip():
        request.session[_name(case_id, act)] = as_typed(reason)[:LONGEST_DRAFT]
    else:
        forget_draft(request, case_id=case_id, act=act)


def drafts_of(request: HttpRequest, *, case_id: int) -> dict[str, str]:
    """Act to kept text, for every act; empty text where nothing is kept."""
    return {act: str(request.session.get(_name(case_id, act), "")) for act in FOR_WHAT}


def forget_draft(request: HttpRequest, *, case_id: int, act: str) -> None:
    """The reason was counted, or emptied."""
    request.session.pop(_name(case_id, act), None)


def without_a_form(*, page: CasePage, drafts: Mapping[str, str]) -> tuple[KeptText, ...]:
    """Kept texts that no form of the page would show."""
    controls = page.controls
    has_form = {
        "decide": page.panel.decision is None and page.proposal is not None,
        "accept": controls.offers_acceptance and not controls.accept,
        "hand_back": not controls.hand_back,
        "escalate": not controls.escalate,
        "plan": controls.offers_planning and not controls.plan,
        "close": not page.head.is_closed and not controls.close,
        "withdraw": controls.offers_withdrawal and not controls.withdraw,
        "finding": any(outcome.gave_up for outcome in page.outcomes) and not controls.finding,
        "trust": bool(page.went_back) and not controls.trust,
        "budget": not controls.budget,
        "handover": False,
        "handover_note": False,
        "goal": not page.notebook.against,
        "settle": not page.notebook.against,
        "line": not page.notebook.against,
    }
    if page.proposal is not None:
        has_form["decide"] = has_form["decide"] and page.proposal.is_ready
    return tuple(
        KeptText(act=act, for_what=FOR_WHAT[act], text=text)
        for act, text in drafts.items()
        if text and not has_form[act]
    )

"""Acts on a handover sheet and its rows; a refused one shows the sheet with what was typed."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse

from cases.actions import closing, sheets
from cases.actions.sheet_answers import GivenAnswer, answer_row
from cases.models import HandoverRow, RowAnswer
from cases.queries.handover import find_handover, find_row
from cases.queries.people import person_by_id
from cases.vocabulary.digest import short_code
from cases.vocabulary.errors import NotFound, WatchbillError
from cases.web.drafts import forget_draft, keep_draft
from cases.web.forms import NoteForm, RowForm
from cases.web.posts import posted_from
from cases.web.request import DeskRequest, moment_of
from cases.web.tokens import Shown, shown_by
from cases.web.views.handover import not_done, sheet_page

type SheetAct = Callable[[DeskRequest, int], str]
type RowAct = Callable[[DeskRequest, HandoverRow], str]

DRAFT_OF = {"answer": "handover", "note": "handover_note"}
"""The acts on a row with text, and under which name the text is kept."""
DONE = {
    RowAnswer.Kind.ACCEPT: "You own {subject} now.",
    RowAnswer.Kind.ASSIGN: "{to} owns {subject} now.",
    RowAnswer.Kind.ESCALATE: "{subject} is before the lead; it stays with its owner meanwhile.",
    RowAnswer.Kind.QUESTION: "Your question about {subject} is on the sheet.",
    RowAnswer.Kind.REFUSE: "You did not take {subject} over; it stays with its owner.",
}


def _on_sheet(act: SheetAct) -> Callable[[DeskRequest, int], HttpResponse]:
    """A view that does `act` on a sheet; a refusal shows the sheet and why."""
    name = act.__name__

    def view(request: DeskRequest, handover_id: int) -> HttpResponse:
        try:
            words = act(request, handover_id)
        except NotFound:
            raise
        except WatchbillError as error:
            refused = not_done(row_id=0, act=name, error=error)
            return sheet_page(request, find_handover(handover_id), refused=refused, error=error)
        messages.success(request, words)
        return redirect("sheet", handover_id=handover_id)

    view.__name__, view.__doc__ = name, act.__doc__
    return posted_from(_to_sheet)(view)


def _on_row(act: RowAct) -> Callable[[DeskRequest, int], HttpResponse]:
    """The same for one row; text that was typed is kept until it counts."""
    name = act.__name__

    def view(request: DeskRequest, row_id: int) -> HttpResponse:
        row, draft = find_row(row_id), DRAFT_OF.get(name, "")
        try:
            words = act(request, row)
        except WatchbillError as error:
            return _row_refused(request, row, name, error)
        if draft:
            forget_draft(request, case_id=row.case_id, act=draft)
        messages.success(request, words, extra_tags=f"{row.case_id}-{draft}" if draft else "")
        return _back_to(row)

    view.__name__, view.__doc__ = name, act.__doc__
    return posted_from(_to_row)(view)


def _row_refused(
    request: DeskRequest, row: HandoverRow, name: str, error: WatchbillError
) -> HttpResponse:
    if name in DRAFT_OF:
        reason = request.POST.get("reason", "")
        keep_draft(request, case_id=row.case_id, act=DRAFT_OF[name], reason=reason)
    refused = not_done(row_id=row.pk, act=name, error=error)
    return sheet_page(request, find_handover(row.handover_id), refused=refused, error=error)


def _to_sheet(request: DeskRequest, handover_id: int) -> HttpResponse:
    return redirect("sheet", handover_id=handover_id)


def _to_row(request: DeskRequest, row_id: int) -> HttpResponse:
    return _back_to(find_row(row_id))


def _back_to(row: HandoverRow) -> HttpResponseRedirect:
    address = reverse("sheet", kwargs={"handover_id": row.handover_id})
    return HttpResponseRedirect(f"{address}#row-{row.pk}")


@_on_sheet
def add(request: DeskRequest, handover_id: int) -> str:
    """Put cases on the sheet that were opened since."""
    number = sheets.add_missing_rows(
        handover_id=handover_id, by=request.user, at=moment_of(request)
    )
    return f"{number} more on the sheet."


@_on_sheet
def publish(request: DeskRequest, handover_id: int) -> str:
    """Hand the sheet over as it was shown."""
    sheets.publish(
        handover_id=handover_id,
        seen=_shown_sheet(request, handover_id).seen,
        by=request.user,
        at=moment_of(request),
    )
    return "The sheet is published. What changes from now on is marked in its row."


@_on_sheet
def sign(request: DeskRequest, handover_id: int) -> str:
    """Sign the sheet as it was shown."""
    digest = sheets.sign(
        handover_id=handover_id,
        seen=_shown_sheet(request, handover_id).seen,
        by=request.user,
        at=moment_of(request),
    )
    return f"Signed under code {short_code(digest)}. The sheet stays as it is now."


def _shown_sheet(request: DeskRequest, handover_id: int) -> Shown:
    """What the posted form says that the page showed of the sheet as a whole."""
    token = request.POST.get("shown", "")
    return shown_by(token, what=f"sheet {handover_id}", person_id=request.user.pk)


def _shown_row(request: DeskRequest, row: HandoverRow) -> Shown:
    """The same of one row."""
    token = request.POST.get("shown", "")
    return shown_by(token, what=f"row {row.pk}", person_id=request.user.pk)


@_on_row
def answer(request: DeskRequest, row: HandoverRow) -> str:
    """Accept, assign, escalate, ask or refuse."""
    form = RowForm(request.POST)
    values, shown = form.values(), _shown_row(request, row)
    kind, person = RowAnswer.Kind(values["kind"]), values["person"]
    to = person_by_id(person) if kind is RowAnswer.Kind.ASSIGN and person else None
    given = GivenAnswer(
        row_id=row.pk,
        kind=kind,
        seen=shown.seen,
        shown_at=shown.at,
        reason=values["reason"],
        to=to,
        as_blocked=values["as_blocked"],
        read_back=form.read_back(),
    )
    answer_row(given=given, by=request.user, at=moment_of(request))
    return DONE[kind].format(subject=row.case.subject, to=to)


@_on_row
def note(request: DeskRequest, row: HandoverRow) -> str:
    """Leave a note for the next shift."""
    values = NoteForm(request.POST).values()
    sheets.write_note(
        row_id=row.pk,
        text=values["reason"],
        seen=values["seen"],
        by=request.user,
        at=moment_of(request),
    )
    return f"Your note on {row.case.subject} is on the sheet."


@_on_row
def take(request: DeskRequest, row: HandoverRow) -> str:
    """Let the row refer to what holds now."""
    sheets.take_current(
        row_id=row.pk,
        seen=_shown_row(request, row).seen,
        by=request.user,
        at=moment_of(request),
    )
    return f"{row.case.subject} refers to the current proposal and facts now."


@_on_row
def read(request: DeskRequest, row: HandoverRow) -> str:
    """Have the case's sources read again now."""
    closing.refresh_now(case_id=row.case_id, by=request.user, at=moment_of(request))
    return f"The agent was asked to read the sources of {row.case.subject} again."

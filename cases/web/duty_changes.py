"""Every change of who is on duty goes the same way: what moves is shown first, then it is saved."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render

from cases.actions.house import keeping_refusals
from cases.actions.preview import make_change, moves_digest, what_moves
from cases.models import Desk
from cases.queries.values import counted
from cases.vocabulary.errors import WatchbillError
from cases.vocabulary.texts import reason_given
from cases.web.duty_forms import WhichTime
from cases.web.errors import status_of
from cases.web.forms import ReasonForm
from cases.web.request import DeskRequest, moment_of

NOT_REPEATED = {"csrfmiddlewaretoken", "reason", "seen", "save", "back"}
MISSING_REASON = "Say why; it is kept with the change."


@dataclass(frozen=True, kw_only=True)
class WantedChange:
    """A change as it was asked for: in words, how to make it with a reason, and when it shows.

    `desk` is None where it concerns every desk; `notes` say what else follows.
    """

    what: str
    alter: Callable[[str], object]
    moments: Sequence[datetime]
    desk: Desk | None
    notes: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """Why a form does not count. `field` and `choices` are given where a time occurs twice."""

    act: str
    sentence: str
    field: str = ""
    choices: Sequence[tuple[str, str]] = ()

    @classmethod
    def of(cls, act: str, error: WatchbillError) -> Self:
        """The mistake that a refusal tells of."""
        if isinstance(error, WhichTime):
            return cls(act=act, sentence=str(error), field=error.field, choices=error.choices)
        return cls(act=act, sentence=str(error))


type Read = Callable[[], WantedChange]
type Page = Callable[..., HttpResponse]


def look_then_save(
    request: DeskRequest, *, act: str, read: Read, page: Page
) -> HttpResponse | None:
    """Show what the posted change moves, or make it when it says so; None once it is made.

    `page` shows the form again, with what was typed, for `mistake=` or to change it.
    """
    if "back" in request.POST:
        return page(mistake=None)
    try:
        wanted = read()
        if "save" in request.POST:
            return _saved(request, wanted)
        with _refusals_kept(request, wanted):
            return _preview(request, wanted)
    except WatchbillError as error:
        return page(mistake=Mistake.of(act, error), status=status_of(error))


def _saved(request: DeskRequest, wanted: WantedChange) -> HttpResponse | None:
    """Make the change if it still moves what was shown, and if a reason is given."""
    typed = str(ReasonForm(request.POST).values()["reason"])
    try:
        reason = reason_given(typed, missing=MISSING_REASON)
        with _refusals_kept(request, wanted):
            moved = make_change(
                lambda: wanted.alter(reason),
                seen=request.POST.get("seen", ""),
                at=moment_of(request),
                moments=wanted.moments,
                desk=wanted.desk,
            )
    except WatchbillError as error:
        return _preview(request, wanted, mistake=str(error), status=status_of(error))
    messages.success(request, f"{wanted.what} {counted(moved, 'case')} moved now.")
    return None


def _refusals_kept(request: DeskRequest, wanted: WantedChange) -> AbstractContextManager[None]:
    """What is rolled back with a look, or with a change that is refused, is kept all the same."""
    act = f"change who is on duty: {wanted.what}"
    return keeping_refusals(by=request.user, at=moment_of(request), act=act)


def _preview(
    request: DeskRequest, wanted: WantedChange, *, mistake: str = "", status: int = 200
) -> HttpResponse:
    consequences = what_moves(
        lambda: wanted.alter(MISSING_REASON),
        at=moment_of(request),
        moments=wanted.moments,
        desk=wanted.desk,
    )
    context: dict[str, Any] = {
        "wanted": wanted,
        "consequences": [found for found in consequences if found.moving],
        "moments": wanted.moments,
        "seen": moves_digest(consequences),
        "mistake": mistake,
        "repeated": [
            (name, value)
            for name in request.POST
            if name not in NOT_REPEATED
            for value in request.POST.getlist(name)
        ],
        "reason": request.POST.get("reason", ""),
        "at": moment_of(request),
    }
    return render(request, "roster/preview.html", context, status=status)

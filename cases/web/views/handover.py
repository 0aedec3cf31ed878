"""The handover sheet: the current one, one of them, and the list."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from cases.actions.sheets import seen_of
from cases.models import Handover
from cases.queries.handover import find_handover, sheet_of
from cases.queries.handover_page import (
    controls_on,
    current_handover,
    handovers_of_the_desk,
    rows_changed_since,
)
from cases.queries.handover_shapes import Sheet
from cases.queries.handover_snapshot import changed_since_signing, is_intact, revived
from cases.vocabulary.clocks import instant_from
from cases.vocabulary.digest import digest_of, short_code
from cases.vocabulary.errors import InvalidInput, Overtaken, ReadBackDiffers, WatchbillError
from cases.web.drafts import drafts_of
from cases.web.errors import status_of
from cases.web.request import DeskRequest, moment_of
from cases.web.tokens import token_for


@dataclass(frozen=True, kw_only=True)
class NotDone:
    """What did not count on the sheet: in which row (0 for the sheet itself), and why.

    `differences` lists what the person saw, or what `saw` says they did, and what holds now.
    `is_mistake`: only what was typed has to be corrected.
    """

    row_id: int
    act: str
    sentence: str
    is_mistake: bool
    differences: tuple[tuple[str, str, str], ...]
    saw: str = ""


@require_GET
def current(request: DeskRequest) -> HttpResponse:
    """The newest sheet of the desk; without any, when the next one comes."""
    number = current_handover()
    if number is not None:
        return redirect("sheet", handover_id=number)
    return handovers(request)


@require_GET
@never_cache
def handovers(request: DeskRequest) -> HttpResponse:
    """Earlier sheets."""
    at = moment_of(request)
    context = {"list": handovers_of_the_desk(at=at), "at": at}
    return render(request, "handover/list.html", context)


@require_GET
@never_cache
def sheet(request: DeskRequest, handover_id: int) -> HttpResponse:
    """The sheet as it stands; a signed one as it was signed."""
    return sheet_page(request, find_handover(handover_id))


@require_GET
@never_cache
def hint(request: DeskRequest, handover_id: int) -> HttpResponse:
    """How many rows changed since the page was made; rows themselves stay where they are."""
    since = instant_from(request.GET.get("since", ""))
    context = {
        "changed": rows_changed_since(handover_id=handover_id, since=since),
        "since": since,
        "handover_id": handover_id,
        "at": moment_of(request),
    }
    return render(request, "handover/hint.html", context)


def not_done(*, row_id: int, act: str, error: WatchbillError) -> NotDone:
    """What a refusal says on the page."""
    return NotDone(
        row_id=row_id,
        act=act,
        sentence=str(error),
        is_mistake=isinstance(error, InvalidInput),
        differences=error.differences if isinstance(error, Overtaken) else (),
        saw="You read back" if isinstance(error, ReadBackDiffers) else "",
    )


def sheet_page(
    request: DeskRequest,
    handover: Handover,
    *,
    refused: NotDone | None = None,
    error: WatchbillError | None = None,
) -> HttpResponse:
    """The page; after a refusal with why, and with what was typed."""
    at = moment_of(request)
    live = sheet_of(handover=handover, at=at)
    is_signed = handover.signed_at is not None
    context: dict[str, Any] = {
        "handover": handover,
        "refused": refused,
        "typed": request.POST if refused is not None else {},
        **(_signed(handover, live) if is_signed else _open(request, handover, live, at)),
    }
    status = 200 if error is None else status_of(error)
    return render(request, "handover/sheet.html", context, status=status)


def _open(request: DeskRequest, handover: Handover, live: Sheet, at: datetime) -> dict[str, Any]:
    """What an unsigned sheet needs: its forms, each bound to what it shows."""
    person = request.user
    rows = [row for section in live.sections for row in section.rows]
    seen = seen_of(live)
    return {
        "sheet": live,
        "at": at,
        "controls": controls_on(handover=handover, sheet=live, person=person, at=at),
        "tokens": {
            row.row_id: token_for(
                what=f"row {row.row_id}", person_id=person.pk, at=at, seen=row.seen
            )
            for row in rows
        },
        "sign_token": token_for(what=f"sheet {handover.pk}", person_id=person.pk, at=at, seen=seen),
        "drafts": {row.row_id: drafts_of(request, case_id=row.case_id) for row in rows},
        "changed": {},
        "code": short_code(digest_of(seen)),
    }


def _signed(handover: Handover, live: Sheet) -> dict[str, Any]:
    """What a signed sheet says beside itself: whether it is intact, and what changed since."""
    kept = revived(handover.snapshot)
    return {
        "sheet": kept,
        "at": kept["at"],  # ages and dates read as they did when it was signed
        "is_intact": is_intact(handover),
        "changed": changed_since_signing(handover=handover, now=live),
        "code": short_code(handover.digest),
    }

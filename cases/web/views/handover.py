"""The handover sheet: the current one, one of them, and the list."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from cases.models import Handover
from cases.queries.duty import Roster, starts_of
from cases.queries.handover import find_handover, present_handover, roster_for, sheet_of
from cases.queries.handover_following import FollowingSheet, following_sheet
from cases.queries.handover_page import (
    SheetControls,
    controls_on,
    handovers_of,
    rows_changed_since,
)
from cases.queries.handover_seen import seen_of
from cases.queries.handover_shapes import Sheet
from cases.queries.handover_snapshot import changed_since_signing, is_intact, revived
from cases.vocabulary.clocks import instant_from
from cases.vocabulary.digest import digest_of, short_code
from cases.vocabulary.errors import (
    InvalidInput,
    Overtaken,
    ReadBackDiffers,
    SheetOvertaken,
    WatchbillError,
)
from cases.web.drafts import drafts_of
from cases.web.errors import status_of
from cases.web.request import DeskRequest, desk_in, moment_of
from cases.web.tokens import token_for


@dataclass(frozen=True, kw_only=True)
class NotDone:
    """What did not count on the sheet: in which row (0 for the sheet itself), and why.

    `differences` lists what the person saw, or what `saw` says they did, and what holds now.
    `is_mistake`: only what was typed has to be corrected. `present` is the desk's newer sheet.
    """

    row_id: int
    act: str
    sentence: str
    is_mistake: bool
    differences: tuple[tuple[str, str, str], ...]
    saw: str = ""
    present: int | None = None


@require_safe
def current(request: DeskRequest) -> HttpResponse:
    """The newest sheet of the desk; without any, when the next one comes."""
    present = present_handover(desk_in(request).pk)
    if present is not None:
        return redirect("sheet", handover_id=present.pk)
    return handovers(request)


@require_safe
@never_cache
def handovers(request: DeskRequest) -> HttpResponse:
    """Earlier sheets."""
    at = moment_of(request)
    context = {"list": handovers_of(desk_in(request), at=at), "at": at}
    return render(request, "handover/list.html", context)


@require_safe
@never_cache
def sheet(request: DeskRequest, handover_id: int) -> HttpResponse:
    """The sheet as it stands; a signed one as it was signed."""
    return sheet_page(request, find_handover(handover_id))


@require_safe
@never_cache
def hint(request: DeskRequest, handover_id: int) -> HttpResponse:
    """How many rows changed since the page was made; rows themselves stay where they are."""
    since, at = instant_from(request.GET.get("since", "")), moment_of(request)
    handover = find_handover(handover_id)
    context = {
        "changed": rows_changed_since(handover_id=handover_id, since=since),
        "following": following_sheet(handover=handover, starts=starts_of(handover.desk), at=at),
        "zone": handover.desk.zone,
        "since": since,
        "handover_id": handover_id,
        "at": at,
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
        present=error.present if isinstance(error, SheetOvertaken) else None,
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
    roster = roster_for(handover, at=at)
    live = sheet_of(handover=handover, at=at, roster=roster)
    following = following_sheet(handover=handover, starts=roster.starts, at=at)
    is_signed = handover.signed_at is not None
    context: dict[str, Any] = {
        "handover": handover,
        "following": following,
        "refused": refused,
        "typed": request.POST if refused is not None else {},
        **(_signed(handover, live) if is_signed else _open(request, handover, live)),
    }
    if not is_signed:
        context["controls"] = _controls(request, handover, live, roster, following)
    status = 200 if error is None else status_of(error)
    return render(request, "handover/sheet.html", context, status=status)


def _controls(
    request: DeskRequest,
    handover: Handover,
    live: Sheet,
    roster: Roster,
    following: FollowingSheet | None,
) -> SheetControls:
    present = None if following is None else following.handover_id
    return controls_on(
        handover=handover, sheet=live, person=request.user, roster=roster, present=present
    )


def _open(request: DeskRequest, handover: Handover, live: Sheet) -> dict[str, Any]:
    """What an unsigned sheet needs: its forms, each bound to what it shows."""
    person, at, seen = request.user, live.at, seen_of(live)
    return {
        "sheet": live,
        "at": at,
        "tokens": {
            row.row_id: token_for(
                what=f"row {row.row_id}", person_id=person.pk, at=at, seen=row.seen
            )
            for row in live.rows
        },
        "sheet_token": token_for(
            what=f"sheet {handover.pk}", person_id=person.pk, at=at, seen=seen
        ),
        "drafts": {row.row_id: drafts_of(request, case_id=row.case_id) for row in live.rows},
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

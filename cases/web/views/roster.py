"""The roster: who stands which watch, leave, and the shifts of the desk."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from cases.actions import roster as actions
from cases.models import Desk, Leave, Person, ShiftPattern
from cases.queries.desks import desk_of
from cases.queries.duty import starts_of
from cases.queries.people import person_by_id
from cases.queries.roster_page import ShiftLine, days_text, roster_page
from cases.vocabulary.clocks import local_text
from cases.vocabulary.errors import NotFound
from cases.vocabulary.rosters import Position
from cases.vocabulary.shifts import EVERY_DAY, Shift, shift_at, shifts_between
from cases.web.duty_changes import Mistake, Read, WantedChange, look_then_save
from cases.web.duty_forms import (
    LeaveForm,
    SwapForm,
    WatchForm,
    moment_in,
    starts_in,
    typed_lines,
)
from cases.web.posts import posted_from
from cases.web.request import DeskRequest, desk_in, moment_of

EMPTY_LINE = ShiftLine(name="", starts_at="", days=(), overlap_minutes="0")
LOOKED_AHEAD = timedelta(days=10)
SOONEST = timedelta(hours=14)
"""No zone is further from UTC."""


@require_safe
@never_cache
def roster(request: DeskRequest) -> HttpResponse:
    """Who stands where in the next 14 days."""
    return _page(request, desk_in(request))


def _page(
    request: DeskRequest,
    desk: Desk,
    *,
    act: str = "",
    mistake: Mistake | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page; `act` is the form that is shown again with what was typed into it."""
    page = roster_page(desk=desk, person=request.user, at=moment_of(request))
    context = {
        "page": page,
        "at": page.at,
        "act": act,
        "mistake": mistake,
        "typed": request.POST if act else {},
        "typed_days": request.POST.getlist("days"),
        "lines": [*(typed_lines(request.POST) if act == "shifts" else page.shifts), EMPTY_LINE],
    }
    return render(request, "roster/roster.html", context, status=status)


def _to_roster(request: DeskRequest, desk_id: int, **_: int) -> HttpResponse:
    return redirect(f"{reverse('roster')}?desk={desk_id}")


def _changed(request: DeskRequest, desk: Desk, act: str, read: Read) -> HttpResponse:
    def page(**more: Any) -> HttpResponse:
        return _page(request, desk, act=act, **more)

    answer = look_then_save(request, act=act, read=read, page=page)
    return _to_roster(request, desk.pk) if answer is None else answer


@posted_from(_to_roster)
def watch(request: DeskRequest, desk_id: int) -> HttpResponse:
    """Put somebody on watch until further notice or a last day."""
    desk, at = desk_of(desk_id), moment_of(request)

    def read() -> WantedChange:
        values = WatchForm(request.POST).values()
        return _watch_change(request, desk, at, values)

    return _changed(request, desk, "watch", read)


@posted_from(_to_roster)
def swap(request: DeskRequest, desk_id: int) -> HttpResponse:
    """Put somebody on watch for one day."""
    desk, at = desk_of(desk_id), moment_of(request)

    def read() -> WantedChange:
        values = SwapForm(request.POST).values()
        day = values.pop("day")
        return _watch_change(request, desk, at, values | {"first_day": day, "last_day": day})

    return _changed(request, desk, "swap", read)


def _watch_change(
    request: DeskRequest, desk: Desk, at: datetime, values: dict[str, Any]
) -> WantedChange:
    shift = ShiftPattern.objects.filter(desk=desk, pk=values["shift"]).first()
    if shift is None:
        raise NotFound("There is no such shift at this desk.")
    new = actions.NewWatch(
        shift_id=shift.pk,
        position=Position(values["position"]),
        person=None if values["person"] is None else person_by_id(values["person"]),
        first_day=values["first_day"],
        last_day=values["last_day"],
        days=frozenset(int(day) for day in values.get("days", ())) or EVERY_DAY,
    )

    def alter(reason: str) -> None:
        actions.put_on_watch(wanted=replace(new, reason=reason), by=request.user, at=at)

    when = days_text(sorted(new.days), first=new.first_day, last=new.last_day)
    return WantedChange(
        what=f"{new.person or 'Nobody'} is {new.position.value} of {shift}, {when}.",
        alter=alter,
        moments=_moments(at, _first_change(desk, shift.name, at, new)),
        desk=desk,
    )


def _first_change(desk: Desk, shift: str, at: datetime, new: actions.NewWatch) -> datetime | None:
    """When the crew first differs: once the shift before has left, if the entry covers a shift."""
    midnight = datetime.combine(new.first_day, time(), tzinfo=UTC)
    start = max(at, midnight - SOONEST)
    around = shifts_between(
        start=start, end=start + LOOKED_AHEAD, zone=desk.zone, starts=starts_of(desk)
    )
    first = next((found for found in around if _covers(found, shift, new)), None)
    return None if first is None else max(at, first.overlap_until)


def _covers(found: Shift, shift: str, new: actions.NewWatch) -> bool:
    is_within = new.first_day <= found.day and (new.last_day is None or found.day <= new.last_day)
    return found.name == shift and is_within and found.day.weekday() in new.days


def _moments(at: datetime, later: datetime | None) -> list[datetime]:
    """Now, and when the change first shows."""
    return [at] if later is None or later <= at else [at, later]


@posted_from(_to_roster)
def leave(request: DeskRequest, desk_id: int) -> HttpResponse:
    """Somebody is away."""
    desk = desk_of(desk_id)

    def read() -> WantedChange:
        person = person_by_id(LeaveForm(request.POST).values()["person"])
        starts_at = moment_in(request.POST, "from", zone=desk.zone)
        ends_at = moment_in(request.POST, "until", zone=desk.zone)
        return _leave_change(request, desk, person, (starts_at, ends_at))

    return _changed(request, desk, "leave", read)


def _leave_change(
    request: DeskRequest, desk: Desk, person: Person, times: tuple[datetime, datetime]
) -> WantedChange:
    at, (starts_at, ends_at) = moment_of(request), times

    def alter(reason: str) -> None:
        actions.set_leave(
            person=person,
            starts_at=starts_at,
            ends_at=ends_at,
            reason=reason,
            by=request.user,
            at=at,
        )

    first, last = (local_text(moment, zone=desk.zone) for moment in times)
    return WantedChange(
        what=f"{person} is on leave from {first} until {last}.",
        alter=alter,
        moments=_moments(at, starts_at),
        desk=None,
    )


@posted_from(_to_roster)
def cancel_leave(request: DeskRequest, desk_id: int, leave_id: int) -> HttpResponse:
    """Somebody is there after all."""
    desk, at = desk_of(desk_id), moment_of(request)

    def read() -> WantedChange:
        found = Leave.objects.select_related("person").filter(pk=leave_id).first()
        if found is None:
            raise NotFound("There is no such leave.")
        first = local_text(found.starts_at, zone=desk.zone)
        return WantedChange(
            what=f"The leave of {found.person} from {first} is cancelled.",
            alter=lambda reason: actions.cancel_leave(
                leave_id=leave_id, by=request.user, at=at, reason=reason
            ),
            moments=_moments(at, found.starts_at),
            desk=None,
        )

    return _changed(request, desk, "cancel", read)


@posted_from(_to_roster)
def shifts(request: DeskRequest, desk_id: int) -> HttpResponse:
    """When the shifts of the desk start."""
    desk, at = desk_of(desk_id), moment_of(request)

    def read() -> WantedChange:
        starts = starts_in(request.POST)
        named = ", ".join(f"{start.name} {start.at:%H:%M}" for start in starts)

        def alter(reason: str) -> None:
            actions.set_shifts(desk=desk, starts=starts, by=request.user, at=at, reason=reason)

        return WantedChange(
            what=f"The shifts of {desk} start: {named}.",
            alter=alter,
            moments=_moments(at, _next_start(desk, at)),
            desk=desk,
        )

    return _changed(request, desk, "shifts", read)


def _next_start(desk: Desk, at: datetime) -> datetime:
    current = shift_at(at, zone=desk.zone, starts=starts_of(desk))
    return shift_at(current.ends_at, zone=desk.zone, starts=starts_of(desk)).overlap_until

"""Ownership: who is asked first for which cases, who leads the desk, and who would own it."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from cases.actions import roster as actions
from cases.models import Desk
from cases.queries.desks import desk_of
from cases.queries.ownership_page import WouldOwn, ownership_page, scope_choices, would_own
from cases.queries.people import person_by_id
from cases.vocabulary.errors import InvalidInput
from cases.web.duty_changes import Mistake, Read, WantedChange, look_then_save
from cases.web.duty_forms import LeadsForm, ScopeForm, asked_in, moment_in
from cases.web.errors import status_of
from cases.web.posts import posted_from
from cases.web.request import DeskRequest, desk_in, moment_of


@require_safe
@never_cache
def ownership(request: DeskRequest) -> HttpResponse:
    """The rules, and an answer to "who would own it?" where that is asked."""
    desk = desk_in(request)
    if "scope" not in request.GET:
        return _page(request, desk)
    try:
        answer = _would_own(request, desk)
    except InvalidInput as error:
        mistake = Mistake.of("ask", error)
        return _page(request, desk, act="ask", mistake=mistake, status=status_of(error))
    return _page(request, desk, act="ask", answer=answer)


def _would_own(request: DeskRequest, desk: Desk) -> WouldOwn:
    scope = request.GET["scope"]
    if scope not in {choice.value for choice in scope_choices()}:
        raise InvalidInput("Choose a kind or type from the list.")
    moment = moment_of(request)
    if request.GET.get("time"):
        moment = moment_in(request.GET, "time", zone=desk.zone)
    return would_own(desk=desk, scope=scope, at=moment)


def _page(request: DeskRequest, desk: Desk, *, status: int = 200, **more: Any) -> HttpResponse:
    page = ownership_page(desk=desk, person=request.user, at=moment_of(request))
    context = {"page": page, "typed": request.POST or request.GET, "at": page.at, **more}
    return render(request, "ownership/ownership.html", context, status=status)


def _to_ownership(request: DeskRequest, desk_id: int) -> HttpResponse:
    return redirect(f"{reverse('ownership')}?desk={desk_id}")


def _changed(request: DeskRequest, desk: Desk, act: str, read: Read) -> HttpResponse:
    def page(**more: Any) -> HttpResponse:
        return _page(request, desk, act=act, **more)

    answer = look_then_save(request, act=act, read=read, page=page)
    return _to_ownership(request, desk.pk) if answer is None else answer


@posted_from(_to_ownership)
def rule(request: DeskRequest, desk_id: int) -> HttpResponse:
    """Who is asked first for cases of a kind or type."""
    desk = desk_of(desk_id)
    return _changed(request, desk, "rule", lambda: _rule_change(request, desk))


def _rule_change(request: DeskRequest, desk: Desk) -> WantedChange:
    values, at = ScopeForm(request.POST).values(), moment_of(request)
    kind, _, case_type = values["scope"].partition(":")
    position, person = asked_in(values["asked"])
    new = actions.NewRule(kind=kind, case_type=case_type, position=position, person=person)
    labels = {choice.value: choice.label for choice in scope_choices()}
    asked = f"the {position.value} of the shift" if position else person

    def alter(reason: str) -> None:
        actions.set_ownership_rule(desk=desk, wanted=new, by=request.user, at=at, reason=reason)

    says = f"{asked} is asked first" if asked else "no rule of its own any more"
    return WantedChange(
        what=f"{labels.get(values['scope'], 'Cases')}: {says}.",
        alter=alter,
        moments=[at],
        desk=desk,
    )


@posted_from(_to_ownership)
def leads(request: DeskRequest, desk_id: int) -> HttpResponse:
    """Who leads the desk, and who is called when the lead does not come."""
    desk = desk_of(desk_id)
    return _changed(request, desk, "leads", lambda: _leads_change(request, desk))


def _leads_change(request: DeskRequest, desk: Desk) -> WantedChange:
    values, at = LeadsForm(request.POST).values(), moment_of(request)
    lead = person_by_id(values["lead"])
    manager = None if values["manager"] is None else person_by_id(values["manager"])

    def alter(reason: str) -> None:
        actions.set_desk_leads(
            desk=desk, lead=lead, manager=manager, by=request.user, at=at, reason=reason
        )

    return WantedChange(
        what=f"{lead} leads {desk}; {manager or 'nobody'} is its manager.",
        alter=alter,
        moments=[at],
        desk=desk,
    )

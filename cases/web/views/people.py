"""People: their roles, and whether they work here. Admins only."""

from functools import partial
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from cases import policies
from cases.actions.people import set_person
from cases.models import Person, Role
from cases.queries.people import person_by_id, places_at_desks
from cases.queries.people_page import follows_for, people_page
from cases.vocabulary.errors import NotFound
from cases.web.duty_changes import WantedChange, look_then_save
from cases.web.duty_forms import PersonForm
from cases.web.posts import posted_from
from cases.web.request import DeskRequest, moment_of


@require_safe
@never_cache
def people(request: DeskRequest) -> HttpResponse:
    """Everybody who works here or did."""
    return _page(request)


def _page(request: DeskRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    policies.check_may_set_people(person=request.user)
    page = people_page(at=moment_of(request))
    context = {"page": page, "typed": request.POST, "at": page.at, **more}
    return render(request, "people/people.html", context, status=status)


@posted_from(lambda request, person_id: redirect("people"))
def person(request: DeskRequest, person_id: int) -> HttpResponse:
    """Change a person's role, deactivate them, or take them back."""

    def page(**more: Any) -> HttpResponse:
        return _page(request, changed=person_id, **more)

    answer = look_then_save(
        request, act="person", read=lambda: _read(request, person_id), page=page
    )
    return redirect("people") if answer is None else answer


def _read(request: DeskRequest, person_id: int) -> WantedChange:
    known = Person.objects.filter(pk=person_id).first()
    if known is None:
        raise NotFound("There is no such person.")
    values, at = PersonForm(request.POST).values(), moment_of(request)
    role, is_active = Role(values["role"]), bool(values["is_active"])
    successor = None if values["successor"] is None else person_by_id(values["successor"])
    alter = partial(
        set_person,
        person=known,
        role=role,
        is_active=is_active,
        successor=successor,
        by=request.user,
        at=at,
    )
    word = f"has the role {role.label.lower()}" if is_active else "is not active"
    return WantedChange(
        what=f"{known} {word}.{_follows(known, successor)}",
        alter=lambda reason: alter(reason=reason),
        moments=[at],
        desk=None,
        notes=follows_for(person=known, role=role, is_active=is_active, at=at),
    )


def _follows(person: Person, successor: Person | None) -> str:
    """What the successor is from then on, as one more sentence; empty without one."""
    places = " and ".join(places_at_desks().get(person.pk, ()))
    return f" {successor} is {places}." if successor and places else ""

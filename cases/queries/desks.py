"""Which desk a page shows."""

from datetime import datetime, timedelta

from django.db.models import Case, Exists, OuterRef, Q, QuerySet, When

from cases.models import Desk, Person, RosterEntry
from cases.queries.roster_page import Choice
from cases.vocabulary.errors import NotFound

A_DAY = timedelta(days=1)
"""No zone's date lags further behind that of UTC."""


def desk_choices() -> list[Choice]:
    """Every desk."""
    return [Choice(value=str(desk.pk), label=desk.name) for desk in Desk.objects.order_by("id")]


def desk_of(desk_id: int) -> Desk:
    """The desk with its lead and manager; raises `NotFound`."""
    desk = Desk.objects.select_related("lead", "manager").filter(pk=desk_id).first()
    if desk is None:
        raise NotFound("There is no such desk.")
    return desk


def desk_for(*, desk_id: int | None, person: Person, at: datetime) -> Desk:
    """The desk that was asked for; else the first that is the person's own, else the first of all.

    Raises `NotFound`.
    """
    if desk_id is not None:
        return desk_of(desk_id)
    desk = desks_of(person, at=at).select_related("lead", "manager").first()
    if desk is None:
        raise NotFound("There is no desk yet.")
    return desk


def desks_of(person: Person, *, at: datetime) -> QuerySet[Desk]:
    """Every desk, the person's own first: those that they lead, manage, or are on the roster of."""
    entries = RosterEntry.objects.filter(shift__desk=OuterRef("pk"), person=person)
    standing = entries.exclude(last_day__lt=(at - A_DAY).date())
    own = Q(lead=person) | Q(manager=person) | Q(Exists(standing))
    return Desk.objects.order_by(Case(When(own, then=0), default=1), "id")

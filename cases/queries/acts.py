"""What an open case needs from a person, decided in one SQL expression for queue and counts."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Case as When_
from django.db.models import (
    CharField,
    Count,
    Exists,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)

from cases.models import Case, Effect, Escalation, Person, Proposal, Role
from cases.models.case import CaseQuerySet, open_cases
from cases.models.escalation import ABOUT_THE_OWNER
from cases.vocabulary.stages import Stage


class Act(StrEnum):
    """The act a case waits for; queue sections stand in this order."""

    REREVIEW = "rereview"
    DECIDE = "decide"
    UNKNOWN = "unknown"
    UNADOPTED = "unadopted"
    BLOCKED = "blocked"
    ESCALATED = "escalated"
    ACCEPT = "accept"
    UNOWNED = "unowned"
    AGENT = "agent"


class View(StrEnum):
    """A way to look at the queue; its value is what stands in the address."""

    MINE = "mine"
    STALE = "stale"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"
    UNOWNED = "unowned"
    ALL = "all"


ACT_OF_STAGE = {
    Stage.WAITING_FOR_REVIEW: Act.DECIDE,
    Stage.RECONCILING: Act.UNKNOWN,
    Stage.BLOCKED: Act.BLOCKED,
    Stage.ESCALATED: Act.ESCALATED,
    Stage.WAITING_FOR_ACCEPTANCE: Act.ACCEPT,
}


def _running(**condition: Any) -> QuerySet[Escalation]:
    return Escalation.objects.filter(case=OuterRef("pk"), ended_at=None, **condition)


def open_with_act() -> CaseQuerySet:
    """Open cases, each with `act`: the value of the `Act` it waits for.

    `unknown_since` is since when the outcome of an attempt is unknown, None when none is;
    `escalated_to` are the people before whom the case was put; `is_overdue` says that this was for
    more than the end of its owner's shift, `lacks_owner` that nobody who is there answers for it.
    """
    changed = Proposal.objects.filter(case=OuterRef("pk"), state=Proposal.State.READY).exclude(
        changes=[]
    )
    whens = [
        When(Q(stage=Stage.WAITING_FOR_REVIEW.value) & Exists(changed), then=_act(Act.REREVIEW))
    ]
    unadopted = _running(cause=Escalation.Cause.NOT_ADOPTED)
    whens.append(When(Q(stage=Stage.VERIFYING.value) & Exists(unadopted), then=_act(Act.UNADOPTED)))
    whens += [When(stage=stage.value, then=_act(act)) for stage, act in ACT_OF_STAGE.items()]
    whens.append(When(lacks_owner=True, then=_act(Act.UNOWNED)))
    unknown = Effect.objects.filter(
        decision__case=OuterRef("pk"), state=Effect.State.UNKNOWN
    ).order_by("state_since")
    overdue = _running().exclude(cause=Escalation.Cause.OFF_SHIFT)
    away = _running(cause__in=ABOUT_THE_OWNER)
    owned = open_cases(Case.objects.all()).annotate(lacks_owner=Q(owner=None) | Exists(away))
    return owned.annotate(
        act=When_(*whens, default=_act(Act.AGENT), output_field=CharField()),
        unknown_since=Subquery(unknown.values("state_since")[:1]),
        escalated_to=ArraySubquery(_running().values("to")),
        is_overdue=Exists(overdue),
    )


def _act(act: Act) -> Value:
    return Value(act.value)


def is_turn_of(person: Person) -> Q:
    """Cases that wait for this person: their own, those without an owner, those put before them.

    Leads also see what no plan stands for, and what only a raised budget moves on; admins and
    auditors never have a turn.
    """
    if person.role not in {Role.OPERATOR, Role.LEAD}:
        return Q(pk=None)
    theirs = Q(owner=person) | Q(owner=None) | Q(escalated_to__contains=[person.pk])
    if person.role == Role.LEAD:
        theirs |= Q(act=Act.ESCALATED.value)
        theirs |= Q(act=Act.BLOCKED.value, next_try_at=None)
    return theirs & ~Q(act=Act.AGENT.value)


def condition_of(view: View, *, person: Person) -> Q:
    """Which open cases a view shows."""
    return {
        View.MINE: is_turn_of(person),
        View.STALE: Q(act=Act.REREVIEW.value),
        View.BLOCKED: Q(act=Act.BLOCKED.value),
        View.UNKNOWN: Q(act=Act.UNKNOWN.value) | Q(unknown_since__isnull=False),
        View.UNOWNED: Q(lacks_owner=True),
        View.ALL: Q(),
    }[view]


def counts_for(person: Person) -> Mapping[View, int]:
    """How many open cases each view holds; one query."""
    counts = open_with_act().aggregate(
        **{
            view.value: Count("pk", filter=condition_of(view, person=person))
            if view is not View.ALL
            else Count("pk")
            for view in View
        }
    )
    return {view: counts[view.value] for view in View}


def usual_view(person: Person) -> View:
    """What a person sees first: their turn, or everything when they never have one."""
    return View.MINE if person.role in {Role.OPERATOR, Role.LEAD} else View.ALL

"""Pausing and resuming the agents: named people only, with a reason, audited in one transaction.

A pause destroys nothing: work stays due, decisions are remembered. It is asked in the claim and
again right before each external call; when it cannot be read, nothing is called.
"""

from datetime import datetime

from django.db.models import Q

from cases import audit, policies
from cases.actions.change import actor_for
from cases.actions.house import in_house
from cases.models import AgentIdentity, Pause, Person
from cases.vocabulary.actors import Actor
from cases.vocabulary.errors import Conflict, InvalidInput, NotFound
from cases.vocabulary.lanes import Lane
from cases.vocabulary.playbooks import playbook_of
from cases.vocabulary.texts import reason_given

REFUSED = "pause_refused"


def set_pause(
    *, lane: str, kind: str, agent: str, reason: str, by: Person | AgentIdentity, at: datetime
) -> Pause:
    """Pause a lane, a kind, an agent, any mixture, or everything (all three empty).

    Raises `Refused` for people who may not and for every agent, `InvalidInput` for unknown scopes
    or no reason, and `Conflict` when that very scope is paused already.
    """
    with in_house(by=by, at=at, act="pause", refused_as=REFUSED) as moment:
        policies.check_may_pause(person=by)
        said = reason_given(reason, missing="Say why; everyone at the desk reads it.")
        if lane and lane not in set(Lane):
            raise InvalidInput(f"{lane!r} is not a lane. Lanes: {', '.join(Lane)}.")
        if kind:
            playbook_of(kind)
        if agent:
            _check_agent_exists(agent)
        scope = {"lane": lane, "kind": kind, "agent": agent}
        if Pause.objects.filter(**scope, lifted_at=None).exists():
            raise Conflict("This is paused already. Lift that pause first.")
        pause = Pause.objects.create(**scope, reason=said, set_by=str(by), set_at=moment)
        audit.append_to_house(
            by=actor_for(by),
            at=moment,
            event="paused",
            data={"scope": str(pause), "reason": said},
        )
    return pause


def _check_agent_exists(name: str) -> None:
    """A mistyped name would pause nothing, and everybody would believe it did."""
    known = list(AgentIdentity.objects.order_by("name", "version"))
    if all(name not in {identity.name, str(identity)} for identity in known):
        named = ", ".join(str(identity) for identity in known) or "none is registered"
        raise InvalidInput(f"There is no agent {name!r}. Agents: {named}.")


def lift_pause(*, pause_id: int, reason: str, by: Person | AgentIdentity, at: datetime) -> None:
    """Resume what a pause stopped. Facts and releases are checked anew before anything is done."""
    with in_house(by=by, at=at, act="resume", refused_as=REFUSED) as moment:
        policies.check_may_pause(person=by)
        said = reason_given(reason, missing="Say why; everyone at the desk reads it.")
        pause = Pause.objects.filter(pk=pause_id).first()
        if pause is None:
            raise NotFound(f"There is no pause {pause_id}.")
        if pause.lifted_at is not None:
            raise Conflict(f"{pause.lifted_by} lifted this pause already.")
        pause.lifted_by, pause.lifted_at, pause.lift_reason = str(by), moment, said
        pause.save()
        audit.append_to_house(
            by=actor_for(by),
            at=moment,
            event="resumed",
            data={"scope": str(pause), "reason": said},
        )


def standing_pause(*, lane: Lane, kind: str, agent: Actor) -> Pause | None:
    """A pause that stops this agent in this lane on this kind of case, or None."""
    return Pause.objects.filter(
        Q(lane="") | Q(lane=lane.value),
        Q(kind="") | Q(kind=kind),
        Q(agent="") | Q(agent=agent.name) | Q(agent=agent.identity),
        lifted_at=None,
    ).first()

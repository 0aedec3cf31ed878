"""The frame of every action on what belongs to no case: people, desks, rosters, conditions, pauses.

One such change at a time: each begins with the lock of the house's chain, so that none is made on
what another one is just changing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import transaction

from cases import audit
from cases.actions.change import actor_for, busy_is_a_conflict
from cases.clock import business_now
from cases.models import AgentIdentity, Person
from cases.vocabulary.errors import Busy, Conflict, Refused

REFUSED = "act_refused"


@contextmanager
def in_house(
    *, by: Person | AgentIdentity, at: datetime, act: str, refused_as: str = REFUSED
) -> Iterator[datetime]:
    """Make a change in one transaction, at the instant that it yields; rolls back on any error.

    The business time counts from the lock. A refusal is kept in the audit, as an event of that
    name. Raises `Busy` when somebody else keeps the house locked.
    """
    with (
        keeping_refusals(by=by, at=at, act=act, refused_as=refused_as),
        busy_is_a_conflict("this"),
        transaction.atomic(),
    ):
        audit.lock_house()
        yield max(at, business_now())


@contextmanager
def keeping_refusals(
    *, by: Person | AgentIdentity, at: datetime, act: str, refused_as: str = REFUSED
) -> Iterator[None]:
    """Keep in the house's audit that somebody was refused; `act` says what they wanted to do.

    For whoever makes a change inside a transaction of their own, which takes such an event back.
    """
    try:
        yield
    except Busy:
        raise  # nothing was looked at, so nothing was refused
    except (Refused, Conflict) as error:
        with busy_is_a_conflict("this"), transaction.atomic():
            data = {"act": act, "reason": str(error), "reason_code": error.code}
            audit.append_to_house(by=actor_for(by), at=at, event=refused_as, data=data)
        raise

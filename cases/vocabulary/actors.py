"""Who did something: a person, a named agent, or the system itself."""

from dataclasses import dataclass
from enum import StrEnum


class ActorKind(StrEnum):
    """What kind of actor; agents can never own, release or pause."""

    PERSON = "person"
    AGENT = "agent"
    SYSTEM = "system"


@dataclass(frozen=True, kw_only=True)
class Actor:
    """An actor as the audit keeps it: the name is copied, so it outlives the account."""

    kind: ActorKind
    name: str
    identity: str = ""


SYSTEM = Actor(kind=ActorKind.SYSTEM, name="Watchbill")

"""How far a release has come, in one word: never further than its least advanced effect."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cases.models import Decision, Effect
from cases.queries.values import counted

IN_FORCE = (
    (Effect.State.UNKNOWN, "Attempted, effect unknown", "unknown"),
    (Effect.State.REFUSED, "Refused by the target", "blocked"),
    (Effect.State.WANTED, "Released, not attempted yet", "waiting"),
    (Effect.State.ANSWERED, "Answered, not read back", "waiting"),
    (Effect.State.CONFIRMED, "Confirmed, not adopted yet", "ready"),
    (Effect.State.ADOPTED, "Adopted", "done"),
)


@dataclass(frozen=True, kw_only=True)
class Fate:
    """The word, the tone that marks it, since when, and how many effects were confirmed."""

    word: str
    tone: str
    at: datetime
    detail: str = ""


def fate_of(*, release: Decision, effects: Sequence[Effect]) -> Fate:
    """What became of a release so far; `effects` are all of its effects."""
    if release.ended_at is None:
        return _in_force(release, effects)
    word, tone = _ended(release, effects)
    return Fate(word=word, tone=tone, at=release.ended_at, detail=_confirmed(effects))


def _in_force(release: Decision, effects: Sequence[Effect]) -> Fate:
    states = {Effect.State(effect.state): effect for effect in effects}
    for state, word, tone in IN_FORCE:
        if state not in states:
            continue
        is_under_way = state is Effect.State.WANTED and any(e.confirmed_at for e in effects)
        return Fate(
            word="Under way" if is_under_way else word,
            tone=tone,
            at=states[state].state_since,
            detail=_confirmed(effects),
        )
    return Fate(word="Nothing to send, facts are read once more", tone="waiting", at=release.at)


def _ended(release: Decision, effects: Sequence[Effect]) -> tuple[str, str]:
    states = {effect.state for effect in effects}
    if release.carried_out:
        if not effects:
            return "Nothing had to be sent", "done"
        return ("Adopted" if states == {Effect.State.ADOPTED} else "Carried out"), "done"
    if Effect.State.UNKNOWN in states:
        return "Attempted, effect unknown", "unknown"
    if any(effect.confirmed_at is not None for effect in effects):
        return "Partly carried out", "changed"
    if Effect.State.REFUSED in states:
        return "Refused by the target", "blocked"
    return "Not carried out", "none"


def _confirmed(effects: Sequence[Effect]) -> str:
    if not effects:
        return ""
    confirmed = sum(1 for effect in effects if effect.confirmed_at is not None)
    return f"{confirmed} of {counted(len(effects), 'effect')} confirmed"

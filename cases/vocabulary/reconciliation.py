"""What is done about an attempt that may or may not have happened. One table, pure.

| lookup | fenced | key     | after the consistency window, absent or not askable     |
|--------|--------|---------|---------------------------------------------------------|
| yes    | yes    | alive   | it did not happen: try again, under the same key        |
| yes    | yes    | no keys | it did not happen: try again                            |
| yes    | no     | alive   | repeat under the same key: an older call may still land |
| no     | any    | alive   | repeat under the same key: its answer tells             |
| any    | any    | expired | a person decides                                        |
| yes    | no     | no keys | a person decides                                        |
| no     | any    | no keys | a person decides                                        |

Where it is found, nothing is left to decide. What was accepted and is not there is only tried again
under a key that makes a further try harmless.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from cases.vocabulary.work import Capabilities

# A call made now may arrive this much later: a key must live until then to be recognised.
LONGEST_ON_ITS_WAY = timedelta(seconds=60)
MOST_TRIES = 3


class NextStep(StrEnum):
    """What an unknown outcome asks for.

    `wait`: nothing is proved yet. `try_again`: it did not happen, so it is still wanted. `repeat`:
    nobody knows, but the target recognises the key, so that the same call cannot happen twice.
    `ask_a_person`: neither proof nor key.
    """

    WAIT = "wait"
    TRY_AGAIN = "try_again"
    REPEAT = "repeat"
    ASK_A_PERSON = "ask_a_person"


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """What is known of an effect that was attempted and is not to be seen.

    `waited` is how long ago it was first looked for in vain (or, where nothing can be looked up,
    how long ago its attempt ended); None when it was not yet looked for. `key_age` counts from the
    first call under its key. `was_answered`: the target had accepted the call. `tries` are the
    calls that may have arrived.
    """

    waited: timedelta | None
    key_age: timedelta
    was_answered: bool
    tries: int


def next_step(*, can: Capabilities, doubt: Doubt) -> NextStep:
    """What to do about an effect that is not to be seen in a target that can do this much."""
    if doubt.waited is None or doubt.waited < can.consistency_window:
        return NextStep.WAIT
    if doubt.tries >= MOST_TRIES or key_has_expired(can=can, key_age=doubt.key_age):
        return NextStep.ASK_A_PERSON
    absence_is_proved = can.lookup_by_reference and can.fencing
    if can.key_lifetime is not None:
        return NextStep.TRY_AGAIN if absence_is_proved else NextStep.REPEAT
    if absence_is_proved and not doubt.was_answered:
        return NextStep.TRY_AGAIN
    return NextStep.ASK_A_PERSON


def why_a_person(*, can: Capabilities, doubt: Doubt) -> str:
    """Why no machine can settle it, as the rest of a sentence that begins with its reference."""
    if doubt.tries >= MOST_TRIES:
        return f"was answered or lost {doubt.tries} times and never appeared"
    if key_has_expired(can=can, key_age=doubt.key_age):
        return "is not to be seen in the target, and its key is no longer honoured"
    if doubt.was_answered:
        return "was accepted and is gone, and the target does not recognise a repeated call"
    if not can.lookup_by_reference:
        return "cannot be looked up, and the target does not recognise a repeated call"
    return "is not to be seen, but could still arrive, and a repeated call would not be recognised"


def key_has_expired(*, can: Capabilities, key_age: timedelta) -> bool:
    """Whether a call made now under a key first used `key_age` ago might count as a new one."""
    return can.key_lifetime is not None and key_age + LONGEST_ON_ITS_WAY >= can.key_lifetime

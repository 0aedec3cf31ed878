"""What the contract must be able to do to the system behind an adapter: stage it, count in it."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Protocol

from agent.sources.base import Source
from cases.vocabulary.facts import Value
from cases.vocabulary.work import EffectWork


class Target(Protocol):
    """A freshly loaded outside system with an adapter in front of it; one per test.

    Whatever is staged by these methods goes past the adapter: the system's own console, a second
    account, a proxy before its test installation.
    """

    @property
    def source(self) -> Source:
        """The adapter under test; it waits at most about a second for an answer."""

    @property
    def unplugged(self) -> Source:
        """The same adapter, pointed at an address where nothing listens."""

    @property
    def subject(self) -> str:
        """The id of a subject that can be read and acted on."""

    def wanted(self) -> EffectWork:
        """An effect that can be carried out on the subject as it is now: new key, new reference."""

    def reads_back(self, effect: EffectWork) -> Mapping[str, Value]:
        """What a look at the target must show once the effect is there, field by field."""

    def effects_of(self, effect: EffectWork) -> int:
        """How often the effect happened, as the system itself tells."""

    def calls(self) -> int:
        """How many calls the system received so far."""

    def somebody_changes_the_subject(self) -> None:
        """A colleague changes a fact of it that the adapter reads."""

    def lose_the_next_answer(self) -> None:
        """The next change is carried out, and its answer never arrives."""

    def lose_the_next_call(self) -> None:
        """The next change ends in a broken connection before anything was done."""

    def ask_for_peace(self, rest: timedelta) -> None:
        """The next call is answered with 429 and told to come back after `rest`."""

    def refuse_everything(self) -> None:
        """From now on every call is answered with 503."""

    def hide_what_is_new(self) -> None:
        """From now on what was just created stays invisible for the consistency window.

        Only asked of a system that declares one.
        """

    def let_time_pass(self) -> None:
        """The consistency window and the other party's answer are over."""

    def hold(self, who: str) -> None:
        """Somebody else takes the lease on the subject. Only asked of a system that has leases."""

"""P17: every kind of transport system keeps the contract, each by what its profile declares."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from agent.sources.base import NoLease
from agent.sources.transport import TransportSource
from agent.sources.transport_profiles import PROFILES
from cases.vocabulary.work import CallOutcome, Capabilities
from tests.contract.clauses import OURS, TTL, SourceContract, granted, lease, order, perform
from tests.contract.transport import TransportTarget
from tests.simulator import Simulator


@contextmanager
def freshly_loaded(
    simulator: Simulator, *, profile: str, capabilities: Capabilities, **switches: bool
) -> Iterator[TransportTarget]:
    """S-318 in a system of that profile, and the adapter that was told what it can do."""
    simulator.control.reset(profile=profile)
    simulator.control.settings(**switches)
    source = TransportSource(
        address=simulator.url,
        token=simulator.token,
        timeout=timedelta(seconds=2),
        capabilities=capabilities,
    )
    yield TransportTarget(simulator=simulator, source=source)
    source.close()


class OfOneProfile(SourceContract):
    """The contract for the transport system under the profile that a subclass names."""

    profile: str

    @pytest.fixture
    def target(self, simulator: Simulator) -> Iterator[TransportTarget]:
        """The system under test, freshly loaded."""
        can = PROFILES[self.profile]
        with freshly_loaded(simulator, profile=self.profile, capabilities=can) as loaded:
            yield loaded


class TestModern(OfOneProfile):
    """Versions, keys, leases with fencing, and a search."""

    profile = "modern"


class TestNoIdempotency(OfOneProfile):
    """No keys: a repeated call is a second one."""

    profile = "no_idempotency"


class TestNoVersion(OfOneProfile):
    """No versions: nobody is told apart, and no write is conditional."""

    profile = "no_version"


class TestLockedByUser(OfOneProfile):
    """Employees lock what they have on the screen."""

    profile = "locked_by_user"

    def test_p19_a_record_that_an_employee_has_open_is_not_leased_and_they_are_named(
        self, target: TransportTarget
    ) -> None:
        target.open_record("J. Ortiz")
        refused = target.source.take_lease(subject="S-318", holder=OURS, ttl=TTL, permit=granted)
        assert refused == NoLease(reason="J. Ortiz has S-318 open.")
        target.close_record("J. Ortiz")
        assert lease(target) is not None

    def test_p19_a_record_opened_under_our_lease_refuses_the_call_unsent(
        self, target: TransportTarget
    ) -> None:
        effect, held = target.wanted(), lease(target)
        given = order(target, effect)
        target.open_record("J. Ortiz")
        result = perform(target, given, held)
        assert result.outcome is CallOutcome.NOT_SENT
        assert "J. Ortiz has S-318 open" in result.detail
        assert target.effects_of(effect) == 0


class TestKeysWithoutSearch(SourceContract):
    """A system that finds nothing by our reference: only a repeated call tells what happened."""

    @pytest.fixture
    def target(self, simulator: Simulator) -> Iterator[TransportTarget]:
        """The system under test, freshly loaded."""
        can = replace(PROFILES["modern"], lookup_by_reference=False)
        with freshly_loaded(
            simulator, profile="modern", capabilities=can, lookup_by_reference=False
        ) as loaded:
            yield loaded


def test_p12_a_search_that_was_declared_and_is_not_there_is_said_never_taken_for_absence(
    simulator: Simulator,
) -> None:
    with freshly_loaded(
        simulator, profile="modern", capabilities=PROFILES["modern"], lookup_by_reference=False
    ) as target:
        look = target.source.look_up(effect=target.wanted(), permit=granted)
    assert (look.readable, look.found) == (False, False)
    assert look.detail == "transport system cannot be searched, though its profile says so"

"""The contract between the engine and an adapter, as tests that any adapter can be put to.

Subclass `SourceContract` and give it a fixture `target` (see `target.py`). Every clause has an
answer for what a system can do and for what it cannot: none is skipped.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from agent.sources.base import NoLease, TargetLease
from cases.vocabulary.errors import CallsPaused
from cases.vocabulary.reconciliation import Doubt, NextStep, next_step
from cases.vocabulary.work import (
    AttemptOrder,
    CallOutcome,
    CallResult,
    EffectWork,
    ReadOutcome,
    RecordKey,
    SourceReading,
    VersionKind,
)
from tests.contract.target import Target

TTL = timedelta(seconds=60)
OURS = "watchbill case 1"
REST = timedelta(seconds=30)
ABSENT = Doubt(waited=timedelta(days=1), key_age=REST, was_answered=False, tries=1)


def granted() -> None:
    """A permit: the call may be made."""


@dataclass
class Gate:
    """A permit that counts, and refuses from the `closes_at`-th call on."""

    asked: int = 0
    closes_at: int = 10**6

    def __call__(self) -> None:
        """Ask for one call."""
        self.asked += 1
        if self.asked >= self.closes_at:
            raise CallsPaused("Priya Raman paused everything.")


def read(target: Target) -> SourceReading:
    """The subject as it is now."""
    readings = target.source.read(subject=target.subject, records=(), permit=granted)
    return next(reading for reading in readings if reading.record_id == target.subject)


def lease(target: Target) -> TargetLease | None:
    """Our lease on the subject; None where the system has no leases."""
    if not target.source.capabilities.leases:
        return None
    taken = target.source.take_lease(subject=target.subject, holder=OURS, ttl=TTL, permit=granted)
    assert isinstance(taken, TargetLease), taken
    return taken


def order(target: Target, effect: EffectWork) -> AttemptOrder:
    """Permission for one call, on the subject as it was just read."""
    subject = read(target)
    return AttemptOrder(
        attempt_id=1,
        effect=effect,
        subject=target.subject,
        subject_version=subject.version,
        subject_etag=subject.etag,
    )


def perform(target: Target, given: AttemptOrder, held: TargetLease | None) -> CallResult:
    """Make the call under that lease."""
    token = None if held is None else held.fencing_token
    return target.source.perform(order=given, fencing_token=token, permit=granted)


def carry_out(target: Target, effect: EffectWork) -> CallResult:
    """Read, take the lease, and make the call."""
    return perform(target, order(target, effect), lease(target))


def may_repeat(target: Target) -> bool:
    """Whether the engine would ever repeat a call to it: only where it has keys."""
    return target.source.capabilities.key_lifetime is not None


def ways_to_call(target: Target) -> dict[str, Callable[[Gate], Any]]:
    """Every method of the adapter that talks to the system, ready to be called with a permit."""
    source, effect, held = target.source, target.wanted(), lease(target)
    given, answered = order(target, effect), replace(effect, target_record_id="1")
    token = None if held is None else held.fencing_token
    ways: dict[str, Callable[[Gate], Any]] = {
        "read": lambda gate: source.read(subject=target.subject, records=(), permit=gate),
        "look_up": lambda gate: source.look_up(effect=answered, permit=gate),
        "perform": lambda gate: source.perform(order=given, fencing_token=token, permit=gate),
    }
    if held is not None:
        ways["take_lease"] = lambda gate: source.take_lease(
            subject=target.subject, holder=OURS, ttl=TTL, permit=gate
        )
        ways["release_lease"] = lambda gate: source.release_lease(held, permit=gate)
    return ways


class SourceContract:
    """The clauses. A subclass named `Test…` gives the fixture `target`."""

    @pytest.fixture
    def target(self) -> Target:
        """The system under test, freshly loaded."""
        pytest.fail("Give your test class a fixture `target`.")

    # Reading

    def test_p13_an_unchanged_subject_reads_the_same_twice(self, target: Target) -> None:
        first, second = read(target), read(target)
        assert first.outcome is ReadOutcome.READ, first.failure
        assert first.fields
        assert first.source_time is not None
        assert replace(second, source_time=None) == replace(first, source_time=None)

    def test_p13_a_colleagues_change_is_seen_in_the_way_that_was_declared(
        self, target: Target
    ) -> None:
        before = read(target)
        target.somebody_changes_the_subject()
        after = read(target)
        assert after.fields != before.fields
        match target.source.capabilities.versions:
            case VersionKind.NUMBER:
                assert before.version is not None
                assert after.version is not None
                assert after.version > before.version
            case VersionKind.ETAG:
                assert (before.version, after.version) == (None, None)
                assert before.etag
                assert after.etag not in {"", before.etag}
            case VersionKind.NONE:
                marks = (before.version, before.etag, after.version, after.etag)
                assert marks == (None, "", None, "")

    def test_p12_a_system_that_refuses_gives_failed_readings_of_everything_known(
        self, target: Target
    ) -> None:
        known = (RecordKey(record_type=read(target).record_type, record_id=target.subject),)
        target.refuse_everything()
        for reading in target.source.read(subject=target.subject, records=known, permit=granted):
            assert reading.outcome is ReadOutcome.FAILED
            assert reading.failure
            assert not reading.fields

    def test_p12_a_subject_that_does_not_exist_is_missing_not_failed(self, target: Target) -> None:
        (reading,) = target.source.read(subject="NO-SUCH-1", records=(), permit=granted)
        assert (reading.outcome, reading.failure) == (ReadOutcome.MISSING, "")

    def test_p12_a_system_that_is_not_there_is_told_in_values_never_raised(
        self, target: Target
    ) -> None:
        source, effect = target.unplugged, target.wanted()
        given = order(target, effect)
        readings = source.read(subject=target.subject, records=(), permit=granted)
        assert {reading.outcome for reading in readings} == {ReadOutcome.FAILED}
        result = source.perform(order=given, fencing_token=1, permit=granted)
        assert result.outcome is CallOutcome.NOT_SENT
        look = source.look_up(effect=replace(effect, target_record_id="1"), permit=granted)
        assert (look.readable, look.found) == (False, False)
        if source.capabilities.leases:
            none = source.take_lease(subject=target.subject, holder=OURS, ttl=TTL, permit=granted)
            assert isinstance(none, NoLease)
            source.release_lease(TargetLease(lease_id="L-1", fencing_token=1), permit=granted)

    # Acting

    def test_p15_a_change_happens_once_and_is_found_as_it_was_released(
        self, target: Target
    ) -> None:
        effect = target.wanted()
        result = carry_out(target, effect)
        assert result.outcome is CallOutcome.ANSWERED, result.detail
        assert result.record_id
        assert target.effects_of(effect) == 1
        target.let_time_pass()
        answered = replace(effect, target_record_id=result.record_id)
        look = target.source.look_up(effect=answered, permit=granted)
        assert (look.found, look.record_id) == (True, result.record_id), look.detail
        expected = target.reads_back(effect)
        assert {name: look.fields.get(name) for name in expected} == expected

    def test_p20_an_action_the_system_has_no_call_for_is_refused_unsent(
        self, target: Target
    ) -> None:
        given = order(target, replace(target.wanted(), action="delete_everything"))
        before = target.calls()
        assert perform(target, given, None).outcome is CallOutcome.REFUSED
        assert target.calls() == before

    def test_p14_a_change_on_facts_that_moved_is_refused_where_that_was_declared(
        self, target: Target
    ) -> None:
        effect, held = target.wanted(), lease(target)
        given = order(target, effect)
        target.somebody_changes_the_subject()
        result = perform(target, given, held)
        if target.source.capabilities.conditional_writes:
            assert result.outcome is CallOutcome.WORLD_MOVED, result.detail
            assert target.effects_of(effect) == 0
        else:
            assert result.outcome is CallOutcome.ANSWERED, result.detail

    def test_p17_a_call_repeated_under_its_key_happens_once_or_is_declared_never_to_be(
        self, target: Target
    ) -> None:
        effect, held = target.wanted(), lease(target)
        given = order(target, effect)
        first = perform(target, given, held)
        assert first.outcome is CallOutcome.ANSWERED, first.detail
        if may_repeat(target):
            again = perform(target, given, held)
            assert (again.outcome, again.record_id) == (first.outcome, first.record_id)
        assert target.effects_of(effect) == 1

    def test_p17_two_calls_at_once_under_one_key_happen_once(self, target: Target) -> None:
        effect, held = target.wanted(), lease(target)
        given = order(target, effect)
        at_once = 2 if may_repeat(target) else 1
        with ThreadPoolExecutor(at_once) as callers:
            list(callers.map(lambda _: perform(target, given, held), range(at_once)))
        assert target.effects_of(effect) == 1

    # Leases

    def test_p19_a_subject_that_somebody_holds_is_not_leased_and_they_are_named(
        self, target: Target
    ) -> None:
        if not target.source.capabilities.leases:
            assert lease(target) is None
            return
        target.hold("dispatch-bot")
        refused = target.source.take_lease(
            subject=target.subject, holder=OURS, ttl=TTL, permit=granted
        )
        assert isinstance(refused, NoLease)
        assert "dispatch-bot" in refused.reason
        assert target.subject in refused.reason

    def test_p18_a_worker_whose_lease_was_taken_anew_is_refused_where_that_was_declared(
        self, target: Target
    ) -> None:
        effect, frozen = target.wanted(), lease(target)
        given, newer = order(target, effect), lease(target)
        if not target.source.capabilities.fencing:
            assert next_step(can=target.source.capabilities, doubt=ABSENT) is not NextStep.TRY_AGAIN
            return
        assert frozen is not None
        assert newer is not None
        assert newer.fencing_token > frozen.fencing_token
        assert perform(target, given, frozen).outcome is CallOutcome.NOT_SENT
        assert target.effects_of(effect) == 0
        assert perform(target, given, newer).outcome is CallOutcome.ANSWERED

    def test_p18_a_lease_that_was_given_back_is_free_for_others(self, target: Target) -> None:
        held = lease(target)
        if held is None:
            return
        target.source.release_lease(held, permit=granted)
        other = target.source.take_lease(
            subject=target.subject, holder="dispatch-bot", ttl=TTL, permit=granted
        )
        assert isinstance(other, TargetLease)

    # Outcomes nobody knows

    def test_p16_an_answer_that_got_lost_is_unknown_and_the_effect_is_found_or_recognised(
        self, target: Target
    ) -> None:
        effect, held, can = target.wanted(), lease(target), target.source.capabilities
        given = order(target, effect)
        target.lose_the_next_answer()
        assert perform(target, given, held).outcome is CallOutcome.UNKNOWN
        assert target.effects_of(effect) == 1
        target.let_time_pass()
        look = target.source.look_up(effect=effect, permit=granted)
        assert (look.readable, look.searchable, look.found) == (
            True,
            can.lookup_by_reference,
            can.lookup_by_reference,
        ), look.detail
        if may_repeat(target):
            repeated = carry_out(target, effect)
            assert repeated.outcome is CallOutcome.ANSWERED, repeated.detail
            assert target.effects_of(effect) == 1

    def test_p16_a_call_that_got_lost_is_unknown_too_and_not_found(self, target: Target) -> None:
        effect, held = target.wanted(), lease(target)
        given = order(target, effect)
        target.lose_the_next_call()
        assert perform(target, given, held).outcome is CallOutcome.UNKNOWN
        assert target.effects_of(effect) == 0
        target.let_time_pass()
        look = target.source.look_up(effect=effect, permit=granted)
        assert (look.readable, look.found) == (True, False)

    def test_p16_a_search_that_cannot_be_made_is_never_not_found(self, target: Target) -> None:
        effect, before = target.wanted(), target.calls()
        target.refuse_everything()
        look = target.source.look_up(effect=effect, permit=granted)
        assert look.readable is not target.source.capabilities.lookup_by_reference
        assert look.searchable is target.source.capabilities.lookup_by_reference
        assert target.calls() == before + int(look.searchable)

    def test_p16_what_stays_invisible_for_a_while_is_declared_and_then_found(
        self, target: Target
    ) -> None:
        effect, can = target.wanted(), target.source.capabilities
        if can.consistency_window:
            target.hide_what_is_new()
        result = carry_out(target, effect)
        answered = replace(effect, target_record_id=result.record_id)
        early = target.source.look_up(effect=answered, permit=granted)
        assert early.readable, early.detail
        assert early.found is not bool(can.consistency_window)
        target.let_time_pass()
        assert target.source.look_up(effect=answered, permit=granted).found

    # Restraint

    def test_p21_every_single_call_is_permitted_right_before_it_is_made(
        self, target: Target
    ) -> None:
        for name, call in ways_to_call(target).items():
            gate, before = Gate(), target.calls()
            call(gate)
            assert target.calls() - before == gate.asked, name

    def test_p21_nothing_is_sent_when_the_permit_is_refused(self, target: Target) -> None:
        for name, call in ways_to_call(target).items():
            before = target.calls()
            with pytest.raises(CallsPaused):
                call(Gate(closes_at=1))
            assert target.calls() == before, name

    def test_p21_a_pause_in_the_middle_of_a_reading_stops_it_there(self, target: Target) -> None:
        gate, before = Gate(closes_at=2), target.calls()
        with suppress(CallsPaused):
            target.source.read(subject=target.subject, records=(), permit=gate)
        assert target.calls() - before == 1

    def test_a_system_that_asks_for_peace_is_left_alone_for_as_long_as_it_asks(
        self, target: Target
    ) -> None:
        effect, held = target.wanted(), lease(target)
        given = order(target, effect)
        target.ask_for_peace(REST)
        result = perform(target, given, held)
        assert (result.outcome, result.retry_after) == (CallOutcome.NOT_SENT, REST)
        before = target.calls()
        again = perform(target, given, held)
        assert again.outcome is CallOutcome.NOT_SENT
        assert again.retry_after is not None
        assert timedelta(0) < again.retry_after <= REST
        assert read(target).outcome is ReadOutcome.FAILED
        assert target.calls() == before
        assert target.effects_of(effect) == 0

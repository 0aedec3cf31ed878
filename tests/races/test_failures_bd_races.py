"""Failures B7, B9, D7 and D10: two sweeps, a commit that takes long, a born-expired lease, one
release used twice.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection, transaction

from cases.actions import decisions, effects, evidence, runs
from cases.actions.clock import move_business_clock
from cases.actions.deadlines import escalate_overdue
from cases.clock import business_now
from cases.models import Attempt, AuditEvent, Case, Effect, Escalation, Run
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import AttemptOrder, DueCase
from tests.cases.builders import (
    AGENT,
    EVENING_WORLD,
    LEASE,
    TRANSPORT,
    Cast,
    a_case_waiting_for_review,
    a_grant,
    a_released_case,
    an_answer,
    an_open_case,
)
from tests.races.together import together


@contextmanager
def elsewhere(*, locked: Run, seconds: float) -> Iterator[None]:
    """Another session holds the row of a run for so long."""
    taken = threading.Event()

    def hold() -> None:
        try:
            with transaction.atomic():
                Run.objects.select_for_update().get(pk=locked.pk)
                taken.set()
                threading.Event().wait(seconds)
        finally:
            connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    taken.wait(timeout=10)
    try:
        yield
    finally:
        holder.join()


def test_b07_eight_sweeps_of_two_beats_name_each_case_once(cast: Cast) -> None:
    """Also when they ask again a second later: a message too many would do no harm, but none is."""
    cases = {an_open_case(cast, subject=f"S-{number}").pk for number in range(5)}
    swept = together([lambda: runs.nudge_due(agent=AGENT, limit=100)] * 8)
    named = [due.case_id for sweep in swept for due in sweep if isinstance(due, DueCase)]
    assert sorted(named) == sorted(cases)
    assert list(runs.nudge_due(agent=AGENT, limit=100)) == []


def test_b07_eight_sweeps_put_an_overdue_decision_before_the_lead_once(cast: Cast) -> None:
    """One escalation and one audit event, however many beats there are."""
    case = a_case_waiting_for_review(cast)
    assert case.decide_by is not None
    move_business_clock(by=case.decide_by - business_now() + timedelta(seconds=1))
    assert sum(together([escalate_overdue] * 8)) == 1
    assert Escalation.objects.filter(case=case).count() == 1
    assert AuditEvent.objects.filter(case_id=case.pk, event="decision_overdue").count() == 1


def test_b09_a_release_whose_commit_takes_long_is_taken_up_after_it_and_not_before(
    cast: Cast,
) -> None:
    """Nothing is sent from the page, so no worker can be ahead of the commit."""
    case = a_case_waiting_for_review(cast)
    answer = an_answer(case)
    decided, commit = threading.Event(), threading.Event()

    def release_slowly() -> None:
        try:
            with transaction.atomic():
                decisions.release(answer=answer, by=cast.owner, at=business_now())
                decided.set()
                commit.wait(timeout=10)
        finally:
            connection.close()

    page = threading.Thread(target=release_slowly)
    page.start()
    assert decided.wait(timeout=10)
    assert list(runs.nudge_due(agent=AGENT, limit=9)) == []
    assert runs.claim(case_id=case.pk, agent=AGENT, worker="early", lease=LEASE) is None
    commit.set()
    page.join()
    due = DueCase(case_id=case.pk, stage=Stage.EXECUTING)
    assert list(runs.nudge_due(agent=AGENT, limit=9)) == [due]
    assert runs.claim(case_id=case.pk, agent=AGENT, worker="late", lease=LEASE) is not None


SHORT = timedelta(seconds=0.5)


@pytest.mark.parametrize("kind", ["renew", "permit_call", "keep_alive"])
def test_d07_a_lease_taken_after_a_long_wait_for_the_row_is_not_born_expired(
    cast: Cast, kind: str
) -> None:
    """The row stayed locked for longer than the lease lasts: it counts from when it was had."""
    case = a_released_case(cast)
    grant = a_grant(case)
    with elsewhere(locked=Run.objects.get(case=case), seconds=2 * SHORT.total_seconds()):
        began = business_now()
        if kind == "keep_alive":
            runs.keep_alive(grant=grant, lease=SHORT)
        else:
            getattr(runs, kind)(grant=grant, agent=AGENT, lease=SHORT)
        ended = business_now()
    lease_until = Run.objects.values_list("lease_until", flat=True).get(case=case)
    assert lease_until is not None
    assert ended - began > SHORT, "it did wait"
    assert SHORT - timedelta(seconds=0.2) < lease_until - ended <= SHORT


def test_d07_a_claim_does_not_wait_for_a_row_that_others_hold(cast: Cast) -> None:
    """So it cannot be granted late; the next nudge comes in any case."""
    case = an_open_case(cast)
    with elsewhere(locked=Run.objects.get(case=case), seconds=0.3):
        began = business_now()
        assert runs.claim(case_id=case.pk, agent=AGENT, worker="w", lease=SHORT) is None
        assert business_now() - began < timedelta(seconds=0.3)
    grant = runs.claim(case_id=case.pk, agent=AGENT, worker="w", lease=SHORT)
    assert grant is not None
    assert timedelta(seconds=0.3) < grant.lease_until - business_now() <= SHORT


@pytest.mark.parametrize("trial", range(5))
def test_d10_one_release_used_by_two_attempts_at_once_starts_one(cast: Cast, trial: int) -> None:
    """The same worker's order, twice in the same moment: one call is permitted."""
    case = a_released_case(cast)
    grant = a_grant(case)
    evidence.record_readings(grant=grant, by=AGENT, readings=EVENING_WORLD, asked_at=business_now())
    effect = Effect.objects.earliest("id")
    begun = together(
        [
            lambda: effects.begin_attempt(
                grant=grant, by=AGENT, effect_id=effect.pk, capabilities=TRANSPORT
            )
        ]
        * 4
    )
    orders = [order for order in begun if isinstance(order, AttemptOrder)]
    assert len(orders) == Attempt.objects.count() == 1, f"trial {trial}: {begun}"
    assert Case.objects.get(pk=case.pk).stage in {"executing", "reconciling"}

"""P8: sweeps of several beats come at once, and so does the person who decides after all."""

import threading
from functools import partial

from django.db import connection, transaction

from cases.actions import decisions
from cases.actions.deadlines import escalate_overdue
from cases.clock import business_now
from cases.models import Case, Escalation
from tests.cases.builders import (
    Cast,
    a_case_waiting_for_review,
    an_answer,
    events_of,
    stage_of,
)
from tests.races.together import together

SWEEPS = 6


def make_overdue(*cases: Case) -> None:
    """Their time to be decided ends now."""
    Case.objects.filter(pk__in=[case.pk for case in cases]).update(decide_by=business_now())


def test_p08_many_sweeps_at_once_escalate_each_case_once(cast: Cast) -> None:
    cases = [a_case_waiting_for_review(cast, subject=f"S-{number}") for number in range(5)]
    for _ in range(5):
        make_overdue(*cases)
        counts = together([escalate_overdue] * SWEEPS)
        assert sum(counts) == len(cases), counts
        Escalation.objects.update(ended_at=business_now(), ended_reason="Again.")
    assert all(events_of(case).count("decision_overdue") == 5 for case in cases)


def test_p08_a_sweep_passes_over_a_case_that_somebody_has_locked(cast: Cast) -> None:
    """Perhaps it is being decided on right now; others are not kept waiting by it."""
    held, free = (a_case_waiting_for_review(cast, subject=subject) for subject in ("S-1", "S-2"))
    make_overdue(held, free)
    counts: list[int] = []

    def sweep() -> None:
        counts.append(escalate_overdue())
        connection.close()

    with transaction.atomic():
        Case.objects.locked(held.pk)
        other = threading.Thread(target=sweep)
        other.start()
        other.join(timeout=10)
    assert counts == [1]
    assert [row.case_id for row in Escalation.objects.all()] == [free.pk]
    assert escalate_overdue() == 1


def test_p08_deciding_while_the_sweep_comes_leaves_no_escalation_behind(cast: Cast) -> None:
    for number in range(5):
        case = a_case_waiting_for_review(cast, subject=f"S-{number}")
        make_overdue(case)
        release = partial(
            decisions.release, answer=an_answer(case), by=cast.owner, at=business_now()
        )
        together([escalate_overdue, release])
        escalate_overdue()
        assert stage_of(case) == "executing"
        assert not case.escalations.filter(ended_at=None).exists()

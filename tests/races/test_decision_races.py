"""P6 and P9 under races: several people and browsers decide at the same moment."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import IntegrityError, connection
from django.db.models import QuerySet

from cases.actions import decisions
from cases.actions.decisions import DecisionMade
from cases.clock import business_now
from cases.models import Case, Decision, Effect
from cases.models.case import CaseQuerySet
from cases.vocabulary.errors import DecisionRefused
from tests.cases.builders import Cast, a_case_waiting_for_review, an_answer, audit_of, decisions_of
from tests.races.together import together


def test_p06_two_people_deciding_at_once_leave_one_decision(cast: Cast) -> None:
    """One releases, one rejects, in the same instant: one counts, the other is told who."""
    case = a_case_waiting_for_review(cast)
    releasing, rejecting = an_answer(case), an_answer(case, reason="No")
    results = together(
        [
            lambda: decisions.release(answer=releasing, by=cast.owner, at=business_now()),
            lambda: decisions.reject(answer=rejecting, by=cast.colleague, at=business_now()),
        ]
    )
    refused = [result for result in results if isinstance(result, DecisionRefused)]
    assert len(refused) == 1
    assert refused[0].reason_code == "already_decided"
    assert len(decisions_of(case)) == 1


def test_p06_twenty_equal_posts_are_one_decision(cast: Cast) -> None:
    """An impatient browser, or a retrying proxy."""
    case = a_case_waiting_for_review(cast)
    answer = an_answer(case)
    results = together(
        [lambda: decisions.release(answer=answer, by=cast.owner, at=business_now())] * 20
    )
    made = [result for result in results if isinstance(result, DecisionMade)]
    assert len(made) == 20
    assert sum(not result.replayed for result in made) == 1
    assert Effect.objects.count() == 2
    assert [row.event for row in audit_of(case)].count("released") == 1


@contextmanager
def no_case_lock(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Take the guard away: the case row is read without being locked."""

    def unlocked(self: CaseQuerySet, case_id: int) -> Case:
        return self.get(pk=case_id)

    with monkeypatch.context() as patch:
        patch.setattr(CaseQuerySet, "locked", unlocked)
        patch.setattr(QuerySet, "select_for_update", lambda self, **_: self)
        yield


def test_p06_control_without_the_lock_two_decisions_reach_the_database(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: without the lock both pass every check, and only the constraint is left."""
    case = a_case_waiting_for_review(cast)
    meeting = threading.Barrier(2)
    original = decisions._count

    def count_together(*args: object) -> DecisionMade:
        meeting.wait(timeout=10)
        return original(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(decisions, "_count", count_together)
    with no_case_lock(monkeypatch):
        results = together(
            [
                lambda: decisions.release(answer=an_answer(case), by=cast.owner, at=business_now()),
                lambda: decisions.release(
                    answer=an_answer(case), by=cast.colleague, at=business_now()
                ),
            ]
        )
    errors = [result for result in results if isinstance(result, Exception)]
    assert [type(error.__cause__) for error in errors] == [IntegrityError]
    assert "one_decision_per_proposal" in str(errors[0].__cause__)
    assert Decision.objects.count() == 1
    assert connection.vendor == "postgresql"

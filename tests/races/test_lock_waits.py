"""A case that someone keeps locked: the other is told in words, and time counts from the lock."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction

from cases.actions import closing, decisions
from cases.actions.clock import set_business_clock
from cases.clock import business_now
from cases.models import AuditEvent, Case, Decision
from cases.vocabulary.errors import Busy, Conflict, DecisionRefused
from tests.cases.builders import Cast, a_case_waiting_for_review, an_answer, current_proposal


def hold_case(case: Case, *, taken: threading.Event, give_back: threading.Event) -> None:
    """Lock the case in another session until told otherwise."""
    try:
        with transaction.atomic():
            Case.objects.locked(case.pk)
            taken.set()
            give_back.wait(timeout=15)
    finally:
        connection.close()


def test_a_case_that_stays_locked_is_a_conflict_in_words(cast: Cast) -> None:
    """After five seconds the person reads that someone else is changing the case."""
    case = a_case_waiting_for_review(cast)
    answer = an_answer(case)
    taken, give_back = threading.Event(), threading.Event()
    holder = threading.Thread(
        target=hold_case, args=(case,), kwargs={"taken": taken, "give_back": give_back}
    )
    holder.start()
    taken.wait(timeout=10)
    threading.Timer(5.5, give_back.set).start()
    with pytest.raises(Conflict, match="Someone else is changing this case"):
        decisions.release(answer=answer, by=cast.owner, at=business_now())
    give_back.set()
    holder.join()
    assert Decision.objects.count() == 0


def test_p08_a_release_that_waited_past_the_expiry_is_refused(cast: Cast) -> None:
    """Clicked at 23:59, locked until 00:01: the rate is over when the decision would count."""
    case = a_case_waiting_for_review(cast)
    answer = an_answer(case)
    valid_until = current_proposal(case).valid_until
    assert valid_until is not None
    set_business_clock(to=valid_until - timedelta(seconds=30))
    clicked_at = business_now()
    set_business_clock(to=valid_until + timedelta(seconds=30))
    with pytest.raises(DecisionRefused) as refusal:
        decisions.release(answer=answer, by=cast.owner, at=clicked_at)
    assert refusal.value.reason_code == "expired"


def test_what_is_locked_for_long_is_neither_refused_nor_an_error(cast: Cast) -> None:
    """Nothing was looked at, so no refusal is kept; keeping it would wait for the same lock."""
    case = a_case_waiting_for_review(cast)
    taken, give_back = threading.Event(), threading.Event()
    holder = threading.Thread(
        target=hold_case, args=(case,), kwargs={"taken": taken, "give_back": give_back}
    )
    holder.start()
    taken.wait(timeout=10)
    with pytest.raises(Busy):
        closing.refresh_now(case_id=case.pk, by=cast.owner, at=business_now())
    give_back.set()
    holder.join()
    assert not AuditEvent.objects.filter(case_id=case.pk, event="act_refused").exists()

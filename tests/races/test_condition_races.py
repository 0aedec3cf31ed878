"""A condition that stops releases: once it is open nothing begins, however close the two come."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from cases.actions import conditions, decisions, effects, evidence
from cases.clock import business_now
from cases.models import Attempt, Decision, Effect
from cases.vocabulary.errors import DecisionRefused
from cases.vocabulary.work import AttemptOrder
from tests.cases.builders import (
    AGENT,
    EVENING_WORLD,
    TRANSPORT,
    Cast,
    a_case_waiting_for_review,
    a_grant,
    a_released_case,
    an_answer,
)
from tests.races.together import together

WAITING = "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)"


def open_condition(cast: Cast) -> None:
    """The lead stops releases."""
    conditions.open_condition(
        wanted=conditions.NewCondition(
            sort="connector", title="TMS degraded", desk=None, blocks_releases=True
        ),
        by=cast.lead,
        at=business_now(),
    )


def an_attempt_about_to_begin(cast: Cast) -> Callable[[], Any]:
    """A worker found that the facts hold and asks for its one call."""
    case = a_released_case(cast)
    grant = a_grant(case)
    evidence.record_readings(grant=grant, by=AGENT, readings=EVENING_WORLD, asked_at=business_now())
    effect = Effect.objects.order_by("id").first()
    assert effect is not None
    return lambda: effects.begin_attempt(
        grant=grant, by=AGENT, effect_id=effect.pk, capabilities=TRANSPORT
    )


def while_it_is_being_opened(cast: Cast, act: Callable[[], Any]) -> Any:
    """What comes of an act that starts after a condition was written and before it is committed."""
    written = threading.Event()

    def opening() -> None:
        with transaction.atomic():
            open_condition(cast)
            written.set()
            patience = time.monotonic() + 3
            with connection.cursor() as cursor:
                waits = False
                while not waits and time.monotonic() < patience:
                    cursor.execute(WAITING)
                    (waits,) = cursor.fetchone()
                    time.sleep(0.02)

    def acting() -> Any:
        written.wait(timeout=10)
        return act()

    _, outcome = together([opening, acting])
    return outcome


def test_p21_an_attempt_does_not_slip_past_a_condition_being_opened(cast: Cast) -> None:
    """It waits for the lead's commit, and then does not begin."""
    begin = an_attempt_about_to_begin(cast)
    assert while_it_is_being_opened(cast, begin) is None
    assert Attempt.objects.count() == 0


def test_p21_a_release_does_not_slip_past_a_condition_being_opened(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    answer = an_answer(case)
    outcome = while_it_is_being_opened(
        cast, lambda: decisions.release(answer=answer, by=cast.owner, at=business_now())
    )
    assert isinstance(outcome, DecisionRefused)
    assert outcome.reason_code == "held"
    assert Decision.objects.count() == 0


@pytest.mark.parametrize("trial", range(4))
def test_p21_a_condition_and_an_attempt_at_once_leave_no_attempt_behind_it(
    cast: Cast, trial: int
) -> None:
    """When the lead's click returned, what began is written down and nothing begins any more."""
    begin = an_attempt_about_to_begin(cast)

    def opening() -> int:
        open_condition(cast)
        return Attempt.objects.count()

    order, begun = together([begin, opening])
    assert isinstance(order, AttemptOrder) is bool(begun), f"trial {trial}: {order}, {begun}"
    assert Attempt.objects.count() == begun

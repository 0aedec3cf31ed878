"""P30: one event sent to several servers at once, and two sweeps over the same events."""

from collections import Counter
from functools import partial

from django.db import transaction

from cases.actions import pauses, runs
from cases.actions.events import apply_received_events, receive_event
from cases.clock import business_now
from cases.models import Case, InboundEvent
from cases.vocabulary.work import CallOutcome
from tests.cases.builders import (
    EVENING_WORLD,
    Cast,
    a_released_case,
    agent_starts_attempt,
    events_of,
    target_answers,
)
from tests.cases.sender import an_event, as_body
from tests.races.together import together


def an_unknown_outcome(cast: Cast) -> tuple[Case, str]:
    """A case with a booking of unknown outcome, and the booking's reference."""
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    target_answers(grant, order, CallOutcome.UNKNOWN)
    runs.let_go(grant=grant)
    return case, order.effect.reference


def receive(event_id: str, content: bytes) -> None:
    """One delivery."""
    receive_event(system="transport", event_id=event_id, content=content, at=business_now())


def states() -> Counter[str]:
    """How many events became what."""
    return Counter(InboundEvent.objects.values_list("state", flat=True))


def test_p30_one_event_delivered_eight_times_at_once_counts_once(cast: Cast) -> None:
    case, reference = an_unknown_outcome(cast)
    body = as_body(an_event(reference))
    assert together([lambda: receive("msg_1", body)] * 8) == [None] * 8
    assert states() == {"applied": 1}
    assert events_of(case).count("event_reported") == 1


def test_p30_of_two_contents_under_one_id_at_once_one_is_set_aside(cast: Cast) -> None:
    case, reference = an_unknown_outcome(cast)
    bodies = [as_body(an_event(reference, record_id=f"B-{number}")) for number in range(6)]
    together([partial(receive, "msg_1", body) for body in bodies])
    assert states() == {"applied": 1, "quarantined": 5}
    assert events_of(case).count("event_reported") == 1


def test_p21_two_sweeps_apply_each_event_once(cast: Cast) -> None:
    case, reference = an_unknown_outcome(cast)
    pause = pauses.set_pause(
        lane="intake", kind="", agent="", reason="Flood.", by=cast.lead, at=business_now()
    )
    for number in range(12):
        receive(f"msg_{number}", as_body(an_event(reference, record_id=f"B-{number}")))
    assert states() == {"received": 12}
    pauses.lift_pause(pause_id=pause.pk, reason="Over.", by=cast.lead, at=business_now())
    while states()["received"]:
        together([lambda: apply_received_events(limit=5)] * 3)
    assert states() == {"applied": 12}
    assert events_of(case).count("event_reported") == 12


def test_an_event_does_not_wait_for_whoever_is_changing_its_case(cast: Cast) -> None:
    """Stored and answered at once; applied by a sweep when the case is free."""
    case, reference = an_unknown_outcome(cast)
    with transaction.atomic():
        Case.objects.locked(case.pk)
        assert together([lambda: receive("msg_1", as_body(an_event(reference)))]) == [None]
        assert states() == {"received": 1}
        assert together([lambda: apply_received_events(limit=5)]) == [0]
    assert apply_received_events(limit=5) == 1

"""Standing conditions live until closed, on every page and sheet; some stop releases."""

from dataclasses import replace
from datetime import timedelta

import pytest

from cases.actions import (
    conditions,
    decisions,
    effects,
    evidence,
    pauses,
    read_backs,
    repeats,
    runs,
)
from cases.actions.clock import move_business_clock
from cases.clock import business_now
from cases.models import Attempt, AuditEvent, Case, Desk, Effect, StandingCondition
from cases.queries.conditions import standing_for
from cases.vocabulary.errors import CallsPaused, Conflict, DecisionRefused, InvalidInput, Refused
from cases.vocabulary.work import CallOutcome, Grant, TargetLook
from tests.cases.builders import (
    AGENT,
    EVENING,
    EVENING_WORLD,
    LEASE,
    TRANSPORT,
    TWO_O_CLOCK,
    Cast,
    a_case_waiting_for_review,
    a_grant,
    a_quote,
    a_released_case,
    a_shipment,
    agent_starts_attempt,
    an_answer,
    at_business_time,
    audit_of,
    current_proposal,
    stage_of,
    target_answers,
)

PHONE = "Customer wants phone, not mail"


def opened(cast: Cast, **rest: object) -> StandingCondition:
    """The lead opens a condition."""
    wanted = {"sort": "connector", "title": "TMS at 96 % disk", "desk": None, **rest}
    return conditions.open_condition(
        wanted=conditions.NewCondition(**wanted),  # type: ignore[arg-type]
        by=cast.lead,
        at=business_now(),
    )


def close(cast: Cast, condition: StandingCondition, reason: str = "Healthy") -> None:
    """The admin closes it."""
    conditions.close_condition(
        condition_id=condition.pk, reason=reason, by=cast.admin, at=business_now()
    )


def another_desk(cast: Cast) -> Desk:
    """A desk that the case does not belong to."""
    return Desk.objects.create(name="DEN desk", zone="America/Denver", lead=cast.lead)


def titles(desk: Desk) -> list[str]:
    """What stands for the desk now."""
    return [row.title for row in standing_for(desk, business_now())]


def test_p26_a_condition_is_on_every_sheet_until_it_is_closed(cast: Cast) -> None:
    """Four days and eight shifts later it is still there: the override nobody forgets."""
    at_business_time(EVENING)
    condition = opened(cast, sort="override", title=PHONE)
    for _ in range(8):
        move_business_clock(by=timedelta(hours=12))
        assert titles(cast.desk) == [PHONE]
    opened_at = condition.opened_at
    close(cast, condition, "They have an address again")
    move_business_clock(by=timedelta(minutes=1))
    assert titles(cast.desk) == []
    (then,) = standing_for(cast.desk, opened_at + timedelta(days=1))
    assert (then.closed_by, then.closed_reason) == ("Alex Stone", "They have an address again")


def test_p26_a_condition_of_one_desk_is_no_other_desks(cast: Cast) -> None:
    other = another_desk(cast)
    opened(cast, title="Here", desk=cast.desk)
    opened(cast, title="Everywhere")
    assert (titles(cast.desk), titles(other)) == (["Here", "Everywhere"], ["Everywhere"])


def test_p26_a_pause_stands_in_the_list_without_being_entered_twice(cast: Cast) -> None:
    pause = pauses.set_pause(
        lane="execution", kind="", agent="", reason="Storm", by=cast.lead, at=business_now()
    )
    (row,) = standing_for(cast.desk, business_now())
    assert (row.is_pause, row.title, row.detail) == (True, "execution", "Storm")
    pauses.lift_pause(pause_id=pause.pk, reason="Over", by=cast.lead, at=business_now())
    move_business_clock(by=timedelta(seconds=1))
    assert titles(cast.desk) == []


@pytest.mark.parametrize("who", ["owner", "auditor", "gone"])
def test_p31_only_leads_and_admins_open_and_close_conditions(cast: Cast, who: str) -> None:
    """Everyone else is refused with a sentence, and the house keeps that they tried."""
    condition = opened(cast)
    with pytest.raises(Refused, match="Ask a lead or an admin"):
        conditions.close_condition(
            condition_id=condition.pk, reason="x", by=getattr(cast, who), at=business_now()
        )
    condition.refresh_from_db()
    assert condition.closed_at is None
    events = AuditEvent.objects.filter(case_id=0, event__startswith="condition").order_by(
        "sequence"
    )
    assert [row.event for row in events] == ["condition_opened", "condition_refused"]


def test_p31_a_condition_is_closed_once_with_a_reason(cast: Cast) -> None:
    condition = opened(cast)
    with pytest.raises(InvalidInput):
        close(cast, condition, " ")
    close(cast, condition)
    with pytest.raises(Conflict, match="Alex Stone closed this condition"):
        close(cast, condition)


@pytest.mark.parametrize(
    "wanted", [{"title": " "}, {"sort": "mood"}, {"system": "trnsport"}, {"title": "x" * 201}]
)
def test_a_condition_that_cannot_be_meant_is_refused(cast: Cast, wanted: dict[str, str]) -> None:
    """A misspelt system would stop nothing, and be believed."""
    a_case_waiting_for_review(cast)
    with pytest.raises(InvalidInput):
        opened(cast, **wanted)
    assert not StandingCondition.objects.exists()


def test_p21_nothing_is_released_while_a_condition_stops_it(cast: Cast) -> None:
    """The refusal names the condition; rejecting still works, and closing opens the way."""
    case = a_case_waiting_for_review(cast)
    condition = opened(cast, blocks_releases=True)
    with pytest.raises(DecisionRefused, match="TMS at 96 % disk") as refusal:
        decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())
    assert refusal.value.reason_code == "held"
    assert audit_of(case)[-1].data["reason_code"] == "held"
    assert current_proposal(case).state == "ready"
    close(cast, condition)
    decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())
    assert stage_of(case) == "executing"


def test_p21_a_proposal_can_be_sent_back_while_releases_are_stopped(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    opened(cast, blocks_releases=True)
    answer = an_answer(case, reason="Another carrier")
    decisions.send_back(answer=answer, by=cast.owner, at=business_now())
    assert current_proposal(case).state == "sent_back"


SCOPES = [
    ({}, True),
    ({"system": "transport"}, True),
    ({"system": "visibility"}, False),
    ({"blocks_releases": False}, False),
]


@pytest.mark.parametrize(("scope", "stops"), SCOPES)
def test_p21_a_condition_stops_exactly_the_cases_it_is_about(
    cast: Cast, scope: dict[str, object], stops: bool
) -> None:
    """Claim, decision and attempt ask the same question."""
    case = a_released_case(cast)
    StandingCondition.objects.create(
        **{"blocks_releases": True, **scope},
        sort="connector",
        title="x",
        opened_by="x",
        opened_at=business_now(),
    )
    assert (StandingCondition.objects.holding(case).first() is not None) is stops
    due = [found.case_id for found in runs.nudge_due(agent=AGENT, limit=10)]
    assert (due == []) is stops
    claimed = runs.claim(case_id=case.pk, agent=AGENT, worker="w", lease=LEASE)
    assert (claimed is None) is stops


def test_p21_another_desks_condition_stops_nothing_here(cast: Cast) -> None:
    case = a_released_case(cast)
    opened(cast, desk=another_desk(cast), blocks_releases=True)
    assert runs.claim(case_id=case.pk, agent=AGENT, worker="w", lease=LEASE) is not None


def ready_to_act(cast: Cast) -> tuple[Case, Grant, int]:
    """A worker that just read the facts and found that the release holds."""
    case = a_released_case(cast)
    grant = a_grant(case)
    evidence.record_readings(grant=grant, by=AGENT, readings=EVENING_WORLD, asked_at=business_now())
    assert effects.clear_to_act(grant=grant, by=AGENT)
    effect = Effect.objects.order_by("id").first()
    assert effect is not None
    return case, grant, effect.pk


def test_p21_a_condition_opened_during_a_visit_stops_the_attempt(cast: Cast) -> None:
    """Facts were just read and hold; nothing begins all the same, and the visit ends."""
    _, grant, effect_id = ready_to_act(cast)
    opened(cast, blocks_releases=True)
    begun = effects.begin_attempt(
        grant=grant, by=AGENT, effect_id=effect_id, capabilities=TRANSPORT
    )
    assert begun is None
    assert Attempt.objects.count() == 0
    with pytest.raises(CallsPaused, match="TMS at 96 % disk"):
        runs.renew(grant=grant, agent=AGENT, lease=LEASE)
    with pytest.raises(CallsPaused, match="TMS at 96 % disk"):
        runs.permit_call(grant=grant, agent=AGENT, lease=LEASE)


def test_p21_what_was_released_goes_on_when_the_condition_is_closed(cast: Cast) -> None:
    """Nobody releases again."""
    case = a_released_case(cast)
    condition = opened(cast, blocks_releases=True)
    assert runs.claim(case_id=case.pk, agent=AGENT, worker="w", lease=LEASE) is None
    close(cast, condition)
    _, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None


def test_p21_facts_are_checked_anew_after_a_condition(cast: Cast) -> None:
    """The window moved meanwhile: the remembered release is stale, nothing begins."""
    case = a_released_case(cast)
    condition = opened(cast, blocks_releases=True)
    close(cast, condition)
    moved = (a_shipment(42, delivery_window=TWO_O_CLOCK), a_quote())
    _, order = agent_starts_attempt(case, moved)
    assert order is None
    assert current_proposal(case).state == "stale"
    assert Attempt.objects.count() == 0


def test_p21_a_call_of_unknown_outcome_is_not_repeated_under_a_condition(cast: Cast) -> None:
    """The repeat is a call like any other: it waits, and is made when the condition is closed."""
    blind = replace(TRANSPORT, lookup_by_reference=False)
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    target_answers(grant, order, CallOutcome.UNKNOWN)
    move_business_clock(by=blind.consistency_window + timedelta(seconds=1))
    look = TargetLook(effect_id=order.effect.effect_id, found=False, searchable=False)
    assert read_backs.record_looks(grant=grant, by=AGENT, looks=[look], capabilities=blind)
    condition = opened(cast, blocks_releases=True)
    assert repeats.begin_repeat(grant=grant, by=AGENT, capabilities=blind) is None
    close(cast, condition)
    again = repeats.begin_repeat(grant=grant, by=AGENT, capabilities=blind)
    assert again is not None
    assert again.effect.key == order.effect.key

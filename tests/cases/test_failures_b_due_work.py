"""Failures B2, B4 and B8: work that kills its worker, work nobody takes, boundaries nobody saw."""

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import DatabaseError
from django.test import Client

from agent.celery import SWEEP_SECONDS, app
from cases.actions import closing, pauses, roster, runs
from cases.actions.boundaries import boundary_after
from cases.actions.clock import move_business_clock
from cases.actions.people import register_agent
from cases.clock import business_now
from cases.models import Case, Desk, Run
from cases.queries import health
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.lanes import Lane
from cases.vocabulary.shifts import EVERY_DAY, ShiftStart
from cases.vocabulary.work import Grant
from tests.cases.builders import (
    AGENT,
    LEASE,
    Cast,
    a_case_waiting_for_review,
    a_released_case,
    an_open_case,
    at_business_time,
    audit_of,
    stage_of,
)

A_MOMENT = timedelta(seconds=1)


def claim(case: Case) -> Grant | None:
    """One try to claim."""
    return runs.claim(case_id=case.pk, agent=AGENT, worker="w", lease=LEASE)


def lose_visits(case: Case, times: int) -> None:
    """So many workers claim the case and never come back."""
    for _ in range(times):
        assert claim(case) is not None
        move_business_clock(by=LEASE + A_MOMENT)


def test_b02_work_that_kills_its_worker_five_times_is_parked_with_owner_and_reason(
    cast: Cast,
) -> None:
    """The sixth worker is spared; others of its cases are not touched by it."""
    deadly, other = an_open_case(cast), an_open_case(cast, subject="S-319")
    lose_visits(deadly, 5)
    assert claim(deadly) is None
    deadly.refresh_from_db()
    assert (deadly.stage, deadly.owner) == ("blocked", cast.owner)
    assert deadly.blocked_reason.startswith("5 visits in a row never came back")
    assert audit_of(deadly)[-1].event == "case_blocked"
    move_business_clock(by=timedelta(minutes=11))
    assert claim(deadly) is None, "not tried again by itself before the next shift"
    assert claim(other) is not None


def test_b02_a_person_or_the_next_shift_has_a_parked_case_tried_again(cast: Cast) -> None:
    """Whoever looked into it asks; and nothing stays parked unseen for ever."""
    case = an_open_case(cast)
    lose_visits(case, 5)
    assert claim(case) is None
    case.refresh_from_db()
    assert case.next_try_at == Run.objects.get(case=case).due_at
    closing.refresh_now(case_id=case.pk, by=cast.owner, at=business_now())
    assert claim(case) is not None
    assert Run.objects.get(case=case).lost_visits == 0


def test_b02_visits_that_come_back_do_not_add_up(cast: Cast) -> None:
    """Four dead workers, one that comes back, four dead ones again: it is still tried."""
    case = an_open_case(cast)
    lose_visits(case, 4)
    grant = claim(case)
    assert grant is not None
    runs.let_go(grant=grant)
    lose_visits(case, 4)
    assert claim(case) is not None


def test_b04_health_turns_red_when_due_work_is_left_and_green_when_it_is_taken(
    cast: Cast, client: Client
) -> None:
    """A worker that lives and takes nothing looks well to its supervisor, not to the record."""
    case = an_open_case(cast)
    assert client.get("/healthz").status_code == 200
    move_business_clock(by=health.PATIENCE + A_MOMENT)
    unswept = client.get("/healthz")
    assert (unswept.status_code, unswept.json()["waiting"]) == (503, 1)
    assert "no sweep has run" in unswept.json()["words"]
    assert [due.case_id for due in runs.nudge_due(agent=AGENT, limit=9)] == [case.pk]
    assert "no worker takes it" in client.get("/healthz").json()["words"]
    assert claim(case) is not None
    assert client.get("/healthz").json() == {
        "ok": True,
        "words": "Due work is being taken.",
        "waiting": 0,
    }


@pytest.mark.parametrize("scope", [("", ""), ("planning", ""), ("", "freight_exception")])
def test_b04_what_a_person_paused_is_not_ill(cast: Cast, scope: tuple[str, str]) -> None:
    """But a pause of one lane says nothing about work in another."""
    an_open_case(cast)
    move_business_clock(by=health.PATIENCE + A_MOMENT)
    at = business_now()
    pauses.set_pause(lane="refresh", kind="", agent="", reason="Night", by=cast.lead, at=at)
    assert not health.health().is_well
    lane, kind = scope
    pauses.set_pause(lane=lane, kind=kind, agent="", reason="Night", by=cast.lead, at=at)
    assert health.health().is_well


def test_b04_a_record_that_cannot_be_read_is_red_in_words(
    cast: Cast, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database is away: 503 and a sentence, not a page about an error."""

    def away() -> datetime:
        raise DatabaseError("connection refused")

    monkeypatch.setattr(health, "business_now", away)
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()["words"]) == (503, "The record cannot be read.")


CLOCK_CHANGES = {
    "spring in Chicago": ("America/Chicago", datetime(2026, 3, 7)),
    "autumn in Chicago": ("America/Chicago", datetime(2026, 10, 31)),
    "half an hour on Lord Howe": ("Australia/Lord_Howe", datetime(2026, 10, 3)),
}


@pytest.mark.parametrize(("zone", "first"), CLOCK_CHANGES.values(), ids=CLOCK_CHANGES.keys())
def test_b08_over_a_clock_change_a_case_is_due_once_per_shift(
    cast: Cast, zone: str, first: datetime
) -> None:
    """What is due is an instant made from the one before it: no shift is skipped or seen twice."""
    case = a_case_waiting_for_review(cast)
    Desk.objects.update(zone=zone)
    starts = [
        ShiftStart(name="Early", at=time(1, 30), days=EVERY_DAY),
        ShiftStart(name="Late", at=time(2, 30), days=EVERY_DAY),
        ShiftStart(name="Day", at=time(17), days=EVERY_DAY),
    ]
    roster.set_shifts(desk=cast.desk, starts=starts, by=cast.lead, at=business_now())
    case = Case.objects.get(pk=case.pk)
    moment = first.replace(tzinfo=ZoneInfo(zone))
    end = moment + timedelta(days=3)  # three local days, whatever the clock does
    due = []
    while (moment := boundary_after(case, moment)) < end:
        due.append(moment)
    assert len(due) == len(set(due)) == 9


def test_b08_a_boundary_at_which_nobody_worked_is_caught_up_by_the_next_sweep(cast: Cast) -> None:
    """Beat asks every second what is due; it has nothing about shifts that could be missed."""
    case = a_case_waiting_for_review(cast)
    due_at = Run.objects.get(case=case).due_at
    assert due_at is not None
    at_business_time(due_at - A_MOMENT)
    assert list(runs.nudge_due(agent=AGENT, limit=9)) == []
    at_business_time(due_at + timedelta(hours=5))
    assert [due.case_id for due in runs.nudge_due(agent=AGENT, limit=9)] == [case.pk]
    assert stage_of(case) == "waiting_for_review"
    assert app.conf.beat_schedule["sweep"]["schedule"] == SWEEP_SECONDS
    assert app.conf.enable_utc


def test_b04_a_pause_of_one_agent_does_not_make_the_others_idleness_well(cast: Cast) -> None:
    """Only what is paused for every agent is nobody's fault."""
    an_open_case(cast)
    register_agent(name="other", version="1", owner=cast.lead, by=SYSTEM, at=business_now())
    move_business_clock(by=health.PATIENCE + A_MOMENT)
    for agent, is_well in (("other", False), ("exception-bot", False), ("", True)):
        pauses.set_pause(
            lane="", kind="", agent=agent, reason="Night", by=cast.lead, at=business_now()
        )
        assert health.health().is_well is is_well


def test_b12_what_was_never_named_comes_before_what_was(cast: Cast) -> None:
    """However much is due and untaken, each is named in turn."""
    cases = [an_open_case(cast, subject=f"S-{number}").pk for number in (318, 319, 320)]
    named = [runs.nudge_due(agent=AGENT, limit=1)[0].case_id for _ in cases]
    assert sorted(named) == cases


def test_b12_a_lane_is_asked_for_its_own_work(cast: Cast) -> None:
    """A release is found however many plans are due."""
    released = a_released_case(cast)
    planned = an_open_case(cast, subject="S-319")
    found = {
        lane: [due.case_id for due in runs.nudge_due(agent=AGENT, limit=9, lane=lane)]
        for lane in Lane
    }
    assert found[Lane.PLANNING] == [planned.pk]
    assert found[Lane.EXECUTION] == [released.pk]

"""Group A of docs/failures.md on the real record: agent, record and checkpoints stay one."""

import pytest
from django.db import transaction
from django.test import Client
from pytest_django import Settings
from structlog.testing import capture_logs

from agent.checkpoints import PostgresCheckpoints
from agent.desk import RecordDesk
from agent.planner.rules import RulePlanner
from agent.retention import forget_what_is_over
from agent.runner import Runner, Visit, thread_of
from cases.actions import decisions
from cases.clock import business_now
from cases.models import AuditEvent, Case, Effect, Run
from cases.vocabulary.errors import InvalidInput
from tests.agent.world import World
from tests.cases.builders import (
    EVENING,
    Cast,
    a_cast,
    a_person_closes,
    an_answer,
    an_open_case,
    at_business_time,
)


@pytest.fixture
def cast(db: None, settings: Settings) -> Cast:
    """The people and the desk, at 17:00."""
    settings.MOVABLE_CLOCK = True
    people = a_cast()
    at_business_time(EVENING)
    return people


@pytest.fixture
def world() -> World:
    """A transport system that tells the same of every shipment."""
    return World()


def a_worker(world: World, checkpoints: PostgresCheckpoints) -> Runner:
    """A new process with the real door, graph and checkpoints."""
    return Runner(
        desk=RecordDesk(agent_name="exception-bot", agent_version="1.0"),
        source=world,
        planner=RulePlanner(),
        checkpoints=checkpoints,
        worker="test",
    )


def released(cast: Cast, worker: Runner, *, subject: str = "S-318") -> Case:
    """A case whose first proposal was just released."""
    case = an_open_case(cast, subject=subject)
    assert worker.advance(case_id=case.pk) is Visit.PAUSED
    decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())
    case.refresh_from_db()
    return case


def test_a12_inside_a_transaction_that_may_be_undone_no_call_is_made(
    cast: Cast, world: World, checkpoints: PostgresCheckpoints
) -> None:
    worker = a_worker(world, checkpoints)
    case = released(cast, worker)
    with transaction.atomic(), capture_logs() as logged:
        assert worker.advance(case_id=case.pk) is Visit.FAILED
        transaction.set_rollback(True)
    assert "visit_failed" in {entry["event"] for entry in logged}
    assert world.ledger == []
    assert not any(call.startswith("perform") for call in world.calls)
    assert worker.advance(case_id=case.pk) is Visit.PAUSED
    case.refresh_from_db()
    assert case.stage == "waiting_for_acceptance"
    assert [effect.state for effect in Effect.objects.all()] == ["adopted", "adopted"]
    assert len(world.ledger) == 2


def test_a12_a_checkpoint_that_went_on_without_the_record_is_led_back_by_it(
    cast: Cast, world: World, checkpoints: PostgresCheckpoints
) -> None:
    """The record is restored to before the visit; the checkpoint tells of a proposal."""
    worker = a_worker(world, checkpoints)
    case = an_open_case(cast)
    before = transaction.savepoint_create()
    assert worker.advance(case_id=case.pk) is Visit.PAUSED
    transaction.savepoint_rollback(before)
    assert case.proposals.count() == 0
    assert worker.advance(case_id=case.pk) is Visit.PAUSED
    assert [proposal.state for proposal in case.proposals.all()] == ["ready"]


def test_a16_retention_forgets_where_closed_cases_were_and_nothing_of_what_they_were(
    cast: Cast, world: World, checkpoints: PostgresCheckpoints
) -> None:
    worker = a_worker(world, checkpoints)
    waiting, over = an_open_case(cast), an_open_case(cast, subject="S-319")
    for case in (waiting, over):
        worker.advance(case_id=case.pk)
    a_person_closes(over, by=cast.lead)
    told = AuditEvent.objects.count()
    assert forget_what_is_over(desk=worker.desk, checkpoints=checkpoints) == 1
    assert forget_what_is_over(desk=worker.desk, checkpoints=checkpoints) == 0
    assert checkpoints.threads() == {thread_of(waiting.pk)}
    assert AuditEvent.objects.count() == told
    assert worker.advance(case_id=over.pk) is Visit.CLOSED
    assert worker.advance(case_id=over.pk) is Visit.NOT_CLAIMED
    assert checkpoints.threads() == {thread_of(waiting.pk)}


REFERENCES = ["S", "S-" + "3" * 62, "S/318/../1?x=%20#'\"; --" + "\N{DELIVERY TRUCK}" * 277]


@pytest.mark.parametrize("subject", REFERENCES)
def test_a23_a_long_or_odd_reference_opens_a_case_that_works(
    cast: Cast, world: World, checkpoints: PostgresCheckpoints, subject: str
) -> None:
    assert len(subject) in {1, 64, 300}
    worker = a_worker(world, checkpoints)
    case = released(cast, worker, subject=subject)
    assert worker.advance(case_id=case.pk) is Visit.PAUSED
    case.refresh_from_db()
    assert (case.stage, len(world.ledger)) == ("waiting_for_acceptance", 2)
    client = Client()
    client.force_login(cast.owner)
    for page in ("/", f"/cases/{case.pk}/"):
        assert client.get(page).status_code == 200


UNUSABLE = ["", " ", "S" * 301, "S\n318", "S\x00", "S\ud800", "S\u202e318"]


@pytest.mark.parametrize("subject", UNUSABLE)
def test_a23_what_cannot_be_kept_or_shown_is_refused_at_intake(cast: Cast, subject: str) -> None:
    with pytest.raises(InvalidInput, match="1 to 300 printable characters"):
        an_open_case(cast, subject=subject)
    assert Case.objects.count() == 0


def test_a09_a_case_is_never_accepted_without_the_row_that_says_work_is_due(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed, or broken, between the case and its run: neither is there."""

    def breaks(**_: object) -> None:
        raise OSError("the process ends here")

    monkeypatch.setattr(Run.objects, "create", breaks)
    with pytest.raises(OSError, match="ends here"):
        an_open_case(cast)
    assert Case.objects.count() == 0
    assert AuditEvent.objects.filter(event="case_opened").count() == 0

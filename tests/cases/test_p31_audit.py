"""P31: every change is an audit event in the same transaction, and stays as written."""

from typing import Any

import pytest
from django.db import InternalError, ProgrammingError, connection, transaction

from cases import audit
from cases.actions import decisions
from cases.actions.batch import changing_many
from cases.actions.change import UnauditedChange, changing
from cases.clock import business_now
from cases.models import AuditEvent, Case, Decision, Effect
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.errors import NotInTransaction
from tests.cases.builders import (
    Cast,
    a_case_waiting_for_review,
    a_released_case,
    an_answer,
    an_open_case,
    audit_of,
    events_of,
    stage_of,
)


def test_p31_a_release_leaves_who_what_and_on_which_basis(cast: Cast) -> None:
    """The event names the person, the version, the digest and the case version they saw."""
    case = a_released_case(cast)
    released = next(row for row in audit_of(case) if row.event == "released")
    assert (released.actor_kind, released.actor_name) == ("person", "Marta Ortega")
    assert released.data["number"] == 1
    assert released.data["digest"] == case.proposals.get(number=1).digest
    assert released.data["seen_case_version"] > 0


def test_p31_when_the_audit_cannot_be_written_nothing_happens(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change and its audit row commit together or not at all."""
    case = a_case_waiting_for_review(cast)

    def fails(**_: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(audit, "append", fails)
    with pytest.raises(OSError):
        decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())
    assert (Decision.objects.count(), Effect.objects.count()) == (0, 0)
    assert stage_of(case) == "waiting_for_review"


def test_p31_an_action_that_says_nothing_to_the_audit_is_rolled_back(cast: Cast) -> None:
    """A forgotten audit call is found by the frame, not by an auditor."""
    case = a_case_waiting_for_review(cast)
    with (
        pytest.raises(UnauditedChange),
        changing(case_id=case.pk, by=SYSTEM, at=business_now()) as change,
    ):
        change.case.title = "Something else"
    assert Case.objects.get(pk=case.pk).title == "Carrier fell off"


def test_p31_of_many_cases_only_the_one_that_says_nothing_to_the_audit_is_left_out(
    cast: Cast,
) -> None:
    """Written together, they do not fail together."""
    silent, told = (an_open_case(cast, subject=subject) for subject in ("S-318", "S-319"))
    with (
        transaction.atomic(),
        changing_many(cases=[silent, told], by=SYSTEM, at=business_now()) as batch,
    ):
        for case in (silent, told):
            with batch.changing(case=case, run=case.run, rest_until=None) as change:
                change.due(None, reason="")
                case.stage_reason = "Something else"
                if case is told:
                    change.record("noted", reason="Something else")
    assert batch.failed == [silent.pk]
    assert [
        (case.stage_reason, case.version)
        for case in Case.objects.filter(pk__in=(silent.pk, told.pk)).order_by("pk")
    ] == [("", 1), ("Something else", 2)]


@pytest.mark.parametrize(
    "statement", ["UPDATE cases_auditevent SET event = 'x'", "DELETE FROM cases_auditevent"]
)
def test_p31_the_database_refuses_to_change_history(cast: Cast, statement: str) -> None:
    """Not the code, the database: plain SQL is refused too."""
    case = a_released_case(cast)
    before = events_of(case)
    with (
        pytest.raises((InternalError, ProgrammingError), match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    assert events_of(case) == before


def test_p31_the_chain_of_a_case_is_unbroken_and_shows_an_altered_row(cast: Cast) -> None:
    """Someone with the power to drop the trigger is still found out."""
    case = a_released_case(cast)
    assert audit.broken_links(audit_of(case)) == []
    victim = audit_of(case)[3]
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE cases_auditevent DISABLE TRIGGER audit_is_append_only")
        cursor.execute(
            "UPDATE cases_auditevent SET actor_name = 'Nobody' WHERE id = %s", [victim.pk]
        )
        cursor.execute("ALTER TABLE cases_auditevent ENABLE TRIGGER audit_is_append_only")
    assert audit.broken_links(audit_of(case)) == [victim.sequence]


def test_p31_a_missing_row_in_the_middle_is_found(cast: Cast) -> None:
    """A gap breaks the chain at the row after it."""
    rows = audit_of(a_released_case(cast))
    assert audit.broken_links([*rows[:2], *rows[3:]]) == [rows[3].sequence]


@pytest.mark.django_db(transaction=True)
def test_p31_an_event_outside_a_transaction_is_refused(cast: Cast) -> None:
    """An event without its change would be a claim without a fact."""
    case = a_case_waiting_for_review(cast)
    count = AuditEvent.objects.count()
    with pytest.raises(NotInTransaction):
        audit.append(case=case, by=SYSTEM, at=business_now(), event="x", data={})
    assert AuditEvent.objects.count() == count

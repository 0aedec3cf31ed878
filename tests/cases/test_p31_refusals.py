"""What people may not do is refused in words, kept in the audit, and leaves the case as it was."""

from collections.abc import Callable

import pytest
from django.db import connection, transaction

from cases.actions import closing, decisions, ownership, planning
from cases.clock import business_now
from cases.models import Case
from cases.vocabulary.errors import Conflict, DecisionRefused, InvalidInput, Refused
from tests.cases.builders import (
    AGENT,
    Cast,
    a_case_waiting_for_review,
    a_grant,
    a_person_closes,
    an_answer,
    audit_of,
    events_of,
    stage_of,
)

ACTS: dict[str, Callable[[Case, Cast], None]] = {
    "take": lambda case, cast: ownership.take_case(
        case_id=case.pk, by=cast.auditor, at=business_now()
    ),
    "assign": lambda case, cast: ownership.assign_case(
        case_id=case.pk, to=cast.gone, by=cast.lead, at=business_now()
    ),
    "close": lambda case, cast: closing.close_without_action(
        case_id=case.pk, by=cast.admin, at=business_now(), reason="x"
    ),
    "plan": lambda case, cast: closing.ask_for_plan(
        case_id=case.pk, by=cast.auditor, at=business_now(), reason="x"
    ),
    "refresh": lambda case, cast: closing.refresh_now(
        case_id=case.pk, by=cast.auditor, at=business_now()
    ),
    "accept": lambda case, cast: closing.accept_outcome(
        case_id=case.pk, by=cast.owner, at=business_now()
    ),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS.keys())
def test_p31_every_refused_act_is_kept_and_leaves_the_version(
    cast: Cast, act: Callable[[Case, Cast], None]
) -> None:
    """Who tried what, and why it did not count; other people's open pages stay current."""
    case = a_case_waiting_for_review(cast)
    with pytest.raises((Refused, Conflict)) as refusal:
        act(case, cast)
    kept = audit_of(case)[-1]
    assert (kept.event, kept.data["reason"]) == ("act_refused", str(refusal.value))
    assert Case.objects.get(pk=case.pk).version == case.version


def test_p31_a_refused_decision_leaves_the_version(cast: Cast) -> None:
    """An auditor's attempt does not make every open tab say that the case changed."""
    case = a_case_waiting_for_review(cast)
    with pytest.raises(Refused):
        decisions.release(answer=an_answer(case), by=cast.auditor, at=business_now())
    assert Case.objects.get(pk=case.pk).version == case.version


def test_a_closed_case_keeps_who_closed_it_and_changes_no_more(cast: Cast) -> None:
    """The second person is told who was first; the agent's late write is refused too."""
    case = a_case_waiting_for_review(cast)
    grant = a_grant(case)
    a_person_closes(case, by=cast.owner)
    with pytest.raises(Conflict, match="Marta Ortega closed this case"):
        closing.close_without_action(
            case_id=case.pk, by=cast.colleague, at=business_now(), reason="Me too"
        )
    with pytest.raises(Conflict, match="closed this case"):
        ownership.take_case(case_id=case.pk, by=cast.colleague, at=business_now())
    with pytest.raises(Conflict, match="closed this case"):
        planning.ask_for_plan(grant=grant, by=AGENT, planner="rules@1")
    case.refresh_from_db()
    assert case.closed_by == "Marta Ortega"
    assert events_of(case).count("case_closed") == 1


def test_a_note_that_is_too_long_is_refused_and_not_cut(cast: Cast) -> None:
    """Nothing typed is lost silently."""
    case = a_case_waiting_for_review(cast)
    with pytest.raises(InvalidInput):
        closing.accept_outcome(case_id=case.pk, by=cast.owner, at=business_now(), note="x" * 2001)


def test_one_form_cannot_decide_two_cases(cast: Cast) -> None:
    """The nonce belongs to one showing of one form."""
    first = a_case_waiting_for_review(cast)
    second = a_case_waiting_for_review(cast, subject="S-319")
    answer = an_answer(first)
    decisions.release(answer=answer, by=cast.owner, at=business_now())
    with pytest.raises(DecisionRefused):
        decisions.release(
            answer=an_answer(second, nonce=answer.nonce), by=cast.owner, at=business_now()
        )
    assert stage_of(second) == "waiting_for_review"


def test_a_process_frozen_inside_a_transaction_cannot_keep_a_case(cast: Cast) -> None:
    """The database itself ends such a transaction, and a wait for a lock, in bounded time."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SHOW idle_in_transaction_session_timeout")
        assert cursor.fetchone() == ("20s",)
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("5s",)

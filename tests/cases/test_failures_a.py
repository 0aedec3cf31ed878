"""Group A of docs/failures.md at the door for answers: each counts for its own question, once."""

import json
from dataclasses import replace
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from cases.actions import decisions
from cases.clock import business_now
from cases.models import Effect, Proposal
from cases.vocabulary.errors import DecisionRefused
from tests.cases.builders import (
    Cast,
    a_case_waiting_for_review,
    an_answer,
    audit_of,
    current_proposal,
    decisions_of,
    stage_of,
)


def test_a01_two_open_questions_answered_in_the_other_order_each_get_their_own_answer(
    cast: Cast,
) -> None:
    first = a_case_waiting_for_review(cast)
    second = a_case_waiting_for_review(cast, subject="S-319")
    no = an_answer(second, reason="The customer wants to wait.")
    decisions.reject(answer=no, by=cast.owner, at=business_now())
    decisions.release(answer=an_answer(first), by=cast.owner, at=business_now())
    assert (decisions_of(first), decisions_of(second)) == (["release"], ["reject"])
    assert set(Effect.objects.values_list("decision__case", flat=True)) == {first.pk}
    told = {
        case.pk: [row.data.get("digest") for row in audit_of(case) if row.event == "released"]
        for case in (first, second)
    }
    assert told == {first.pk: [current_proposal(first).digest], second.pk: []}


def test_a01_one_case_never_has_two_open_questions(cast: Cast) -> None:
    ready = current_proposal(a_case_waiting_for_review(cast))
    another = Proposal.objects.get(pk=ready.pk)
    another.pk, another.number = None, ready.number + 1
    with pytest.raises(IntegrityError, match="one_ready_proposal_per_case"), transaction.atomic():
        another.save(force_insert=True)


NO_ANSWERS = [{}, None, False, "", {"approved": False}, {"approved": "false"}, {"approved": 0}]


@pytest.mark.parametrize("body", NO_ANSWERS)
def test_a03_nothing_that_is_no_answer_has_an_effect_or_breaks_a_page(
    cast: Cast, body: object
) -> None:
    case = a_case_waiting_for_review(cast)
    client = Client()
    client.force_login(cast.owner)
    address = f"/cases/{case.pk}/decide/"
    as_json = client.post(address, json.dumps(body), content_type="application/json")
    as_form = client.post(address, {"kind": "release", "digest": json.dumps(body)})
    assert (as_json.status_code, as_form.status_code) == (422, 422)
    assert decisions_of(case) == []
    assert Effect.objects.count() == 0
    assert stage_of(case) == "waiting_for_review"


def test_a04_after_an_answer_that_did_not_count_exactly_one_valid_answer_is_accepted(
    cast: Cast,
) -> None:
    case = a_case_waiting_for_review(cast)
    wrong = an_answer(case, digest="0" * 64)
    for _ in range(2):
        with pytest.raises(DecisionRefused):
            decisions.release(
                answer=replace(wrong, nonce=uuid4()), by=cast.owner, at=business_now()
            )
        assert case.proposals.filter(state=Proposal.State.READY).count() == 1
    right = an_answer(case)
    for _ in range(2):
        decisions.release(answer=right, by=cast.owner, at=business_now())
    assert decisions_of(case) == ["release"]
    told = [row.event for row in audit_of(case)]
    assert (told.count("decision_refused"), told.count("released")) == (2, 1)
    assert Effect.objects.count() == 2

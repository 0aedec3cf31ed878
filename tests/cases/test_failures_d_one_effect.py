"""Failures D3, D5 and D9: keys made of words, leases by a host's clock, approving A and doing B."""

import ast
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from cases.actions import decisions, runs
from cases.actions.clock import move_business_clock
from cases.clock import business_now
from cases.models import Attempt, Case, Effect, Proposal, ProposedAction
from cases.vocabulary.errors import LeaseLost
from cases.vocabulary.work import CallOutcome
from tests.cases.builders import (
    AGENT,
    EVENING_WORLD,
    LEASE,
    MORNING_WORLD,
    TWO_O_CLOCK,
    Cast,
    a_grant,
    a_released_case,
    agent_reads,
    agent_starts_attempt,
    an_answer,
    stage_of,
    target_answers,
)
from tools.paths import ROOT


def keys_of(case: Case) -> list[tuple[str, str]]:
    """Idempotency key and reference of every effect of the case, in order."""
    effects = Effect.objects.filter(decision__case=case).order_by("decision_id", "id")
    return [(str(effect.key), effect.reference) for effect in effects]


def test_d03_every_try_of_an_effect_has_one_key_and_one_reference(cast: Cast) -> None:
    """The key was made with the release: neither the time nor anybody's words are in it."""
    case = a_released_case(cast)
    before = keys_of(case)
    grant, first = agent_starts_attempt(case, EVENING_WORLD)
    assert first is not None
    target_answers(grant, first, CallOutcome.NOT_SENT)
    Proposal.objects.update(summary="The same, told in other words.")
    _, second = agent_starts_attempt(case, EVENING_WORLD)
    assert second is not None
    assert second.attempt_id != first.attempt_id
    assert (second.effect.key, second.effect.reference) == (
        first.effect.key,
        first.effect.reference,
    )
    assert keys_of(case) == before


def test_d03_another_release_has_other_keys(cast: Cast) -> None:
    """Another carrier is another effect; the first release ends before a second can be made."""
    case = a_released_case(cast)
    old = keys_of(case)
    assert agent_starts_attempt(case, MORNING_WORLD)[1] is None
    agent_reads(case, MORNING_WORLD)
    case.refresh_from_db()
    decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())
    new = keys_of(case)[len(old) :]
    assert new
    assert not {part for pair in old for part in pair} & {part for pair in new for part in pair}
    assert set(Effect.objects.filter(decision__proposal__number=1).values_list("state")) == {
        ("not_needed",)
    }


HOST_CLOCKS = {("datetime", "now"), ("datetime", "utcnow"), ("timezone", "now"), ("time", "time")}


def clock_reads(path: Path) -> Iterator[str]:
    """Places where a module asks the host what time it is."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and (node.value.id, node.attr) in HOST_CLOCKS
        ):
            yield f"{path.relative_to(ROOT)}:{node.lineno}"


def test_d05_nothing_in_the_record_or_the_agent_asks_a_hosts_clock() -> None:
    """A host may be ten minutes off: it is never asked, so that cannot matter."""
    modules = [
        path
        for package in ("cases", "agent")
        for path in (ROOT / package).rglob("*.py")
        if "migrations" not in path.parts
    ]
    assert len(modules) > 50
    assert [place for path in modules for place in clock_reads(path)] == []


def test_d05_there_is_no_second_holder_before_the_databases_time_is_over(cast: Cast) -> None:
    """Up to the last moment nobody else, after it the next one, by one clock for both."""
    case = a_released_case(cast)
    first = a_grant(case, worker="first")

    def second() -> object:
        return runs.claim(case_id=case.pk, agent=AGENT, worker="second", lease=LEASE)

    left = first.lease_until - business_now()
    move_business_clock(by=left - timedelta(seconds=2))
    assert second() is None
    move_business_clock(by=timedelta(seconds=3))
    with pytest.raises(LeaseLost):
        runs.keep_alive(grant=first, lease=LEASE)
    assert second() is not None


def changed(position: int, name: str, value: Any) -> Any:
    """Somebody with access to the database changes a parameter of a released action."""

    def change(case: Case) -> None:
        row = ProposedAction.objects.get(proposal__case=case, position=position)
        assert row.parameters[name] != value
        row.parameters = {**row.parameters, name: value}
        row.save()

    return change


def another_subject(case: Case) -> None:
    """The case is about another shipment all of a sudden."""
    Case.objects.filter(pk=case.pk).update(subject="S-319")


def an_action_more(case: Case) -> None:
    """A second message that nobody read."""
    extra = ProposedAction.objects.get(proposal__case=case, position=2)
    extra.pk, extra.position = None, 3
    extra.save(force_insert=True)


def longer_validity(case: Case) -> None:
    """The rate is said to hold for a day more."""
    proposal = Proposal.objects.get(case=case)
    assert proposal.valid_until is not None
    proposal.valid_until += timedelta(days=1)
    proposal.save()


def fewer_facts(case: Case) -> None:
    """Nothing is material any more."""
    Proposal.objects.filter(case=case).update(facts=[])


SWAPS = {
    "carrier": changed(1, "scac", "NRDX"),
    "quote": changed(1, "quote_id", "QX-68"),
    "amount": changed(1, "amount", {"amount_minor": 179_001, "currency": "USD"}),
    "currency": changed(1, "amount", {"amount_minor": 179_000, "currency": "CAD"}),
    "shipment": changed(1, "shipment", "S-319"),
    "window": changed(2, "promised", TWO_O_CLOCK),
    "consignee": changed(2, "recipient", "someone@else.example"),
    "subject": another_subject,
    "an action more": an_action_more,
    "validity": longer_validity,
    "facts": fewer_facts,
}


@pytest.mark.parametrize("swap", SWAPS.values(), ids=SWAPS.keys())
def test_d09_what_was_changed_in_the_database_after_the_release_is_not_carried_out(
    cast: Cast, swap: Any
) -> None:
    """A was released: neither B nor the rest of A is done, and a person is told why."""
    case = a_released_case(cast)
    swap(case)
    assert agent_starts_attempt(case, EVENING_WORLD)[1] is None
    assert Attempt.objects.count() == 0
    assert stage_of(case) == "escalated"
    case.refresh_from_db()
    assert "is not what Marta Ortega released" in case.stage_reason

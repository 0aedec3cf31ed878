"""Two workers and one case: one claim wins, and a worker that lost its lease writes nothing."""

from datetime import timedelta

import pytest

from cases.actions import evidence, runs
from cases.actions.clock import move_business_clock
from cases.clock import business_now
from cases.models import AgentIdentity, Observation, Person, Run
from cases.vocabulary.errors import LeaseLost
from cases.vocabulary.work import Grant
from tests.cases.builders import (
    AGENT,
    EVENING_WORLD,
    LEASE,
    Cast,
    a_case_waiting_for_review,
    a_grant,
    an_open_case,
)
from tests.races.together import together


def claim(case_id: int, worker: str) -> Grant | None:
    """One try to claim."""
    return runs.claim(case_id=case_id, agent=AGENT, worker=worker, lease=LEASE)


def test_eight_workers_claim_one_case_and_one_wins(cast: Cast) -> None:
    """Every message delivered eight times is still one visit."""
    case = an_open_case(cast)
    grants = together([lambda: claim(case.pk, "w")] * 8)
    assert sum(isinstance(grant, Grant) for grant in grants) == 1
    assert all(grant is None or isinstance(grant, Grant) for grant in grants)


def test_a_worker_that_froze_past_its_lease_cannot_write(cast: Cast) -> None:
    """Token 17 wakes up when token 18 has the case: its write is refused, nothing is kept."""
    case = a_case_waiting_for_review(cast)
    frozen = a_grant(case, worker="frozen")
    move_business_clock(by=LEASE + timedelta(seconds=1))
    Run.objects.filter(case=case).update(due_at=business_now())
    newer = claim(case.pk, "newer")
    assert newer is not None and newer.fencing_token > frozen.fencing_token
    seen = Observation.objects.count()
    with pytest.raises(LeaseLost):
        evidence.record_readings(
            grant=frozen, by=AGENT, readings=EVENING_WORLD, asked_at=business_now()
        )
    assert Observation.objects.count() == seen


def test_a_lease_that_ended_is_lost_even_when_nobody_took_the_case(cast: Cast) -> None:
    """Late is late: the worker must claim again and look again."""
    case = a_case_waiting_for_review(cast)
    grant = a_grant(case)
    move_business_clock(by=LEASE + timedelta(seconds=1))
    with pytest.raises(LeaseLost):
        evidence.record_readings(
            grant=grant, by=AGENT, readings=EVENING_WORLD, asked_at=business_now()
        )
    with pytest.raises(LeaseLost):
        runs.renew(grant=grant, agent=AGENT, lease=LEASE)


def test_letting_go_late_does_not_take_the_case_from_the_next_worker(cast: Cast) -> None:
    """A frozen worker's clean-up leaves the newer lease alone."""
    case = a_case_waiting_for_review(cast)
    frozen = a_grant(case, worker="frozen")
    newer = a_grant(case, worker="newer")
    runs.let_go(grant=frozen)
    run = Run.objects.get(case=case)
    assert (run.worker, run.fencing_token) == ("newer", newer.fencing_token)


def test_d08_tokens_rise_even_when_the_run_row_was_made_anew(cast: Cast) -> None:
    """A token is never given twice, whatever happens to the row."""
    case = an_open_case(cast)
    first = a_grant(case)
    Run.objects.filter(case=case).delete()
    Run.objects.create(case=case, flow_version=1, due_at=business_now(), due_reason="Again.")
    second = claim(case.pk, "w")
    assert second is not None and second.fencing_token > first.fencing_token


@pytest.mark.parametrize("gone", ["agent", "owner"])
def test_p23_an_agent_without_an_active_owner_gets_nothing(cast: Cast, gone: str) -> None:
    """Its owner left, or it was switched off: no case is claimed."""
    case = an_open_case(cast)
    if gone == "agent":
        AgentIdentity.objects.update(is_active=False)
    else:
        Person.objects.filter(pk=cast.lead.pk).update(is_active=False)
    assert claim(case.pk, "w") is None

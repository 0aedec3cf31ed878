"""P16, P17, P19: the target does it and does not say so, hides it, forgets its key, is held."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest

from tests.conformance.bench import Bench
from tests.conformance.peer import RELEASE
from tests.conformance.peer_bench import PeerBench
from tests.conformance.table import Form, Tally, Verdict

type Fault = Callable[[Bench, str], None]

DONE = "waiting_for_acceptance"
TARGETS = ("/v1/bookings", "/v1/messages")
KEY_EXPIRED = "key expired before the retry, effect there"
KEY_EXPIRED_NOTHING = "key expired before the retry, nothing there"
KEY_IS_FORGOTTEN = timedelta(hours=25)
EVERY_TRY_OF_THE_PEER = 3


def fault(kind: str, *, seconds: float | None = None, times: int | None = 1) -> Fault:
    """An order for this fault, for calls to one of the targets."""

    def order(bench: Bench, target: str) -> None:
        bench.control.fault(kind, path_prefix=target, seconds=seconds, times=times)

    return order


def another_takes_the_lease(bench: Bench, target: str) -> None:
    """Another agent reserves the shipment for 20 s."""
    wanted = {"resource": "shipment:S-318", "holder": "another agent", "ttl_seconds": 20}
    with bench.simulator.client() as client:
        client.post("/v1/leases", json=wanted).raise_for_status()


FAULTS: dict[str, Fault] = {
    "commit, then timeout": fault("commit_then_timeout", seconds=1.0),
    "commit, then 500": fault("commit_then_500"),
    "commit, then a broken connection": fault("connection_reset_after_commit"),
    "timeout, nothing committed": fault("timeout_before_commit", seconds=1.0),
    "broken connection, nothing committed": fault("connection_reset_before_commit"),
    "not found after create": fault("404_after_create", seconds=3.0, times=None),
    "lease taken by another": another_takes_the_lease,
    "lease lost in the middle of a call": fault("lost_lease"),
}

IN_EVERY_RUN = {"commit, then timeout", "not found after create", "lease taken by another"}


@pytest.mark.parametrize(
    "name",
    [
        name if name in IN_EVERY_RUN else pytest.param(name, marks=pytest.mark.long_conformance)
        for name in FAULTS
    ],
)
def test_p16_after_a_fault_of_the_target_each_effect_is_there_once(
    bench: Bench, tally: Tally, form: Form, name: str
) -> None:
    """Without a person, once for the booking and once for the message."""
    for trial in form.of(full=20):
        bench.released()
        FAULTS[name](bench, TARGETS[trial % 2])
        tally.watchbill(name, bench.judged(partial(bench.work_until, DONE)))


@pytest.mark.long_conformance
@pytest.mark.parametrize("name", FAULTS)
def test_the_peer_after_a_fault_of_the_target(
    peer: PeerBench, tally: Tally, form: Form, name: str
) -> None:
    """It tries again with the same key."""
    for trial in form.of(full=10):
        peer.ready()
        FAULTS[name](peer.bench, TARGETS[trial % 2])
        peer.answer(RELEASE)
        tally.peer(name, peer.judged(peer.finish))


def day_passes_after(bench: Bench, kind: str, *, until: str) -> None:
    """The message's outcome is lost, nobody works for a day, and then somebody does."""
    bench.control.fault(kind, path_prefix="/v1/messages", seconds=0.7, times=1)
    bench.control.fault("404_after_create", path_prefix="/v1/messages", seconds=60)
    with bench.worker() as worker:
        worker.advance(case_id=bench.case_id)
    bench.expect("reconciling")
    bench.pass_time(KEY_IS_FORGOTTEN)
    bench.work_until(until)


def test_p16_a_key_that_expired_is_not_used_again(bench: Bench, tally: Tally, form: Form) -> None:
    """What is there is found by its reference; what is not there is for a person to decide."""
    for _ in form.of(full=20):
        bench.released()
        run = partial(day_passes_after, bench, "commit_then_500", until=DONE)
        tally.watchbill(KEY_EXPIRED, bench.judged(run))
        bench.released()
        run = partial(day_passes_after, bench, "timeout_before_commit", until="escalated")
        tally.watchbill(KEY_EXPIRED_NOTHING, bench.judged(run, ("booking",)))


def peer_after_a_day(peer: PeerBench) -> Verdict:
    """Each try is lost, a day passes, and the service tries again."""
    peer.ready()
    order = fault("commit_then_500", times=EVERY_TRY_OF_THE_PEER)
    order(peer.bench, "/v1/messages")
    peer.answer(RELEASE)
    peer.bench.pass_time(KEY_IS_FORGOTTEN)
    return peer.judged(peer.finish)


def test_the_peer_whose_key_expired_acts_twice(peer: PeerBench, tally: Tally, form: Form) -> None:
    """A key is all it has: proof that this table sees a doubled effect."""
    for _ in form.of(full=20):
        tally.peer(KEY_EXPIRED, peer_after_a_day(peer))
    counted = tally.runs_of_peer(KEY_EXPIRED)
    assert counted["wrong effects"] == counted["runs"]

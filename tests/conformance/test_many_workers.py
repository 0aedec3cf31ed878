"""P4, P18, P30: many workers on one case, and messages that come again when all is over."""

import random
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

import pytest

from cases.actions import decisions
from cases.clock import business_now
from cases.models import Decision
from cases.vocabulary.errors import Conflict
from tests.conformance import broker
from tests.conformance.bench import Bench, wait_for
from tests.conformance.peer import RELEASE
from tests.conformance.peer_bench import PASSING, PeerBench
from tests.conformance.table import Form, Tally, Verdict
from tests.races.together import together
from tools.stories.record import StoryBroke

pytestmark = pytest.mark.processes
DONE = "waiting_for_acceptance"
AT_ONCE = "2 to 8 workers on one case at once"
BY_BROKER = "2 to 8 worker processes, messages doubled"
AGAIN = "redelivery of everything after close"
MOST_ROUNDS = 12
CROWDS = range(2, 9)


def crowd(bench: Bench, size: int) -> None:
    """All of them visit the case at the same moment, round after round."""
    with ExitStack() as stack:
        workers = [stack.enter_context(bench.worker(f"worker-{n}")) for n in range(size)]
        for _ in range(MOST_ROUNDS):
            bench.skip_ahead()
            together([partial(worker.advance, case_id=bench.case_id) for worker in workers])
            if bench.case.stage == DONE:
                return
    bench.expect(DONE)


def test_p18_of_many_workers_at_once_one_works(bench: Bench, tally: Tally, form: Form) -> None:
    """One claims, the others leave; after each visit all try again."""
    for trial in form.of(short=2, full=42):
        bench.released()
        size = CROWDS[-1 - trial % len(CROWDS)]
        tally.watchbill(AT_ONCE, bench.judged(partial(crowd, bench, size)))


def test_the_peer_with_many_workers(peer: PeerBench, tally: Tally, form: Form) -> None:
    """All of them resume one thread with the same answer; the keys must hold."""

    def deliver() -> None:
        with peer.desk() as desk:
            desk.answer(RELEASE)

    for trial in form.of(full=42):
        peer.ready()
        together([deliver] * CROWDS[trial % len(CROWDS)])
        tally.peer(AT_ONCE, peer.judged(peer.finish))


def crowd_by_broker(bench: Bench, size: int) -> None:
    """From opened to done, with every message sent many times."""
    names = [f"worker-{number}" for number in range(size)]
    broker.start_workers(bench.nursery, *names)
    broker.deliver([bench.case_id], times=size)
    wait_for(lambda: bench.case.stage == "waiting_for_review", "proposal 1 is ready")
    bench.release(1)
    broker.deliver([bench.case_id], times=size)
    wait_for(lambda: bench.case.stage == DONE, f"{size} workers come to an end")


def test_p30_worker_processes_with_doubled_messages(
    bench: Bench, beat: None, tally: Tally, form: Form
) -> None:
    """Real processes, a real broker, a beat."""
    for size in form.some(CROWDS, short=1):
        broker.empty()
        bench.fresh()
        tally.watchbill(BY_BROKER, bench.judged(partial(crowd_by_broker, bench, size)))


def over_and_again(bench: Bench) -> None:
    """A case is closed; then each nudge and each answer comes once more, in any order."""
    bench.ready()
    answer = bench.answer(1)
    bench.release(1)
    bench.work_until(DONE)
    bench.accept()
    bench.work_until("closed")
    with bench.worker() as worker, bench.worker("other") as other:
        nudge = partial(worker.advance, case_id=bench.case_id)
        again: list[Callable[[], object]] = [nudge, nudge, nudge]
        again.append(partial(other.advance, case_id=bench.case_id))
        again.append(partial(answer_again, bench, answer))
        random.shuffle(again)
        for message in again:
            message()
    bench.expect("closed")
    if bench.checkpoint_rows() or Decision.objects.filter(case_id=bench.case_id).count() != 1:
        raise StoryBroke("a closed case was worked on")


def answer_again(bench: Bench, answer: decisions.Answer) -> None:
    """The form is posted once more."""
    try:
        decisions.release(answer=answer, by=bench.cast.owner, at=business_now())
    except Conflict:
        return
    raise StoryBroke("a closed case took a decision")


def test_p04_what_comes_again_after_the_end_does_nothing(
    bench: Bench, tally: Tally, form: Form
) -> None:
    """No effect, no decision, no checkpoint."""
    for _ in form.of(full=40):
        tally.watchbill(AGAIN, bench.judged(partial(over_and_again, bench)))


def peer_again(peer: PeerBench) -> Verdict:
    """The thread ended; its answer and a wake-up come once more."""
    peer.ready()
    peer.answer(RELEASE)
    peer.finish()
    with peer.desk() as desk:
        for again in (partial(desk.answer, RELEASE), desk.go_on):
            try:
                again()
            except PASSING:
                continue
    return peer.judged(peer.finish)


def test_the_peer_after_its_end(peer: PeerBench, tally: Tally, form: Form) -> None:
    """Its thread has nothing left to run."""
    for _ in form.of(full=20):
        tally.peer(AGAIN, peer_again(peer))

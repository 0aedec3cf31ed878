"""P6, P9: what counts as a person's word, whatever comes twice, late, or at once."""

import random
from contextlib import suppress
from functools import partial

import pytest
from langgraph.errors import EmptyInputError

from agent.runner import LEASE
from cases.actions import closing, decisions
from cases.actions.withdrawal import withdraw_release
from cases.clock import business_now
from cases.models import Decision
from cases.vocabulary.errors import DecisionRefused
from tests.conformance.bench import Bench, wait_for
from tests.conformance.peer import REFRESH, REJECT, RELEASE
from tests.conformance.peer_bench import PeerBench, PeerLife
from tests.conformance.peer_desk import Standing
from tests.conformance.table import Form, Tally, Verdict
from tests.races.together import together
from tools.stories.record import StoryBroke

pytestmark = pytest.mark.processes
OLD_VERSION = "answer for an old version"
OLD_PAUSE = "answer for an old version, bound to its pause"
TWICE = "answer twice, from two tabs at once"
BOTH = "release and reject at once"
AFTER_A_CRASH = "reject after a crash"
DONE = "waiting_for_acceptance"


def rate_is_withdrawn(bench: Bench) -> None:
    """Bluewater takes its rate back: a proposal that books it no longer holds."""
    bench.control.actor("quote_withdrawn", quote_id="QX-71")


def answer_for_an_old_version(bench: Bench) -> Verdict:
    """Proposal 1 is answered after proposal 2 replaced it."""
    bench.ready()
    answer = bench.answer(1)
    rate_is_withdrawn(bench)
    closing.refresh_now(case_id=bench.case_id, by=bench.cast.owner, at=business_now())
    with bench.worker() as worker:
        worker.advance(case_id=bench.case_id)
        assert bench.proposal(2).state == "ready"
        refused = True
        try:
            decisions.release(answer=answer, by=bench.cast.owner, at=business_now())
            refused = False
        except DecisionRefused:
            pass
        worker.advance(case_id=bench.case_id)
    return bench.verdict((), wrong_decisions=not refused)


def test_p06_an_answer_for_an_old_version_authorises_nothing(
    bench: Bench, tally: Tally, form: Form
) -> None:
    """It is refused, and nothing happens at the target."""
    for _ in form.of(short=2, full=60):
        tally.watchbill(OLD_VERSION, answer_for_an_old_version(bench))


def old_answer_to_the_peer(peer: PeerBench, *, is_bound: bool) -> Verdict:
    """The peer planned anew; then the answer to its first proposal is delivered."""
    peer.ready()
    with peer.desk() as desk:
        pause = desk.interrupt_id()
        rate_is_withdrawn(peer.bench)
        desk.answer(REFRESH)
        assert desk.standing() is Standing.WAITING
        peer.answer({pause: RELEASE} if is_bound else RELEASE)
    effects = peer.bench.our_effects()
    return Verdict(wrong_effects=len(effects), wrong_decisions=bool(effects))


def test_the_peer_takes_an_old_answer_for_a_new_one(
    peer: PeerBench, tally: Tally, form: Form
) -> None:
    """A resume value goes to whatever waits: proof that this table sees a fault at all."""
    for _ in form.of(full=40):
        tally.peer(OLD_VERSION, old_answer_to_the_peer(peer, is_bound=False))
    counted = tally.runs_of_peer(OLD_VERSION)
    assert counted["wrong decisions"] == counted["runs"]
    for _ in form.of(full=40):
        tally.peer(OLD_PAUSE, old_answer_to_the_peer(peer, is_bound=True))


def answer_twice(bench: Bench, tabs: int) -> Verdict:
    """The same form sent twice and other tabs, all at once, and once more at the end."""
    bench.ready()
    same = bench.answer(1)
    answers = [same, same, *(bench.answer(1) for _ in range(tabs))]
    calls = [
        partial(decisions.release, answer=answer, by=bench.cast.owner, at=business_now())
        for answer in answers
    ]
    together(calls)
    verdict = bench.judged(partial(bench.work_until, DONE))
    together(calls[:1])
    counted = Decision.objects.filter(case_id=bench.case_id).count()
    return Verdict(
        wrong_effects=verdict.wrong_effects,
        wrong_decisions=abs(counted - 1),
        stuck=verdict.stuck,
        said=verdict.said,
    )


def test_p06_an_answer_given_twice_counts_once(bench: Bench, tally: Tally, form: Form) -> None:
    """One decision, one effect of each action."""
    for trial in form.of(short=2, full=50):
        tally.watchbill(TWICE, answer_twice(bench, tabs=trial % 3))


def together_at_the_peer(peer: PeerBench, *answers: str) -> Verdict:
    """Answers delivered by several processes at once; who was not told otherwise was counted."""
    peer.ready()

    def deliver(answer: str) -> str:
        with peer.desk() as desk:
            desk.answer(answer)
        return answer

    told = together([partial(deliver, answer) for answer in answers])
    counted = {answer for answer in told if isinstance(answer, str)}
    expected = () if counted == {REJECT} else ("booking", "message")
    verdict = peer.judged(peer.finish, expected)
    return Verdict(
        wrong_effects=verdict.wrong_effects,
        wrong_decisions=len(counted) > 1,
        stuck=verdict.stuck,
        said=verdict.said,
    )


def test_the_peer_answered_twice_at_once(peer: PeerBench, tally: Tally, form: Form) -> None:
    """Two processes resume one thread; the keys are what is left to rely on."""
    for _ in form.of(full=40):
        tally.peer(TWICE, together_at_the_peer(peer, RELEASE, RELEASE))


def release_and_reject(bench: Bench) -> Verdict:
    """Two people decide at the same moment: one counts, the other is told."""
    bench.ready()
    now = business_now()
    reject = decisions.Answer(**{**vars(bench.answer(1)), "reason": "No"})
    results = together(
        [
            partial(decisions.release, answer=bench.answer(1), by=bench.cast.owner, at=now),
            partial(decisions.reject, answer=reject, by=bench.cast.colleague, at=now),
        ]
    )
    told_no = sum(isinstance(result, DecisionRefused) for result in results)
    standing = list(Decision.objects.filter(case_id=bench.case_id).values_list("kind", flat=True))
    is_released = standing == ["release"]
    stage, expected = (DONE, ("booking", "message")) if is_released else ("escalated", ())
    verdict = bench.judged(partial(bench.work_until, stage), expected)
    return Verdict(
        wrong_effects=verdict.wrong_effects,
        wrong_decisions=not (told_no == 1 and len(standing) == 1),
        stuck=verdict.stuck,
        said=f"{verdict.said}, {standing}, {results}",
    )


def test_p09_of_a_release_and_a_rejection_at_once_one_counts(
    bench: Bench, tally: Tally, form: Form
) -> None:
    """Never both, and what is carried out is what counted."""
    for _ in form.of(short=2, full=60):
        tally.watchbill(BOTH, release_and_reject(bench))


def test_the_peer_released_and_rejected_at_once(peer: PeerBench, tally: Tally, form: Form) -> None:
    """Both people may be told that theirs counted."""
    for _ in form.of(full=40):
        answers = random.sample([RELEASE, REJECT], 2)
        tally.peer(BOTH, together_at_the_peer(peer, *answers))


def reject_after_a_crash(bench: Bench, number: int) -> Verdict:
    """The worker dies between the release and the first attempt; the release is withdrawn."""
    bench.released()
    bench.start_lone("dying", deeds=f"{number}:kill")
    wait_for(lambda: bench.is_gone("dying"), "the worker died")
    withdraw_release(case_id=bench.case_id, by=bench.cast.owner, at=business_now(), reason="Stop")
    bench.pass_time(LEASE)
    with bench.worker() as worker:
        worker.advance(case_id=bench.case_id)
    stopped = bench.case.stage == "escalated"
    return bench.verdict((), wrong_decisions=not stopped)


def test_p09_a_release_withdrawn_after_a_crash_is_not_carried_out(
    bench: Bench, boundaries: list[str], tally: Tally, form: Form
) -> None:
    """At every boundary from the claim to the attempt."""
    first = boundaries.index("before node revalidate")
    last = boundaries.index("before record begin_attempt")
    start = max(n for n in range(first) if boundaries[n] == "before record claim")
    numbers = range(1, last - start + 2)
    for number in form.some(numbers, short=2):
        tally.watchbill(AFTER_A_CRASH, reject_after_a_crash(bench, number))


def peer_rejected_after_a_crash(peer: PeerBench, number: int) -> Verdict:
    """The process dies after the answer was saved and before the call; then a person rejects."""
    life = PeerLife(peer=peer, deeds=(f"{number}:kill",))
    try:
        life.start()
        wait_for(life.has_died, "the process died")
    except StoryBroke as broke:
        return Verdict(stuck=1, said=str(broke))
    with peer.desk() as desk, suppress(EmptyInputError):
        desk.answer(REJECT)
    with suppress(StoryBroke):
        peer.finish()
    effects = peer.bench.our_effects()
    return Verdict(wrong_effects=len(effects), wrong_decisions=bool(effects))


def test_the_peer_rejected_after_a_crash(
    peer: PeerBench, boundaries_of_the_peer: list[str], tally: Tally, form: Form
) -> None:
    """Its answer is in the saved state already, and a later one has no pause to go to."""
    number = boundaries_of_the_peer.index("before node book") + 1
    for _ in form.of(full=20):
        tally.peer(AFTER_A_CRASH, peer_rejected_after_a_crash(peer, number))

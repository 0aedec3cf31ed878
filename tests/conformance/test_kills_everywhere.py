"""P2, P4, P18: a worker killed or frozen at the boundaries of a whole life, as they were recorded
from an undisturbed one.
"""

import random

import pytest

from tests.conformance import lives, peer_bench
from tests.conformance.bench import Bench
from tests.conformance.peer_bench import PeerBench
from tests.conformance.table import IN_PARTS, Form, Tally

pytestmark = pytest.mark.processes
ONCE = "SIGKILL at every boundary"
TWICE = "SIGKILL at two boundaries"
FROZEN = "SIGSTOP past the lease, then SIGCONT"
EACH_KIND = {"node act", "record begin_attempt", "commit", "exchange", "checkpoint put"}
NEAR_CALLS = ("exchange", "record begin_attempt", "record finish_attempt", "record record_looks")


def numbers_of(names: list[str], kinds: tuple[str, ...] = ("",)) -> list[int]:
    """The numbers, from 1, of the boundaries of these kinds."""
    return [
        number for number, name in enumerate(names, start=1) if any(kind in name for kind in kinds)
    ]


@IN_PARTS
def test_p04_killed_at_every_boundary_leaves_one_effect_of_each_action(
    bench: Bench, boundaries: list[str], tally: Tally, form: Form, part: int
) -> None:
    """Before and after each node, call of the record, COMMIT, exchange and checkpoint."""
    both = {f"{side} {kind}" for side in ("before", "after") for kind in EACH_KIND}
    assert both <= set(boundaries)
    for number in form.share(numbers_of(boundaries), part=part, short=4):
        tally.watchbill(ONCE, lives.live(bench, f"{number}:kill"))


@IN_PARTS
def test_p04_killed_twice_leaves_one_effect_of_each_action(
    bench: Bench, boundaries: list[str], tally: Tally, form: Form, part: int
) -> None:
    """The successor dies too, at a boundary of its own."""
    chance = random.Random(f"two deaths {part}")
    for _ in form.of(full=15):
        first, second = sorted(chance.sample(numbers_of(boundaries), 2))
        verdict = lives.live(bench, f"{first}:kill", f"{second - first}:kill")
        tally.watchbill(TWICE, verdict)


@IN_PARTS
def test_p18_frozen_past_its_lease_a_worker_changes_nothing_when_it_thaws(
    bench: Bench, boundaries: list[str], tally: Tally, form: Form, part: int
) -> None:
    """Around calls and attempts; it thaws while its successor works, or after the end."""
    for number in form.share(numbers_of(boundaries, NEAR_CALLS), part=part, short=2):
        for thaws_early in (True, False) if form is Form.FULL else (number % 2 == 0,):
            verdict = lives.live_frozen(bench, f"{number}:stop", thaws_early=thaws_early)
            tally.watchbill(FROZEN, verdict)


def test_the_peer_killed_at_every_boundary(
    peer: PeerBench, boundaries_of_the_peer: list[str], tally: Tally, form: Form
) -> None:
    """Its keys are in its saved state, so it is expected to do well here."""
    for number in form.some(numbers_of(boundaries_of_the_peer), short=1):
        tally.peer(ONCE, peer_bench.live(peer, f"{number}:kill"))


def test_the_peer_frozen(
    peer: PeerBench, boundaries_of_the_peer: list[str], tally: Tally, form: Form
) -> None:
    """A second process took over; the first goes on when all is done."""
    numbers = numbers_of(boundaries_of_the_peer, NEAR_CALLS)
    for number in form.some(numbers, short=1):
        tally.peer(FROZEN, peer_bench.live(peer, f"{number}:stop"))

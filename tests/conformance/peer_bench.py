"""Runs of the peer on the same bench: the same world, people and ledger, a thread for each run."""

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import httpx
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.errors import EmptyInputError, GraphRecursionError

from tests.conformance.bench import BOTH_EFFECTS, Bench, wait_for
from tests.conformance.boundaries import passed_in
from tests.conformance.peer import RELEASE, Refused
from tests.conformance.peer_desk import PeerDesk, Standing, peer_desk
from tests.conformance.table import Verdict
from tools.stories.record import StoryBroke

MOST_TRIES = 6
BETWEEN_TRIES = timedelta(seconds=6)
# What may pass when it is tried again later.
PASSING = (Refused, httpx.HTTPError, GraphRecursionError, EmptyInputError)
PATIENCE_SECONDS = 8.0
AFTERMATH_SECONDS = 0.4


@dataclass(kw_only=True)
class PeerBench:
    """The peer's side of the bench."""

    bench: Bench
    saver: PostgresSaver
    thread: str = field(default="", init=False)

    def fresh(self) -> None:
        """Begin a run; our own case of it stays untouched."""
        self.bench.fresh()
        self.thread = f"peer-{self.bench.case_id}"

    @contextmanager
    def desk(self, *, review: str = "review") -> Iterator[PeerDesk]:
        """A process of the peer, as far as it shares nothing with another but the checkpoints."""
        simulator = self.bench.simulator
        with peer_desk(
            saver=self.saver,
            thread=self.thread,
            url=simulator.url,
            token=simulator.token,
            review=review,
        ) as desk:
            yield desk

    def ready(self) -> None:
        """Begin a run whose proposal waits for an answer."""
        self.fresh()
        with self.desk() as desk:
            desk.start()

    def answer(self, value: object, *, review: str = "review") -> None:
        """Deliver an answer; what the peer cannot do at once is tried again in `finish`."""
        with self.desk(review=review) as desk, suppress(*PASSING):
            desk.answer(value)

    def finish(self, *, review: str = "review") -> None:
        """Go on, as a service would after each error; raises `StoryBroke` when that is no use."""
        with self.desk(review=review) as desk:
            for _ in range(MOST_TRIES):
                if desk.standing() is Standing.DONE:
                    return
                with suppress(*PASSING):
                    desk.go_on()
                self.bench.pass_time(BETWEEN_TRIES)
        raise StoryBroke(f"{self.thread} does not end")

    def judged(self, run: Callable[[], None], expected: Sequence[str] = BOTH_EFFECTS) -> Verdict:
        """Like `Bench.judged`: an end without what was released is stuck too, not only wrong."""
        verdict = self.bench.judged(run, expected)
        found = self.bench.our_effects()
        if not verdict.stuck and len(found) < len(expected):
            return Verdict(stuck=1, said=f"ended with {found}")
        return verdict


@dataclass(kw_only=True)
class PeerLife:
    """One case of the peer in processes of its own; `deeds` says where the first ones end."""

    peer: PeerBench
    deeds: Sequence[str]
    workers: list[str] = field(default_factory=list)
    notes: list[Path] = field(default_factory=list)
    answered: bool = False

    @property
    def inbox(self) -> Path:
        """Where the answer of a person waits for a process."""
        return self.peer.bench.folder / f"inbox-{self.peer.thread}"

    def start_worker(self) -> None:
        """The next process."""
        number = len(self.workers)
        name = f"peer-{number}"
        deeds = self.deeds[number] if number < len(self.deeds) else ""
        env = {"THREAD": self.peer.thread, "INBOX": str(self.inbox)}
        self.workers.append(name)
        self.notes.append(self.peer.bench.start_program("peer", name, deeds=deeds, env=env))

    def start(self) -> None:
        """Begin a run with the first process."""
        self.peer.fresh()
        self.inbox.parent.mkdir(parents=True, exist_ok=True)
        self.start_worker()

    def has_died(self) -> bool:
        """Whether the process is gone; a person answers as soon as it asks."""
        with self.peer.desk() as desk:
            self._answer_when_asked(desk.standing())
        return self.peer.bench.is_gone(self.workers[-1])

    def live(self) -> None:
        """From start to end; raises `StoryBroke`."""
        self.start()
        with self.peer.desk() as desk:
            wait_for(lambda: self._is_over(desk), f"{desk.thread} ends", patience=PATIENCE_SECONDS)
        if len(self.workers) > 1:
            self.peer.bench.nursery.send(self.workers[0], signal.SIGCONT)
            time.sleep(AFTERMATH_SECONDS)

    def _is_over(self, desk: PeerDesk) -> bool:
        if self.peer.bench.is_gone(self.workers[-1]):
            self.start_worker()
        standing = desk.standing()
        self._answer_when_asked(standing)
        return standing is Standing.DONE

    def _answer_when_asked(self, standing: Standing) -> None:
        if standing is Standing.WAITING and not self.answered:
            self.answered = True
            self.inbox.write_text(RELEASE, encoding="utf-8")


def live(peer: PeerBench, *deeds: str) -> Verdict:
    """One life of the peer; its verdict."""
    return peer.judged(PeerLife(peer=peer, deeds=deeds).live)


def boundaries_of_a_life(peer: PeerBench) -> list[str]:
    """The names of all boundaries that one process passes in an undisturbed life."""
    life = PeerLife(peer=peer, deeds=())
    life.live()
    return passed_in(life.notes[0])

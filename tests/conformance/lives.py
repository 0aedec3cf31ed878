"""One whole life of a case, from opened to closed, while workers are killed or frozen."""

import signal
import time
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path

from agent.runner import thread_of
from cases.models import Run
from tests.conformance.bench import Bench, wait_for
from tests.conformance.boundaries import passed_in
from tests.conformance.table import Verdict

AFTERMATH_SECONDS = 0.4


class Life:
    """A case and its workers, one after another; `deeds` says where each of the first ones ends."""

    def __init__(self, bench: Bench, deeds: Sequence[str]) -> None:
        self._bench = bench
        self._deeds: Iterator[str] = chain(deeds, repeat(""))
        self.workers: list[str] = []
        self.notes: list[Path] = []

    def start_worker(self) -> None:
        """The next worker."""
        name = f"worker-{len(self.workers)}"
        self.workers.append(name)
        self.notes.append(self._bench.start_lone(name, deeds=next(self._deeds)))

    def begin(self) -> None:
        """A case is opened and the first worker takes it."""
        self._bench.fresh()
        self.start_worker()

    def is_over(self) -> bool:
        """Like `help_on`, and a worker that is gone gets a successor."""
        if self._bench.is_gone(self.workers[-1]):
            self._bench.let_lease_run_out()
            self.start_worker()
        return self.help_on()

    def help_on(self) -> bool:
        """What people and clocks do now; says whether the case is closed and all of it cleared."""
        bench = self._bench
        if not bench.is_idle():
            return False
        match bench.case.stage:
            case "waiting_for_review":
                bench.release(1)
            case "waiting_for_acceptance":
                bench.accept()
            case "closed":
                return self._is_cleared()
            case _:
                bench.skip_ahead()
        return False

    def live(self) -> None:
        """From opened to closed; raises `StoryBroke`."""
        self.begin()
        wait_for(self.is_over, f"the case {thread_of(self._bench.case_id)} is closed and cleared")

    def live_with_a_frozen_worker(self, *, thaws_early: bool) -> None:
        """Like `live`, while the first worker stands still; it thaws when the next one has the case
        or, if not early, when all is over. What it does then is part of the run.
        """
        bench = self._bench
        self.begin()
        wait_for(
            lambda: bench.is_gone(self.workers[0]) or self.help_on(),
            "the first worker stands still",
        )
        self.is_over()
        if thaws_early:
            wait_for(self._is_taken_over, "the next worker has the case")
            bench.nursery.send(self.workers[0], signal.SIGCONT)
        wait_for(self.is_over, f"the case {thread_of(bench.case_id)} is closed and cleared")
        bench.nursery.send(self.workers[0], signal.SIGCONT)
        time.sleep(AFTERMATH_SECONDS)

    def _is_taken_over(self) -> bool:
        return not self._bench.is_idle() or self.is_over()

    def _is_cleared(self) -> bool:
        due = Run.objects.get(case_id=self._bench.case_id).due_at
        return due is None and self._bench.checkpoint_rows() == 0


def live(bench: Bench, *deeds: str) -> Verdict:
    """One life; its verdict."""
    return bench.judged(Life(bench, deeds).live)


def live_frozen(bench: Bench, deed: str, *, thaws_early: bool) -> Verdict:
    """One life with a frozen worker; its verdict."""
    life = Life(bench, (deed,))
    return bench.judged(lambda: life.live_with_a_frozen_worker(thaws_early=thaws_early))


def boundaries_of_a_life(bench: Bench) -> list[str]:
    """The names of all boundaries that one worker passes in an undisturbed life."""
    life = Life(bench, ())
    life.live()
    return passed_in(life.notes[0])

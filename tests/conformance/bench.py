"""One case at a time, run after run, on real parts; and the verdict by the target's own ledger."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import psutil
from django.db import OperationalError, connection
from psycopg.errors import DeadlockDetected

from agent.checkpoints import PostgresCheckpoints
from agent.crew import AGENT_NAME, AGENT_VERSION
from agent.desk import RecordDesk
from agent.planner.rules import RulePlanner
from agent.runner import Runner, thread_of
from agent.sources.transport import TransportSource
from cases.actions import closing
from cases.clock import business_now
from cases.models import Run
from tests.conformance.table import Verdict
from tests.crashes.night_desk import NightDesk
from tests.simulator import Simulator
from tools.stories.record import StoryBroke

CALL_TIMEOUT = timedelta(seconds=0.5)
POLL_SECONDS = 0.01
PATIENCE_SECONDS = 30.0
MOST_VISITS = 40
WORK_OF_THE_AGENT = {"investigating", "executing", "verifying", "reconciling", "blocked"}
BOTH_EFFECTS = ("booking", "message")
MOMENT = timedelta(milliseconds=1)


@dataclass(kw_only=True)
class Bench(NightDesk):
    """The desk of many runs: each begins at 17:00 with one case, and nobody works yet."""

    simulator: Simulator
    database: str
    checkpoints: PostgresCheckpoints
    folder: Path
    runs: int = field(default=0, init=False)

    def fresh(self) -> None:
        """Begin a run: no workers, no cases, the world as it is at 17:00, one case just opened."""
        self.clear()
        self.open_case()

    def open_world(self) -> None:
        """See `NightDesk.open_world`; carriers and customers answer at once."""
        super().open_world()
        self.control.settings(booking_confirm_seconds=0, message_deliver_seconds=0)

    def clear(self) -> None:
        """Leave nothing of the run before. Ids go on rising, so nothing is met twice."""
        self.nursery.kill_all()
        self.runs += 1
        wait_for(is_emptied, "the tables are empty")

    def pass_time(self, span: timedelta) -> None:
        """Both clocks move on."""
        self.set_clocks(business_now() + span)

    def skip_ahead(self) -> None:
        """When nobody works and the agent's next work is only due later, it is later."""
        run = Run.objects.select_related("case").get(case_id=self.case_id)
        if run.lease_until is not None or run.due_at is None:
            return
        if run.case.stage in WORK_OF_THE_AGENT and run.due_at > business_now():
            self.set_clocks(run.due_at + MOMENT)

    def ready(self) -> None:
        """Begin a run whose proposal 1 waits for a decision."""
        self.fresh()
        with self.worker() as worker:
            worker.advance(case_id=self.case_id)
        self.expect("waiting_for_review")

    def released(self) -> None:
        """Begin a run whose proposal 1 was just released."""
        self.ready()
        self.release(1)

    def expect(self, stage: str) -> None:
        """Raises `StoryBroke` unless the case stands there."""
        case = self.case
        if case.stage != stage:
            why = case.blocked_reason or case.stage_reason
            raise StoryBroke(f"{stage} was expected, but the case is {case.stage}: {why}")

    @contextmanager
    def worker(self, name: str = "worker") -> Iterator[Runner]:
        """A worker of this process, with the real door, adapter, planner and checkpoints."""
        source = TransportSource(
            address=self.simulator.url, token=self.simulator.token, timeout=CALL_TIMEOUT
        )
        try:
            yield Runner(
                desk=RecordDesk(agent_name=AGENT_NAME, agent_version=AGENT_VERSION),
                source=source,
                planner=RulePlanner(),
                checkpoints=self.checkpoints,
                worker=name,
            )
        finally:
            source.close()

    def work_until(self, stage: str) -> None:
        """Visits, as the sweep orders them, until the case stands there; no person helps."""
        with self.worker() as worker:
            for _ in range(MOST_VISITS):
                if self.case.stage == stage:
                    return
                self.skip_ahead()
                worker.advance(case_id=self.case_id)
        self.expect(stage)

    def accept(self) -> None:
        """The owner accepts the outcome."""
        closing.accept_outcome(case_id=self.case_id, by=self.cast.owner, at=business_now())

    def start_lone(self, name: str, *, deeds: str = "") -> Path:
        """A worker process without a broker, ready in a moment; gives where it notes boundaries."""
        return self.start_program("lone", name, deeds=deeds, env={})

    def start_program(self, program: str, name: str, *, deeds: str, env: dict[str, str]) -> Path:
        """A process of the nursery whose boundaries are numbered, with `deeds` at some of them."""
        notes = self.folder / f"{self.runs}-{name}"
        notes.mkdir(parents=True)
        given = {"PROGRAM": program, "BOUNDARIES": str(notes), "AT": deeds, **env}
        self.nursery.start(name, options=[], env=given)
        return notes

    def is_gone(self, name: str) -> bool:
        """Whether that worker ended, or stands still."""
        if self.nursery.status(name) is not None:
            return True
        status = psutil.Process(self.nursery.pids[name]).status()
        return bool(status == psutil.STATUS_STOPPED)

    def is_idle(self) -> bool:
        """Whether nobody holds a lease that still runs."""
        until = Run.objects.get(case_id=self.case_id).lease_until
        return until is None or until <= business_now()

    def checkpoint_rows(self) -> int:
        """How many rows the checkpointer keeps of this case."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM checkpoints.checkpoints WHERE thread_id = %s",
                [thread_of(self.case_id)],
            )
            (rows,) = cursor.fetchone()
        return int(rows)

    def verdict(
        self, expected: Sequence[str] = BOTH_EFFECTS, *, wrong_decisions: int = 0
    ) -> Verdict:
        """What the ledger says against what was released, once the case stands as it should."""
        found, wanted = Counter(self.our_effects()), Counter(expected)
        wrong = (found - wanted).total() + (wanted - found).total()
        return Verdict(
            wrong_effects=wrong, wrong_decisions=wrong_decisions, said=f"effects {dict(found)}"
        )

    def judged(
        self,
        run: Callable[[], None],
        expected: Sequence[str] = BOTH_EFFECTS,
    ) -> Verdict:
        """Carry out a run; one that broke is stuck, and extra effects are wrong all the same."""
        try:
            run()
        except StoryBroke as broke:
            extra = (Counter(self.our_effects()) - Counter(expected)).total()
            return Verdict(wrong_effects=extra, stuck=1, said=str(broke))
        return self.verdict(expected)


def is_emptied() -> bool:
    """Empty the tables; False where the database still ends the statement of a killed worker."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE cases_case, cases_sourcerecord CASCADE")
    except OperationalError as error:
        if isinstance(error.__cause__, DeadlockDetected):
            return False
        raise
    return True


def wait_for(holds: Callable[[], bool], what: str, *, patience: float = PATIENCE_SECONDS) -> None:
    """Wait closely, since runs are short; raises `StoryBroke`."""
    deadline = time.monotonic() + patience
    while not holds():
        if time.monotonic() > deadline:
            raise StoryBroke(f"After {patience:.0f} s still not so: {what}.")
        time.sleep(POLL_SECONDS)

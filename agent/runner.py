"""One visit to one case: claim it, let the graph go on, let the case go.

Nothing is held between visits. A worker that lost its lease stops without another call. A visit
that failed stands on the case with the reason and the next try; if not even that can be written,
the lease is kept until it runs out, which spaces out the next try.
"""

import time
from datetime import timedelta
from enum import StrEnum
from typing import Any

import structlog
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import RunControl
from langgraph.types import Command, Interrupt

from agent.checkpoints import Checkpoints
from agent.desk import Desk
from agent.flows import FLOWS, MIGRATIONS, Builders, Migrations, way_to_known_flow
from agent.heartbeat import heartbeat
from agent.nodes import wait
from agent.planner.base import Planner
from agent.sources.base import Source
from agent.sources.texts import fit_to_keep
from agent.state import CaseState, Work
from cases.vocabulary.errors import CallsPaused, LeaseLost
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import Grant

LEASE = timedelta(seconds=15)
STEPS_PER_VISIT = 40
VISIT_SECONDS = 15.0
WAKE_UP = "look again"
THREAD = "case-"
UNREADABLE = (ValueError, TypeError, KeyError, NotImplementedError)
"""What the checkpointer raises for state it cannot read; the last of them for a format that this
version of it does not know."""

type Compiled = CompiledStateGraph[CaseState, Work, CaseState, CaseState]
type Entry = CaseState | Command[Any] | None

log = structlog.get_logger()


class Visit(StrEnum):
    """How a visit to a case ended."""

    NOT_CLAIMED = "not_claimed"
    PAUSED = "paused"
    CUT_SHORT = "cut_short"
    CLOSED = "closed"
    LEASE_LOST = "lease_lost"
    STOPPED = "stopped"
    UNKNOWN_FLOW = "unknown_flow"
    FAILED = "failed"


def thread_of(case_id: int) -> str:
    """The name under which a case's checkpoints are kept."""
    return f"{THREAD}{case_id}"


def case_of(thread_id: str) -> int | None:
    """The case whose checkpoints are kept under that name; None when it is no case's."""
    number = thread_id.removeprefix(THREAD)
    return int(number) if thread_id == f"{THREAD}{number}" and number.isdecimal() else None


class Runner:
    """Visits cases for one worker process; `worker` names it in leases and attempts."""

    def __init__(
        self,
        *,
        desk: Desk,
        source: Source,
        planner: Planner,
        checkpoints: Checkpoints,
        worker: str,
        flows: Builders = FLOWS,
        migrations: Migrations = MIGRATIONS,
    ) -> None:
        self.desk = desk
        self._source = source
        self._planner = planner
        self._checkpoints = checkpoints
        self._worker = worker
        self._flows = flows
        self._migrations = migrations
        self._graphs: dict[int, Compiled] = {
            version: build().compile(checkpointer=checkpoints.saver)
            for version, build in flows.items()
        }

    def advance(self, *, case_id: int) -> Visit:
        """Take the case as far as it goes now. Harmless when nothing is due or others have it.

        An error on the way is told to the record, never raised: nobody waits for the answer.
        """
        grant = self.desk.claim(case_id=case_id, worker=self._worker, lease=LEASE)
        if grant is None:
            return Visit.NOT_CLAIMED
        with structlog.contextvars.bound_contextvars(
            case_id=case_id, fencing_token=grant.fencing_token
        ):
            try:
                with heartbeat(desk=self.desk, grant=grant, lease=LEASE):
                    visit = self._visit(grant)
                self.desk.let_go(grant=grant)
                # Once more: it may have been closed while this visit was ending.
                self._forget_if_closed(case_id)
            except LeaseLost as lost:
                log.info("lease_lost", reason=str(lost))
                return Visit.LEASE_LOST
            except Exception as error:  # whatever it was, it must not be repeated unseen
                log.exception("visit_failed")
                return self._report_failure(grant, error)
            log.info("visit_ended", visit=visit.value)
            return visit

    def _report_failure(self, grant: Grant, error: Exception) -> Visit:
        """Let the case say what went wrong, and let it go; the next try is spaced out."""
        try:
            said = fit_to_keep(f"{type(error).__name__}: {error}")
            self.desk.block(grant=grant, reason=f"The agent's visit failed: {said}")
            self.desk.let_go(grant=grant)
        except LeaseLost as lost:
            log.info("lease_lost", reason=str(lost))
            return Visit.LEASE_LOST
        except Exception:  # such as a database that is away
            log.exception("visit_failure_not_recorded")
        return Visit.FAILED

    def _visit(self, grant: Grant) -> Visit:
        way = way_to_known_flow(
            version=grant.flow_version, flows=self._flows, migrations=self._migrations
        )
        if way is None:
            return self._refuse_flow(grant)
        migrated = None
        for step in way:
            migrated = step.translate(self._remembered(grant) if migrated is None else migrated)
            self._checkpoints.forget(thread_of(grant.case_id))
            grant = self.desk.adopt_flow(grant=grant, flow_version=step.to)
        visit = self._walk(grant, migrated)
        if self._forget_if_closed(grant.case_id):
            return Visit.CLOSED
        self._checkpoints.keep_latest(thread_of(grant.case_id))
        return visit

    def _walk(self, grant: Grant, migrated: CaseState | None) -> Visit:
        """Let the graph go on as far as it goes now; from the start where its state is migrated."""
        graph = self._graphs[grant.flow_version]
        work = Work(
            desk=self.desk,
            source=self._source,
            planner=self._planner,
            grant=grant,
            lease=LEASE,
            steps_left=STEPS_PER_VISIT,
            ends_at=time.monotonic() + VISIT_SECONDS,
        )
        config: RunnableConfig = {
            "configurable": {"thread_id": thread_of(grant.case_id)},
            "recursion_limit": 2 * STEPS_PER_VISIT,
        }
        try:
            graph.invoke(
                self._entry(graph, config, grant) if migrated is None else migrated,
                config,
                context=work,
                durability="sync",
                control=RunControl(),
            )
        except GraphDrained:
            return Visit.CUT_SHORT
        except CallsPaused as pause:
            log.info("stopped_by_a_person", reason=str(pause))
            return Visit.STOPPED
        return Visit.PAUSED

    def _remembered(self, grant: Grant) -> dict[str, object]:
        """What the graph of a flow no longer built had saved; empty when nothing is left."""
        config: RunnableConfig = {"configurable": {"thread_id": thread_of(grant.case_id)}}
        try:
            saved = self._checkpoints.saver.get_tuple(config)
        except UNREADABLE as error:
            log.warning("checkpoint_unreadable", reason=repr(error))
            return {}
        return {} if saved is None else dict(saved.checkpoint["channel_values"])

    def _entry(self, graph: Compiled, config: RunnableConfig, grant: Grant) -> Entry:
        """How the graph is entered: woken, continued at a step that did not finish, or started.

        Starting is always right, since the first step asks the record; the rest saves work.
        """
        start = CaseState(case_id=grant.case_id, flow_version=grant.flow_version)
        try:
            saved = graph.get_state(config)
        except UNREADABLE as error:
            log.warning("checkpoint_unreadable", reason=repr(error))
            self._checkpoints.forget(thread_of(grant.case_id))
            return start
        if saved.values and saved.values.get("flow_version") != grant.flow_version:
            log.warning("checkpoint_of_other_flow", found=saved.values.get("flow_version"))
            self._checkpoints.forget(thread_of(grant.case_id))
            return start
        if any(not isinstance(pause, Interrupt) for pause in saved.interrupts):
            log.warning("checkpoint_unreadable", reason="its pause is none")
            self._checkpoints.forget(thread_of(grant.case_id))
            return start
        if saved.interrupts:
            return Command(resume=WAKE_UP)
        if saved.next and saved.next != (wait.__name__,):
            return None
        return start

    def _forget_if_closed(self, case_id: int) -> bool:
        """Keep no checkpoint of a closed case; says whether it is closed."""
        is_closed = self.desk.situation(case_id=case_id).stage is Stage.CLOSED
        if is_closed:
            self._checkpoints.forget(thread_of(case_id))
        return is_closed

    def _refuse_flow(self, grant: Grant) -> Visit:
        """A case of a flow this release does not know is never guessed at; it stays blocked."""
        known = ", ".join(str(version) for version in sorted(self._graphs))
        reason = (
            f"This case was saved under flow version {grant.flow_version}, and this release of the "
            f"agent knows {known}. It needs a migration, or a release that knows its version."
        )
        log.error("unknown_flow_version", found=grant.flow_version, known=known)
        self.desk.block(grant=grant, reason=reason)
        return Visit.UNKNOWN_FLOW

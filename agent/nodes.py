"""The steps of the graph. Each renews the claim, reads the record, does one thing, and says where
to go on. A step that no longer fits the case hands over to `look`, which asks the record.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any, Literal, cast

import structlog
from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt

from agent.calls import (
    carry_out,
    give_back,
    lease_on_target,
    look_at_targets,
    read_sources,
    still_holds_under_lease,
)
from agent.routing import (
    has_unknown_outcome,
    is_to_be_acted_on,
    is_to_be_planned,
    is_to_be_read,
    is_to_be_verified,
    route,
)
from agent.sources.base import NoLease
from agent.state import CaseState, Work
from cases.vocabulary.clocks import iso
from cases.vocabulary.errors import Conflict, LeaseLost
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import Comparison, Situation

LEASE_RETRY = timedelta(seconds=30)

log = structlog.get_logger()


def or_look[Step: Callable[..., Command[Any]]](step: Step) -> Step:
    """When the record moved on under a step, ask it again, once in a visit.

    A second time, or a lost lease, ends the visit: going round would only tire the source.
    """

    @wraps(step)
    def guarded(state: CaseState, runtime: Runtime[Work]) -> Command[Any]:
        try:
            return step(state, runtime)
        except LeaseLost:
            raise
        except Conflict as error:
            log.warning("record_moved_on", step=step.__name__, reason=str(error))
            if runtime.context.has_asked_again:
                raise
            runtime.context.has_asked_again = True
            return Command(goto="look")

    return cast(Step, guarded)


def _begin(runtime: Runtime[Work]) -> tuple[Work, Situation]:
    work = runtime.context
    situation = work.begin_step()
    if work.is_used_up and runtime.control is not None:
        runtime.control.request_drain("the visit is used up")
    return work, situation


@or_look
def look(
    state: CaseState, runtime: Runtime[Work]
) -> Command[Literal["gather", "revalidate", "verify", "wait", "__end__"]]:
    """Ask the record where the case goes on."""
    _, situation = _begin(runtime)
    return Command(goto=route(situation))


def wait(state: CaseState) -> Command[Literal["look"]]:
    """The one pause. Whatever wakes it is only a hint."""
    interrupt("waiting")
    return Command(goto="look")


@or_look
def gather(state: CaseState, runtime: Runtime[Work]) -> Command[Literal["compare", "look"]]:
    """Read the sources and keep what was read."""
    work, situation = _begin(runtime)
    if not is_to_be_read(situation):
        return Command(goto="look")
    read_sources(work, situation)
    return Command(goto="compare", update={"read_at": iso(work.now)})


@or_look
def compare(
    state: CaseState, runtime: Runtime[Work]
) -> Command[Literal["plan", "revalidate", "wait", "look"]]:
    """Weigh what was read against what stands."""
    work, situation = _begin(runtime)
    if not (is_to_be_read(situation) and work.has_fresh_readings(state)):
        return Command(goto="look")
    match work.desk.compare_with_now(grant=work.grant):
        case Comparison.PLAN | Comparison.REPLACE:
            return Command(goto="plan")
        case Comparison.ACT:
            return Command(goto="revalidate")
        case Comparison.RETAIN | Comparison.CLEAR | Comparison.BLOCKED:
            return Command(goto="wait")


@or_look
def plan(state: CaseState, runtime: Runtime[Work]) -> Command[Literal["propose", "look"]]:
    """Ask the planner, unless this round was answered before; keep the answer unused."""
    work, situation = _begin(runtime)
    if not (is_to_be_planned(situation) and work.has_fresh_readings(state)):
        return Command(goto="look")
    question = work.desk.ask_for_plan(grant=work.grant, planner=work.planner.name)
    if question.answer is None:
        answer = work.planner.plan(question)
        work.desk.record_plan(grant=work.grant, request_id=question.request_id, answer=answer)
    return Command(goto="propose", update={"request_id": question.request_id})


@or_look
def propose(state: CaseState, runtime: Runtime[Work]) -> Command[Literal["wait", "look"]]:
    """Turn the recorded answer into a proposal, an escalation, or 'nothing left to do'."""
    work, situation = _begin(runtime)
    request_id = state.get("request_id")
    if not (is_to_be_planned(situation) and work.has_fresh_readings(state)):
        return Command(goto="look")
    if not isinstance(request_id, int):
        return Command(goto="look")
    work.desk.propose(grant=work.grant, request_id=request_id)
    return Command(goto="wait")


@or_look
def revalidate(
    state: CaseState, runtime: Runtime[Work]
) -> Command[Literal["act", "verify", "look"]]:
    """Right before acting: read again and ask whether the release still holds."""
    work, situation = _begin(runtime)
    if not is_to_be_acted_on(situation):
        return Command(goto="look")
    if has_unknown_outcome(situation):
        return Command(goto="verify")
    read_sources(work, situation)
    return Command(goto="act" if work.desk.clear_to_act(grant=work.grant) else "look")


@or_look
def act(state: CaseState, runtime: Runtime[Work]) -> Command[Literal["verify", "wait", "look"]]:
    """Carry out the next wanted effect: lease, committed attempt, one call, its outcome."""
    work, situation = _begin(runtime)
    if not is_to_be_acted_on(situation):
        return Command(goto="look")
    effect = situation.next_effect()
    if effect is None or has_unknown_outcome(situation):
        return Command(goto="verify")
    lease = lease_on_target(work, situation)
    if isinstance(lease, NoLease):
        _back_off(work, lease)
        return Command(goto="wait")
    following: Literal["verify", "wait", "look"] = "look"
    if still_holds_under_lease(work, situation):
        order = work.desk.begin_attempt(
            grant=work.grant,
            effect_id=effect.effect_id,
            capabilities=work.source.capabilities,
        )
        if order is not None:
            following = carry_out(work, order, lease)
        elif _is_more_to_do(work):
            following = "wait"  # held up from outside, so going round would change nothing
    give_back(work, lease)
    return Command(goto=following)


@or_look
def verify(
    state: CaseState, runtime: Runtime[Work]
) -> Command[Literal["revalidate", "repeat", "wait", "look"]]:
    """Read the targets again, each by its own reference, and settle what that settles."""
    work, situation = _begin(runtime)
    if not is_to_be_verified(situation):
        return Command(goto="look")
    looks = look_at_targets(work, situation)
    if isinstance(looks, NoLease):
        _back_off(work, looks)
        return Command(goto="wait")
    is_to_be_repeated = work.desk.record_looks(
        grant=work.grant, looks=looks, capabilities=work.source.capabilities
    )
    if is_to_be_repeated:
        return Command(goto="repeat")
    return Command(goto="revalidate" if _is_more_to_do(work) else "wait")


@or_look
def repeat(state: CaseState, runtime: Runtime[Work]) -> Command[Literal["verify", "wait", "look"]]:
    """Make a call of unknown outcome again under its key, where only its answer can tell."""
    work, situation = _begin(runtime)
    if not has_unknown_outcome(situation) or not is_to_be_verified(situation):
        return Command(goto="look")
    read_sources(work, situation)
    lease = lease_on_target(work, situation)
    if isinstance(lease, NoLease):
        _back_off(work, lease)
        return Command(goto="wait")
    order = work.desk.begin_repeat(grant=work.grant, capabilities=work.source.capabilities)
    following = "wait" if order is None else carry_out(work, order, lease)
    give_back(work, lease)
    return Command(goto=following)


def _back_off(work: Work, refusal: NoLease) -> None:
    delay = max(LEASE_RETRY, refusal.retry_after or LEASE_RETRY)
    work.desk.back_off(grant=work.grant, reason=refusal.reason, delay=delay)


def _is_more_to_do(work: Work) -> bool:
    after = work.desk.situation(case_id=work.grant.case_id)
    return (
        after.stage is Stage.EXECUTING
        and after.next_effect() is not None
        and not has_unknown_outcome(after)
    )

"""What the steps of the graph do outside: read, take a lease, look, make the call of an attempt.

How much of it is needed follows from what the source declares that it can do.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Literal

from agent.sources.base import NoLease, Permit, TargetLease
from agent.state import Work
from cases.vocabulary.errors import CallsPaused
from cases.vocabulary.lanes import Lane
from cases.vocabulary.work import (
    AttemptOrder,
    CallOutcome,
    CallResult,
    EffectWork,
    Situation,
    TargetLook,
)

TARGET_LEASE = timedelta(seconds=60)


def read_sources(work: Work, situation: Situation) -> None:
    """Read everything the case is about and keep what was read."""
    readings, asked_at = _asked(
        work,
        lambda permit: work.source.read(
            subject=situation.subject, records=situation.records, permit=permit
        ),
    )
    work.desk.record_readings(grant=work.grant, readings=readings, asked_at=asked_at)


def _asked[Told](work: Work, ask: Callable[[Permit], Told]) -> tuple[Told, datetime]:
    """What is told, with the time from which it may be: that of the first call for it."""
    calls: list[datetime] = []

    def permit() -> None:
        work.permit()
        calls.append(work.now)

    told = ask(permit)
    return told, calls[0] if calls else work.now


def lease_on_target(work: Work, situation: Situation) -> TargetLease | NoLease | None:
    """The target's own lease on the subject, held by the case so that a successor can retake it.

    None where the target has no leases.
    """
    if not work.source.capabilities.leases:
        return None
    return work.source.take_lease(
        subject=situation.subject,
        holder=f"watchbill case {situation.case_id}",
        ttl=TARGET_LEASE,
        permit=work.permit,
    )


def give_back(work: Work, lease: TargetLease | None) -> None:
    """Let others at the subject. Not for a `finally`: after an error no further call is made."""
    if lease is not None:
        work.source.release_lease(lease, permit=work.permit)


def look_at_targets(work: Work, situation: Situation) -> list[TargetLook] | NoLease:
    """A look for each effect; one that finds nothing counts only behind a fence.

    A call of an earlier worker may still be on its way. The target's lease, taken anew, makes it
    refuse that call; what is absent after that stays absent.
    """
    effects = situation.to_look_up()
    looks = [_look_up(work, effect) for effect in effects]
    absent = [look for look in looks if look.searchable and not look.found]
    if not absent or not all(look.readable for look in looks):
        return looks
    lease = lease_on_target(work, situation)
    if isinstance(lease, NoLease):
        return lease
    if lease is None:
        return looks
    fenced = [
        _look_up(work, effect) if look in absent else look
        for effect, look in zip(effects, looks, strict=True)
    ]
    give_back(work, lease)
    return fenced


def _look_up(work: Work, effect: EffectWork) -> TargetLook:
    """One look, with the time from which what it shows may be."""
    look, asked_at = _asked(work, lambda permit: work.source.look_up(effect=effect, permit=permit))
    return replace(look, asked_at=asked_at)


def still_holds_under_lease(work: Work, situation: Situation) -> bool:
    """Where the target refuses no late write, facts are read once more, with others kept out."""
    if work.source.capabilities.conditional_writes:
        return True
    read_sources(work, situation)
    return work.desk.clear_to_act(grant=work.grant)


def carry_out(
    work: Work, order: AttemptOrder, lease: TargetLease | None
) -> Literal["verify", "wait"]:
    """Make the one call of a committed attempt and record how it ended."""
    token = None if lease is None else lease.fencing_token
    permit = partial(work.permit, lane=Lane.EXECUTION)  # whatever stage the case stands at
    try:
        result = work.source.perform(order=order, fencing_token=token, permit=permit)
    except CallsPaused as pause:
        _finish(work, order, CallResult(outcome=CallOutcome.NOT_SENT, detail=str(pause)))
        raise
    _finish(work, order, result)
    return "wait" if result.outcome is CallOutcome.NOT_SENT else "verify"


def _finish(work: Work, order: AttemptOrder, result: CallResult) -> None:
    work.desk.finish_attempt(
        grant=work.grant,
        attempt_id=order.attempt_id,
        result=result,
        capabilities=work.source.capabilities,
    )

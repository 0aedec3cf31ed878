"""Events from outside: kept once and durably, then applied to the case they concern.

An event is a hint, never a proof: all it does is make the agent look afresh. So it does no harm
that events come twice, late or in another order.
"""

import hashlib
from datetime import datetime

import structlog
from django.db import InterfaceError, OperationalError, connection, transaction

from cases.actions.change import Change, busy_is_a_conflict, changing
from cases.actions.late_reports import effect_reported, look_again
from cases.actions.pauses import standing_pause
from cases.clock import business_now
from cases.models import Case, Effect, InboundEvent
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.clocks import iso
from cases.vocabulary.errors import Conflict, InvalidInput
from cases.vocabulary.lanes import Lane
from cases.vocabulary.playbooks import playbook_of
from cases.vocabulary.reports import Report, report_from
from cases.vocabulary.stages import Stage

State = InboundEvent.State

log = structlog.get_logger()


def receive_event(*, system: str, event_id: str, content: bytes, at: datetime) -> None:
    """Keep a signed message and apply it, in one transaction; one that was kept before is dropped.

    What cannot be read, or comes under the id of another message, is kept in quarantine. `at` is
    business time. Raises `Busy` when the same event is just being kept by somebody else.
    """
    digest = hashlib.sha256(content).hexdigest()
    with busy_is_a_conflict("this event"), transaction.atomic():
        _one_at_a_time(f"{system} {event_id}")
        known = InboundEvent.objects.filter(system=system, event_id=event_id)
        if known.filter(content_digest=digest).exists():
            return
        event = InboundEvent(
            system=system,
            event_id=event_id,
            received_at=at,
            content=content,
            content_digest=digest,
        )
        report = _describe(event)
        if known.exclude(state=State.QUARANTINED).exists():
            _became(event, State.QUARANTINED, "An earlier event with this id says something else.")
        event.save(force_insert=True)
        if report is not None and event.state == State.RECEIVED:
            _apply_safely(event, report)


def apply_received_events(*, limit: int) -> int:
    """Apply what was kept but not applied yet, at most `limit`; says how many were.

    Such are events that came while intake was paused, or while their case was being worked on. Two
    at once are harmless: each event is locked, and what another holds is passed over.
    """
    if standing_pause(lane=Lane.INTAKE, kind="", agent=SYSTEM) is not None:
        return 0
    waiting = InboundEvent.objects.filter(state=State.RECEIVED).values_list("pk", flat=True)
    # In no order: those that cannot be applied yet must not stand before all others.
    return sum(_apply_later(pk) for pk in list(waiting.order_by("?")[:limit]))


def _apply_later(pk: int) -> bool:
    with transaction.atomic():
        free = InboundEvent.objects.select_for_update(skip_locked=True, of=("self",))
        event = free.filter(pk=pk, state=State.RECEIVED).first()
        if event is None:
            return False
        _apply_safely(event, report_from(bytes(event.content)))
        return event.state != State.RECEIVED


def _one_at_a_time(name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])


def _describe(event: InboundEvent) -> Report | None:
    """Note what the event says; one that cannot be read goes into quarantine."""
    try:
        report = report_from(bytes(event.content))
    except InvalidInput as error:
        _became(event, State.QUARANTINED, str(error))
        return None
    event.event_type, event.occurred_at = report.name, report.occurred_at
    event.reference, event.subject = report.reference, report.subject
    return report


def _became(event: InboundEvent, state: State, detail: str) -> None:
    event.state, event.detail = state, detail[:500]
    if state is State.QUARANTINED:
        log.warning("event_quarantined", system=event.system, event_id=event.event_id, why=detail)


def _apply_safely(event: InboundEvent, report: Report) -> None:
    """Apply an event; one that breaks what should apply it is set aside, and others go on."""
    try:
        with transaction.atomic():
            _apply(event, report)
    except (OperationalError, InterfaceError):
        raise  # the database is away: nothing is known about the event
    except Conflict as error:
        log.info("event_not_applied_yet", event_id=event.event_id, why=str(error))
        event.case = None
    except Exception as error:
        log.exception("event_cannot_be_applied", event_id=event.event_id)
        event.case = None
        _became(event, State.QUARANTINED, f"It could not be applied: {type(error).__name__}.")
    event.save(update_fields=("state", "detail", "case"))


def _apply(event: InboundEvent, report: Report) -> None:
    effect = effect_reported(system=event.system, report=report)
    kind = "" if effect is None else effect.decision.case.kind
    if standing_pause(lane=Lane.INTAKE, kind=kind, agent=SYSTEM) is not None:
        return
    if effect is None:
        _became(event, State.IGNORED, "Nothing of ours waits for it.")
        return
    # Passed over when someone is just changing the case: the sender gets its answer at once.
    free = Case.objects.select_for_update(skip_locked=True, of=("self",))
    case = free.filter(pk=effect.decision.case_id).first()
    if case is None:
        return
    event.case = case
    if case.current_stage is Stage.CLOSED:
        _became(event, State.IGNORED, "The case is closed.")
    elif not _is_news(case, effect, report):
        _became(event, State.IGNORED, f"{effect.reference} is known to be adopted.")
    else:
        _tell(event, report, case=case, effect_id=effect.pk)


def _is_news(case: Case, effect: Effect, report: Report) -> bool:
    spec = playbook_of(case.kind).action(effect.proposed_action.action)
    effect.refresh_from_db(fields=("state",))  # under the case's lock
    return effect.state != Effect.State.ADOPTED or report.status not in spec.adopted_when


def _tell(event: InboundEvent, report: Report, *, case: Case, effect_id: int) -> None:
    """Put the report on the case and let the agent look; not in the middle of a visit.

    A worker would not know of it and would say anew when the case is due.
    """
    with changing(case_id=case.pk, by=SYSTEM, at=business_now()) as change:
        if change.run.lease_until is not None and change.run.lease_until > change.at:
            change.nothing_to_do()
            event.case = None
            return
        effect = Effect.objects.select_related("proposed_action", "decision").get(pk=effect_id)
        _record(change, event, report)
        said = f"The {event.system} system reported {report.name}."
        _became(event, State.APPLIED, look_again(change, effect=effect, report=report, said=said))


def _record(change: Change, event: InboundEvent, report: Report) -> None:
    change.record(
        "event_reported",
        system=event.system,
        event_id=event.event_id,
        report=report.name,
        reference=report.reference,
        record_type=report.record_type,
        record_id=report.record_id,
        status=report.status,
        occurred_at=None if report.occurred_at is None else iso(report.occurred_at),
    )

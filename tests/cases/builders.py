"""Builders that reach any state of a case by driving the real actions, as the agent does.

What the outside would say is given as readings; actions, constraints and clock are real.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from cases.actions import (
    clock,
    closing,
    decisions,
    effects,
    evidence,
    intake,
    people,
    planning,
    read_backs,
    runs,
)
from cases.actions.goals import current_goals
from cases.clock import business_now
from cases.models import AuditEvent, Case, Decision, Desk, Effect, Person, Proposal, Role, Run
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.playbooks import playbook_of, type_of
from cases.vocabulary.work import (
    AttemptOrder,
    CallOutcome,
    CallResult,
    Capabilities,
    Comparison,
    Grant,
    ReadOutcome,
    SourceReading,
    TargetLook,
    VersionKind,
)

AGENT = runs.agent_actor(name="exception-bot", version="1.0")
LEASE = timedelta(seconds=60)
EVENING = datetime(2026, 11, 23, 23, 0, tzinfo=UTC)  # Mon 23 Nov 17:00 in Chicago
MORNING = datetime(2026, 11, 24, 14, 0, tzinfo=UTC)  # Tue 24 Nov 08:00 in Chicago
TRANSPORT = Capabilities(
    system="transport",
    versions=VersionKind.NUMBER,
    conditional_writes=True,
    leases=True,
    fencing=True,
    lookup_by_reference=True,
    key_lifetime=timedelta(hours=24),
    consistency_window=timedelta(seconds=2),
)
TEN_O_CLOCK = {
    "start": "2026-11-25T15:00:00Z",
    "end": "2026-11-25T17:00:00Z",
    "zone": "America/New_York",
}
TWO_O_CLOCK = {
    "start": "2026-11-25T19:00:00Z",
    "end": "2026-11-25T21:00:00Z",
    "zone": "America/New_York",
}
OAKLINE = {"code": "OAKX", "name": "Oakline Freight", "set_by": "J. Ortiz"}


@dataclass(frozen=True)
class Cast:
    """The people of every test: owner, colleague, lead, admin, auditor, and someone deactivated."""

    owner: Person
    colleague: Person
    lead: Person
    admin: Person
    auditor: Person
    gone: Person
    desk: Desk


def a_cast() -> Cast:
    """The cast and their desk in Chicago."""

    def person(username: str, name: str, role: Role, *, is_active: bool = True) -> Person:
        first, last = name.split(" ", 1)
        return Person.objects.create_user(
            username=username,
            first_name=first,
            last_name=last,
            role=role,
            is_active=is_active,
        )

    lead = person("priya", "Priya Raman", Role.LEAD)
    people.register_agent(
        name="exception-bot", version="1.0", owner=lead, by=SYSTEM, at=business_now()
    )
    return Cast(
        owner=person("marta", "Marta Ortega", Role.OPERATOR),
        colleague=person("dana", "Dana Wu", Role.OPERATOR),
        lead=lead,
        admin=person("alex", "Alex Stone", Role.ADMIN),
        auditor=person("audrey", "Audrey Falk", Role.AUDITOR),
        gone=person("gil", "Gil Gone", Role.OPERATOR, is_active=False),
        desk=Desk.objects.create(name="DFW desk", zone="America/Chicago", lead=lead),
    )


def at_business_time(moment: datetime) -> None:
    """Let the business clock read `moment`; it keeps ticking."""
    clock.set_business_clock(to=moment)


def a_shipment(version: int = 41, *, subject: str = "S-318", **facts: Any) -> SourceReading:
    """What the transport system says of the shipment; `facts` replace single facts."""
    fields = {
        "carrier_assignment": None,
        "pickup_window": {
            "start": "2026-11-24T18:00:00Z",
            "end": "2026-11-24T21:00:00Z",
            "zone": "America/Chicago",
        },
        "delivery_window": TEN_O_CLOCK,
        "equipment": "reefer",
        "weight": "18250",
        "lane": "DFW → ATL",
        "customer_contact": {
            "code": "receiving@harborfoods.example",
            "name": "Harbor Foods",
            "set_by": "",
        },
        "customer_notice": None,
        **facts,
    }
    return SourceReading(
        system="transport",
        record_type="shipment",
        record_id=subject,
        outcome=ReadOutcome.READ,
        version=version,
        fields=fields,
    )


def a_quote(
    quote_id: str = "QX-71",
    *,
    amount_minor: int = 179000,
    state: str = "open",
    expires_at: str = "2026-11-24T06:00:00Z",
    code: str = "BLUX",
) -> SourceReading:
    """What the transport system says of a quote; by default valid until midnight in Chicago."""
    return SourceReading(
        system="transport",
        record_type="quote",
        record_id=quote_id,
        outcome=ReadOutcome.READ,
        version=1,
        fields={
            "rate_carrier": {"code": code, "name": f"{code} Lines", "set_by": ""},
            "rate_amount": {"amount_minor": amount_minor, "currency": "USD"},
            "rate_expiry": {"expires_at": expires_at, "zone": "America/Chicago", "state": state},
        },
    )


def unreadable(
    reading: SourceReading, failure: str = "transport system answered 503"
) -> SourceReading:
    """The same record when it cannot be read."""
    return replace(reading, outcome=ReadOutcome.FAILED, version=None, fields={}, failure=failure)


EVENING_WORLD = (a_shipment(), a_quote())
MORNING_WORLD = (
    a_shipment(42, delivery_window=TWO_O_CLOCK, carrier_assignment=OAKLINE),
    a_quote(state="expired"),
)


def an_open_case(
    cast: Cast, *, subject: str = "S-318", owner: Person | None = None, case_type: str = "E02"
) -> Case:
    """A case that was just opened, owned by the cast's owner unless said otherwise."""
    opened = intake.open_case(
        wanted=intake.NewCase(
            kind="freight_exception",
            case_type=case_type,
            subject=subject,
            title="Carrier fell off",
            system="transport",
            desk=cast.desk,
            owner=owner or cast.owner,
        ),
        by=SYSTEM,
        at=business_now(),
    )
    return Case.objects.get(pk=opened.case_id)


def a_grant(case: Case, *, worker: str = "worker-1") -> Grant:
    """A claim on the case, made due now for the purpose."""
    Run.objects.filter(case=case).update(due_at=business_now(), lease_until=None, worker="")
    grant = runs.claim(case_id=case.pk, agent=AGENT, worker=worker, lease=LEASE)
    assert grant is not None
    return grant


def agent_reads(case: Case, readings: Sequence[SourceReading]) -> Comparison:
    """One refresh by the agent: read, compare, and plan and propose when that is due."""
    grant = a_grant(case)
    evidence.record_readings(grant=grant, by=AGENT, readings=readings, asked_at=business_now())
    outcome = evidence.compare_with_now(grant=grant, by=AGENT)
    if outcome in {Comparison.PLAN, Comparison.REPLACE}:
        agent_plans(case, grant)
    runs.let_go(grant=grant)
    return outcome


def agent_plans(case: Case, grant: Grant) -> None:
    """Ask, answer with the playbook's best plan that was not turned down, and propose."""
    question = planning.ask_for_plan(grant=grant, by=AGENT, planner="rules@1")
    refused = [turned.actions for turned in question.turned_down]
    plans = playbook_of(case.kind).candidates(
        type_of(kind=case.kind, code=case.case_type), question.sheet, question.now
    )
    answer = next(plan for plan in plans if plan.actions not in refused)
    planning.record_plan(
        grant=grant, by=AGENT, request_id=question.request_id, answer=answer.as_value()
    )
    planning.propose(grant=grant, by=AGENT, request_id=question.request_id)


def a_case_waiting_for_review(cast: Cast, *, subject: str = "S-318") -> Case:
    """Monday 17:00: proposal 1 books Bluewater until midnight and promises 10:00."""
    at_business_time(EVENING)
    case = an_open_case(cast, subject=subject)
    readings = (a_shipment(subject=subject), *EVENING_WORLD[1:])
    assert agent_reads(case, readings) is Comparison.PLAN
    case.refresh_from_db()
    return case


def current_proposal(case: Case) -> Proposal:
    """The proposal with the highest number."""
    proposal = case.proposals.order_by("-number").first()
    assert proposal is not None
    return proposal


def an_answer(case: Case, *, number: int | None = None, **changes: Any) -> decisions.Answer:
    """The answer of someone whose page shows proposal `number` (default: the newest)."""
    proposal = current_proposal(case) if number is None else case.proposals.get(number=number)
    answer = decisions.Answer(
        case_id=case.pk,
        case_version=case.version,
        proposal_number=proposal.number,
        digest=proposal.digest,
        nonce=uuid4(),
    )
    return replace(answer, **changes)


def a_released_case(cast: Cast) -> Case:
    """Proposal 1 was released by the owner at 17:00."""
    case = a_case_waiting_for_review(cast)
    decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())
    case.refresh_from_db()
    return case


def agent_starts_attempt(
    case: Case,
    readings: Sequence[SourceReading],
    *,
    position: int = 1,
    capabilities: Capabilities = TRANSPORT,
) -> tuple[Grant, AttemptOrder | None]:
    """The agent re-reads, checks, and begins the attempt for the action at `position`."""
    grant = a_grant(case)
    evidence.record_readings(grant=grant, by=AGENT, readings=readings, asked_at=business_now())
    if not effects.clear_to_act(grant=grant, by=AGENT):
        return grant, None
    effect = Effect.objects.get(
        decision__case=case, decision__ended_at=None, proposed_action__position=position
    )
    return grant, effects.begin_attempt(
        grant=grant, by=AGENT, effect_id=effect.pk, capabilities=capabilities
    )


def target_answers(
    grant: Grant, order: AttemptOrder, outcome: CallOutcome = CallOutcome.ANSWERED
) -> None:
    """The call of an attempt ended like this."""
    effects.finish_attempt(
        grant=grant,
        by=AGENT,
        attempt_id=order.attempt_id,
        result=CallResult(outcome=outcome, detail=f"The target: {outcome.value}.", record_id="B-1"),
        capabilities=TRANSPORT,
    )


def target_shows(
    grant: Grant,
    order: AttemptOrder,
    *,
    state: str,
    found: bool = True,
    capabilities: Capabilities = TRANSPORT,
    **look_says: Any,
) -> None:
    """A fresh look at the target finds the record as released, in `state`, or nothing.

    `look_says` replaces single values of the look.
    """
    parameters = order.effect.parameters
    fields = {
        "shipment_id": parameters["shipment"],
        **{key: parameters[key] for key in parameters if key != "shipment"},
    }
    look = TargetLook(
        effect_id=order.effect.effect_id,
        found=found,
        record_id="B-1" if found else "",
        state=state if found else "",
        fields=fields if found else {},
        asked_at=business_now(),
    )
    look = replace(look, **look_says)
    read_backs.record_looks(grant=grant, by=AGENT, looks=[look], capabilities=capabilities)


def drops_of(case: Case) -> dict[str, str]:
    """A reason to drop each goal of the case that is still open, by its reference."""
    goals = current_goals(Case.objects.get(pk=case.pk))
    return {goal.reference: "Not wanted any more." for goal in goals if not goal.is_settled}


def drop_fields(case: Case) -> dict[str, str]:
    """The same as the fields of the closing form."""
    return {f"drop-{reference}": reason for reference, reason in drops_of(case).items()}


def a_person_closes(case: Case, *, by: Person, reason: str = "The customer cancelled.") -> None:
    """The person closes the case and drops whatever is still open."""
    closing.close_without_action(
        case_id=case.pk, by=by, at=business_now(), reason=reason, drops=drops_of(case)
    )


def stage_of(case: Case) -> str:
    """The stage as stored."""
    return Case.objects.values_list("stage", flat=True).get(pk=case.pk)


def events_of(case: Case) -> list[str]:
    """The names of a case's audit events, in order."""
    return [row.event for row in audit_of(case)]


def audit_of(case: Case) -> list[AuditEvent]:
    """A case's audit events, in order."""
    return list(AuditEvent.objects.filter(case_id=case.pk).order_by("sequence"))


def decisions_of(case: Case) -> list[str]:
    """Kinds of all decisions that counted."""
    return list(Decision.objects.filter(case=case).order_by("id").values_list("kind", flat=True))

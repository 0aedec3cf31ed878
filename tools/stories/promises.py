"""What the night must have kept: each promise checked against the ledger and the record."""

from collections.abc import Sequence
from dataclasses import dataclass

from tools.simulator_control import LedgerEntry
from tools.stories.s318 import SHIPMENT, Night

# isort: split
from cases import audit
from cases.models import Attempt, AuditEvent, Decision, Effect, PlanRequest, Proposal
from cases.vocabulary.errors import DecisionRefused

AGENT_PRINCIPAL = "watchbill-agent"
THREE_CHANGES = ["delivery_window", "rate_expiry", "carrier_assignment"]


@dataclass(frozen=True, kw_only=True)
class Check:
    """One promise and whether it held, with what was seen."""

    promise: str
    sentence: str
    held: bool
    seen: str


def ours(ledger: Sequence[LedgerEntry]) -> list[LedgerEntry]:
    """The effects in the transport system's ledger that Watchbill's agent caused."""
    return [entry for entry in ledger if entry.principal == AGENT_PRINCIPAL]


def check_morning(night: Night, *, workers: tuple[int, int]) -> list[Check]:
    """Before anybody released anything in the morning."""
    three, four = night.proposal(3), night.proposal(4)
    changes = [change["key"] for change in four.changes]
    kept = [row.action for row in four.actions.all()]
    nothing = ours(night.control.ledger(shipment_id=SHIPMENT))
    return [
        Check(
            promise="P1",
            sentence="A new process goes on where the old one ended",
            held=workers[0] != workers[1],
            seen=f"worker {workers[0]} ended, worker {workers[1]} refreshed",
        ),
        Check(
            promise="P10",
            sentence="Proposal 3 is stale and says which facts changed",
            held=three.state == Proposal.State.STALE and changes == THREE_CHANGES,
            seen=f"{three.state}: {', '.join(changes)}",
        ),
        Check(
            promise="P11",
            sentence="It was replaced by a version that keeps the employee's carrier",
            held=kept == ["keep_assigned_carrier", "send_customer_update"],
            seen=", ".join(kept),
        ),
        Check(
            promise="P4",
            sentence="Nothing was done for proposal 3",
            held=not nothing,
            seen=f"{len(nothing)} effects of ours in the ledger",
        ),
    ]


def check_refusal(night: Night, refusal: DecisionRefused | None) -> Check:
    """Someone answered proposal 3 in the morning."""
    refused = AuditEvent.objects.filter(case_id=night.case_id, event="decision_refused").count()
    decided = Decision.objects.filter(proposal__case_id=night.case_id, proposal__number=3).count()
    explained = [] if refusal is None else [change["key"] for change in refusal.changes]
    return Check(
        promise="P6",
        sentence="Releasing proposal 3 is refused, explained and audited",
        held=explained == THREE_CHANGES and (refused, decided) == (1, 0),
        seen="not refused" if refusal is None else str(refusal),
    )


def check_outcome(night: Night) -> list[Check]:
    """After version 4 was released and carried out."""
    ledger = night.control.ledger(shipment_id=SHIPMENT)
    return [
        _check_ledger(night, ledger),
        _check_carrier(night, ledger),
        _check_labels(night),
        _check_planning(night),
        _check_audit(night),
    ]


def _check_ledger(night: Night, ledger: Sequence[LedgerEntry]) -> Check:
    effects = [(entry.kind, entry.client_reference) for entry in ours(ledger)]
    return Check(
        promise="P4",
        sentence="Exactly the released message, once",
        held=effects == [("message", f"WB-{night.case_id}-4-2")],
        seen=f"ledger: {', '.join(f'{kind} {reference}' for kind, reference in effects)}",
    )


def _check_carrier(night: Night, ledger: Sequence[LedgerEntry]) -> Check:
    bookings = [entry for entry in ledger if entry.kind == "booking"]
    carrier = _carrier(night)
    return Check(
        promise="P14",
        sentence="The employee's carrier survives; nothing was booked over it",
        held=not bookings and carrier == "OAKX",
        seen=f"carrier {carrier}, {len(bookings)} bookings",
    )


def _check_labels(night: Night) -> Check:
    effects = list(Effect.objects.filter(decision__proposal__case_id=night.case_id))
    attempts = Attempt.objects.filter(effect__in=effects).count()
    told_apart = (
        len(effects) == 1
        and effects[0].confirmed_at is not None
        and effects[0].adopted_at is not None
        and night.case.closed_at is None
    )
    return Check(
        promise="P15",
        sentence="Attempt, effect, adoption and acceptance are recorded apart",
        held=told_apart and attempts == 1,
        seen=f"{attempts} attempt, {effects[0].state if effects else 'nothing'}, acceptance open",
    )


def _check_planning(night: Night) -> Check:
    rounds = PlanRequest.objects.filter(case_id=night.case_id)
    return Check(
        promise="P3",
        sentence="Each planning round was asked once",
        held=rounds.count() == 4 and all(item.times_asked == 1 for item in rounds),
        seen=f"{rounds.count()} rounds",
    )


def _check_audit(night: Night) -> Check:
    events = AuditEvent.objects.filter(case_id=night.case_id).order_by("sequence")
    return Check(
        promise="P31",
        sentence="Every step is in the audit, and its chain is unbroken",
        held=events.count() > 0 and audit.broken_links(events) == [],
        seen=f"{events.count()} events",
    )


def _carrier(night: Night) -> str:
    record = night.case.sources.get(record_type="shipment", record_id=SHIPMENT)
    assigned = record.latest.fields["carrier_assignment"] if record.latest else None
    return str(assigned["code"]) if assigned else "none"

"""The playbook of freight exceptions: types, facts, catalogue, goals, deadlines and words.

Numbers are defaults a desk sets for itself. Tolerances follow the desk's staleness policy: weight
1 %, money and windows exact.
"""

from datetime import datetime, timedelta
from decimal import Decimal

from cases.vocabulary.budgets import USUAL_BUDGET
from cases.vocabulary.clocks import instant_from
from cases.vocabulary.facts import FactKind, FactSheet, FactSpec, Value
from cases.vocabulary.freight_actions import ACTIONS
from cases.vocabulary.freight_plans import candidates, customer_was_told
from cases.vocabulary.playbook import CaseType, GoalSpec, PlannedAction, Playbook

PICKUP_LEAD = timedelta(hours=3)
LATEST_DECISION = timedelta(hours=4)

FACTS = (
    FactSpec(
        key="pickup_window",
        label="Pickup window",
        record_type="shipment",
        kind=FactKind.WINDOW,
        why="The carrier must be able to load in this window.",
    ),
    FactSpec(
        key="delivery_window",
        label="Delivery window",
        record_type="shipment",
        kind=FactKind.WINDOW,
        why="The customer would be told a time that no longer holds.",
    ),
    FactSpec(
        key="rate_carrier",
        label="Carrier of the rate",
        record_type="quote",
        kind=FactKind.PARTY,
        why="The rate belongs to this carrier.",
    ),
    FactSpec(
        key="rate_amount",
        label="Rate",
        record_type="quote",
        kind=FactKind.MONEY,
        why="This amount would be spent.",
    ),
    FactSpec(
        key="rate_expiry",
        label="Rate expiry",
        record_type="quote",
        kind=FactKind.EXPIRY,
        why="An expired rate cannot be booked.",
    ),
    FactSpec(
        key="carrier_assignment",
        label="Carrier",
        record_type="shipment",
        kind=FactKind.PARTY,
        why="A second booking would double the truck; an employee's choice is kept.",
    ),
    FactSpec(
        key="customer_contact",
        label="Customer contact",
        record_type="shipment",
        kind=FactKind.PARTY,
        why="The message goes to this address.",
    ),
    FactSpec(
        key="customer_notice",
        label="Customer was told",
        record_type="shipment",
        kind=FactKind.NOTICE,
        why="Telling the customer twice, or two different times, costs trust.",
    ),
    FactSpec(
        key="equipment",
        label="Equipment",
        record_type="shipment",
        kind=FactKind.TEXT,
        why="The rate is for this equipment only.",
    ),
    FactSpec(
        key="weight",
        label="Weight",
        record_type="shipment",
        kind=FactKind.WEIGHT,
        why="The rate is for this weight; up to 1 % either way does not matter.",
        tolerance_percent=Decimal(1),
    ),
    FactSpec(
        key="lane",
        label="Lane",
        record_type="shipment",
        kind=FactKind.TEXT,
        why="The rate is for this lane only.",
    ),
    FactSpec(
        key="ended",
        label="Shipment ended",
        record_type="shipment",
        kind=FactKind.TEXT,
        why="What is delivered or cancelled needs no truck, and no word about its delivery.",
    ),
)


def _decide_by(sheet: FactSheet, now: datetime) -> datetime:
    """Lead time before pickup opens, as tenders need it; a few hours when that has passed."""
    pickup: Value = sheet.subject("pickup_window")
    if pickup is not None:
        deadline = instant_from(pickup["start"]) - PICKUP_LEAD
        if deadline > now:
            return deadline
    return now + LATEST_DECISION


def _expiry_of(planned: PlannedAction, sheet: FactSheet) -> datetime | None:
    quote_id = planned.parameters.get("quote_id")
    reading = sheet.reading("quote", quote_id) if quote_id else None
    return None if reading is None else instant_from(reading.fields["rate_expiry"]["expires_at"])


def _has_carrier(sheet: FactSheet) -> bool:
    return sheet.subject("carrier_assignment") is not None


def _carrier_credit(sheet: FactSheet) -> str:
    carrier = sheet.subject("carrier_assignment")
    return f"{carrier['name']} ({carrier['code']}) was assigned by {carrier['set_by']}"


def _notice_credit(sheet: FactSheet) -> str:
    return f"the customer was told by {sheet.subject('customer_notice')['sent_by']}"


FREIGHT = Playbook(
    kind="freight_exception",
    label="Freight exception",
    subject_type="shipment",
    subject_label="Shipment",
    types={
        "E02": CaseType(code="E02", label="Tender failed", goals=("carrier", "customer_told")),
    },
    facts={spec.key: spec for spec in FACTS},
    actions={spec.name: spec for spec in ACTIONS},
    goals={
        "carrier": GoalSpec(
            key="carrier",
            label="The shipment has a carrier",
            achieved=_has_carrier,
            credit=_carrier_credit,
        ),
        "customer_told": GoalSpec(
            key="customer_told",
            label="The customer knows the delivery time",
            achieved=customer_was_told,
            credit=_notice_credit,
        ),
    },
    release_valid_for=timedelta(minutes=60),
    decide_by=_decide_by,
    expiry_of=_expiry_of,
    candidates=candidates,
    budget=USUAL_BUDGET,
    critical_facts=("delivery_window", "carrier_assignment"),
    wording={"source": "transport system", "release": "Release", "released": "released"},
)

"""The freight catalogue: every action the agent may propose, and nothing else."""

from datetime import timedelta

from cases.vocabulary.clocks import instant_from
from cases.vocabulary.money import money_from
from cases.vocabulary.playbook import (
    ActionSpec,
    ParameterKind,
    Parameters,
    ParameterSpec,
    Promised,
    ReadBackCheck,
    RestsOn,
)
from cases.vocabulary.wording import window_text


def _carrier(parameters: Parameters) -> str:
    return f"{parameters['carrier_name']} ({parameters['scac']})"


BOOK_REPLACEMENT_CARRIER = ActionSpec(
    name="book_replacement_carrier",
    label="Book a replacement carrier",
    goal="carrier",
    parameters=(
        ParameterSpec(name="shipment", label="Shipment"),
        ParameterSpec(name="quote_id", label="Quote"),
        ParameterSpec(name="scac", label="Carrier code (SCAC)"),
        ParameterSpec(name="carrier_name", label="Carrier"),
        ParameterSpec(name="amount", label="Amount", kind=ParameterKind.MONEY),
    ),
    rests_on=(
        RestsOn(key="carrier_assignment", record_from="shipment"),
        RestsOn(key="pickup_window", record_from="shipment"),
        RestsOn(key="delivery_window", record_from="shipment"),
        RestsOn(key="equipment", record_from="shipment"),
        RestsOn(key="weight", record_from="shipment"),
        RestsOn(key="lane", record_from="shipment"),
        RestsOn(key="ended", record_from="shipment"),
        RestsOn(key="rate_amount", record_from="quote_id"),
        RestsOn(key="rate_expiry", record_from="quote_id"),
        RestsOn(key="rate_carrier", record_from="quote_id"),
    ),
    describe=lambda p: f"Book {_carrier(p)} on quote {p['quote_id']} for {money_from(p['amount'])}",
    effect=lambda p: f"Books a truck and commits {money_from(p['amount'])}",
    reversible=True,
    undo_note="can be cancelled, for a fee",
    target_record="booking",
    reads_back=(
        ReadBackCheck(field="shipment_id", parameter="shipment"),
        ReadBackCheck(field="quote_id", parameter="quote_id"),
        ReadBackCheck(field="scac", parameter="scac"),
        ReadBackCheck(field="amount", parameter="amount"),
    ),
    adopted_when=frozenset({"confirmed"}),
    refused_when=frozenset({"declined", "cancelled"}),
    adoption_label="Carrier confirmed",
    adoption_within=timedelta(hours=4),
    cost_parameter="amount",
    leaves_behind={
        "carrier_assignment": lambda p: {
            "code": p["scac"],
            "name": p["carrier_name"],
            "set_by": "Watchbill",
        }
    },
)

SEND_CUSTOMER_UPDATE = ActionSpec(
    name="send_customer_update",
    label="Tell the customer",
    goal="customer_told",
    parameters=(
        ParameterSpec(name="shipment", label="Shipment"),
        ParameterSpec(name="recipient", label="Recipient"),
        ParameterSpec(name="channel", label="Channel"),
        ParameterSpec(name="template", label="Template"),
        ParameterSpec(name="about", label="What it promises"),
        ParameterSpec(name="promised", label="Promised window", kind=ParameterKind.WINDOW),
        ParameterSpec(name="body", label="Text"),
    ),
    rests_on=(
        RestsOn(key="delivery_window", record_from="shipment"),
        RestsOn(key="carrier_assignment", record_from="shipment"),
        RestsOn(key="customer_contact", record_from="shipment"),
        RestsOn(key="customer_notice", record_from="shipment"),
        RestsOn(key="ended", record_from="shipment"),
    ),
    describe=lambda p: f"Tell {p['recipient']}: delivery {window_text(p['promised'])}",
    effect=lambda p: f"Sends one {p['channel']} to {p['recipient']}",
    reversible=False,
    undo_note="cannot be undone",
    target_record="message",
    reads_back=(
        ReadBackCheck(field="shipment_id", parameter="shipment"),
        ReadBackCheck(field="recipient", parameter="recipient"),
        ReadBackCheck(field="about", parameter="about"),
        ReadBackCheck(field="body", parameter="body"),
    ),
    adopted_when=frozenset({"delivered"}),
    refused_when=frozenset({"bounced"}),
    adoption_label="Delivered to the customer",
    adoption_within=timedelta(hours=1),
    leaves_behind={
        "customer_notice": lambda p: {
            "about": p["about"],
            "sent_at": "",
            "sent_by": "Watchbill",
        }
    },
    promises=lambda p: Promised(
        to=p["recipient"],
        what=f"delivery {window_text(p['promised'])}",
        until=instant_from(p["promised"]["end"]),
        zone=p["promised"]["zone"],
    ),
)

KEEP_ASSIGNED_CARRIER = ActionSpec(
    name="keep_assigned_carrier",
    label="Keep the assigned carrier",
    goal="carrier",
    parameters=(
        ParameterSpec(name="shipment", label="Shipment"),
        ParameterSpec(name="scac", label="Carrier code (SCAC)"),
        ParameterSpec(name="carrier_name", label="Carrier"),
        ParameterSpec(name="assigned_by", label="Assigned by"),
    ),
    rests_on=(RestsOn(key="carrier_assignment", record_from="shipment"),),
    describe=lambda p: f"Keep {_carrier(p)}, assigned by {p['assigned_by']}; do not rebook",
    effect=lambda p: "No outside effect",
    reversible=True,
    undo_note="nothing is sent",
)

ACTIONS = (BOOK_REPLACEMENT_CARRIER, SEND_CUSTOMER_UPDATE, KEEP_ASSIGNED_CARRIER)

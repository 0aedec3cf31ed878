"""Which plans the freight playbook sees in the facts, best first. Pure and deterministic."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from cases.vocabulary.clocks import instant_from, zone_named
from cases.vocabulary.facts import FactSheet, Reading, Value
from cases.vocabulary.money import money_from
from cases.vocabulary.playbook import CaseType, Plan, PlanKind, PlannedAction
from cases.vocabulary.wording import window_text

BOOKING_MARGIN = timedelta(seconds=60)
# A desk ranks rates in one currency; a default, until desks set their own.
DESK_CURRENCY = "USD"


def promise_about(*, window: Value, scac: str) -> str:
    """What a customer message promises, as one comparable phrase: the whole window and carrier."""
    zone = zone_named(window["zone"])
    start = instant_from(window["start"]).astimezone(zone)
    end = instant_from(window["end"]).astimezone(zone)
    return f"delivery {start:%Y-%m-%d %H:%M %Z} to {end:%Y-%m-%d %H:%M %Z} by {scac}"


def customer_was_told(sheet: FactSheet) -> bool:
    """Whether the newest message to the customer promises the present window and carrier."""
    notice, window = sheet.subject("customer_notice"), sheet.subject("delivery_window")
    carrier = sheet.subject("carrier_assignment")
    if notice is None or window is None or carrier is None:
        return False
    return bool(notice["about"] == promise_about(window=window, scac=carrier["code"]))


def _customer_update(
    *, sheet: FactSheet, scac: str, carrier_name: str, depends_on: tuple[int, ...]
) -> PlannedAction:
    window, contact = sheet.subject("delivery_window"), sheet.subject("customer_contact")
    shipment = sheet.subject_id
    return PlannedAction(
        action="send_customer_update",
        parameters={
            "shipment": shipment,
            "recipient": contact["code"],
            "channel": "e-mail",
            "template": "delivery_update",
            "about": promise_about(window=window, scac=scac),
            "promised": dict(window),
            "body": (
                f"Your shipment {shipment} will be delivered {window_text(window)} "
                f"by {carrier_name}."
            ),
        },
        depends_on=depends_on,
    )


def _is_bookable(quote: Reading, now: datetime) -> bool:
    """Open long enough, with a carrier, and at a real price in the desk's own currency."""
    expiry, amount = quote.fields["rate_expiry"], quote.fields["rate_amount"]
    return (
        expiry["state"] == "open"
        and instant_from(expiry["expires_at"]) > now + BOOKING_MARGIN
        and amount["currency"] == DESK_CURRENCY
        and amount["amount_minor"] > 0
        and bool(quote.fields["rate_carrier"]["code"].strip())
    )


def _left_out(sheet: FactSheet) -> str:
    """Open rates in other currencies, which cannot be ranked beside the desk's own."""
    foreign = [
        quote.record_id
        for quote in sheet.of_type("quote")
        if quote.fields["rate_expiry"]["state"] == "open"
        and quote.fields["rate_amount"]["currency"] != DESK_CURRENCY
    ]
    if not foreign:
        return ""
    return f" Not ranked, since not in {DESK_CURRENCY}: {', '.join(foreign)}."


def _booking_plan(sheet: FactSheet, quote: Reading) -> Plan:
    carrier, amount = quote.fields["rate_carrier"], quote.fields["rate_amount"]
    shipment = sheet.subject_id
    book = PlannedAction(
        action="book_replacement_carrier",
        parameters={
            "shipment": shipment,
            "quote_id": quote.record_id,
            "scac": carrier["code"],
            "carrier_name": carrier["name"],
            "amount": dict(amount),
        },
    )
    tell = _customer_update(
        sheet=sheet, scac=carrier["code"], carrier_name=carrier["name"], depends_on=(1,)
    )
    return Plan(
        kind=PlanKind.PROPOSE,
        summary=(
            f"{shipment} has no carrier. {carrier['name']} offers {money_from(amount)}; "
            f"the customer is told once the truck is booked.{_left_out(sheet)}"
        ),
        actions=(book, tell),
    )


def _keeping_plan(sheet: FactSheet, carrier: Value) -> Plan:
    keep = PlannedAction(
        action="keep_assigned_carrier",
        parameters={
            "shipment": sheet.subject_id,
            "scac": carrier["code"],
            "carrier_name": carrier["name"],
            "assigned_by": carrier["set_by"],
        },
    )
    tell = _customer_update(
        sheet=sheet, scac=carrier["code"], carrier_name=carrier["name"], depends_on=(1,)
    )
    return Plan(
        kind=PlanKind.PROPOSE,
        summary=(
            f"{carrier['set_by']} assigned {carrier['name']}. That is kept, nothing is rebooked; "
            "the customer still has to hear the delivery time."
        ),
        actions=(keep, tell),
    )


def candidates(case_type: CaseType, sheet: FactSheet, now: datetime) -> Sequence[Plan]:
    """Plans for a shipment whose tender failed, best first; an escalation when none is possible."""
    carrier = sheet.subject("carrier_assignment")
    if carrier is not None and customer_was_told(sheet):
        return (
            Plan(
                kind=PlanKind.NOTHING_LEFT,
                summary=f"{carrier['name']} is assigned and the customer has been told.",
            ),
        )
    if ended := sheet.subject("ended"):
        summary = f"{sheet.subject_id} is {ended}. A person decides what is left to do."
        return (Plan(kind=PlanKind.ESCALATE, summary=summary),)
    if sheet.subject("delivery_window") is None or sheet.subject("customer_contact") is None:
        return (Plan(kind=PlanKind.ESCALATE, summary="Delivery window or contact is missing."),)
    if carrier is not None:
        return (_keeping_plan(sheet, carrier),)
    quotes = [quote for quote in sheet.of_type("quote") if _is_bookable(quote, now)]
    quotes.sort(key=lambda quote: (quote.fields["rate_amount"]["amount_minor"], quote.record_id))
    no_rate = Plan(
        kind=PlanKind.ESCALATE,
        summary=(
            "There is no carrier and no rate that can still be booked. Ask for new quotes."
            f"{_left_out(sheet)}"
        ),
    )
    return (*(_booking_plan(sheet, quote) for quote in quotes), no_rate)

"""Fourteen loads of one evening, and what people and carriers do to them until the morning.

When all of it has happened, the handover sheet of 08:00 has a case in each of its sections. Only
the deeds stand here, as the simulator takes them; a story or a test lets them happen.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from tools.stories.record import instant

# isort: split
from cases.actions.lines import NewLine
from cases.vocabulary.freight_plans import promise_about
from cases.vocabulary.shifts import WallTime

type Deed = dict[str, Any]

CHICAGO = "America/Chicago"
TUESDAY_EVENING = "2026-11-25T00:00:00Z"  # 18:00 in Chicago
EDITED_AT = instant("2026-11-24T02:40:00-06:00")
MOVED = {"start_local": "2026-11-25T14:00", "end_local": "2026-11-25T16:00"}
LATE = {"start_local": "2026-11-24T19:00", "end_local": "2026-11-24T21:00"}
PROMISED = {
    "start": "2026-11-25T15:00:00Z",
    "end": "2026-11-25T17:00:00Z",
    "zone": "America/New_York",
}
CARRIERS = (("NRDX", "Nordline Express"), ("BLUX", "Bluewater Express"), ("SWFT", "Swift Line"))

UNOWNED, IN_DOUBT, AWAY, AWAY_TOO = "W-01", "W-02", "W-03", "W-04"
MOVED_AND_COVERED, LOADED_LATER, DEARER = "W-05", "W-06", "W-07"
URGENT, READY, READY_TOO = "W-08", "W-09", "W-10"
NO_RATE, CONFIRMING, DONE, DONE_BY_STAFF = "W-11", "W-12", "W-13", "W-14"
TITLES = {
    UNOWNED: "Carrier fell off after accepting",
    IN_DOUBT: "Tender timed out, rebook",
    AWAY: "Carrier declined, rebook",
    AWAY_TOO: "Tender timed out, rebook",
    MOVED_AND_COVERED: "Carrier fell off, rebook",
    LOADED_LATER: "Truck broke down before pickup",
    DEARER: "Carrier declined, rebook",
    URGENT: "Carrier fell off, loads at noon",
    READY: "Booking cancelled by carrier",
    READY_TOO: "Carrier out of hours, rebook",
    NO_RATE: "No carrier wants the lane",
    CONFIRMING: "Tender declined twice",
    DONE: "Carrier fell off, rebook",
    DONE_BY_STAFF: "Tender declined, covered by hand",
}
SOON_OVER = (DEARER, NO_RATE)
"""Without a rate that lasts over the night."""


def _until(hour: int, minute: int = 0) -> WallTime:
    return WallTime(wall=datetime(2026, 11, 24, hour, minute), zone=CHICAGO)


LINES = {
    URGENT: NewLine(
        sort="promise",
        party="Harbor Foods",
        text="Call with the truck's number.",
        due=_until(8, 45),
    ),
    READY: NewLine(sort="do_not", text="Do not call the driver, he sleeps.", due=_until(8, 30)),
    LOADED_LATER: NewLine(sort="if_then", text="If the dock asks for a number, then give QW-06."),
    NO_RATE: NewLine(
        sort="waiting_on",
        party="Bo at Swift Line",
        text="A rate for a second reefer.",
        due=_until(10, 30),
    ),
    AWAY: NewLine(
        sort="next_step",
        text="Ask the dock whether it takes a truck after 18:00.",
        due=_until(11),
    ),
}


def until_five(subjects: Collection[str]) -> list[Deed]:
    """All but one load in the late afternoon; all but two have a rate over the night."""
    deeds = []
    for place, subject in enumerate(TITLES):
        if subject not in subjects:
            continue
        scac, name = CARRIERS[place % len(CARRIERS)]
        if subject not in SOON_OVER:
            amount = 150_000 + 2_500 * place
            deeds.append(_rate(subject, number=1, amount_minor=amount, scac=scac, name=name))
        if subject != URGENT:
            hour = 16 + place % 3
            loads = {
                "start_local": f"2026-11-24T{hour}:00",
                "end_local": f"2026-11-24T{hour + 2}:00",
            }
            deeds.append(_window(subject, stop=1, **loads))
    return deeds


WITHDRAWN: Deed = {"actor": "quote_withdrawn", "quote_id": "QW-11"}
"""The only rate of the lane that no carrier wants."""


def overnight() -> dict[str, Sequence[Deed]]:
    """02:40: what employees and carriers do to four of the loads, by load."""
    return {
        MOVED_AND_COVERED: (
            _window(MOVED_AND_COVERED, stop=2, **MOVED),
            _carrier(MOVED_AND_COVERED),
        ),
        LOADED_LATER: (_window(LOADED_LATER, stop=1, **LATE),),
        DEARER: (_rate(DEARER, number=2, amount_minor=191_000),),
        DONE_BY_STAFF: (_carrier(DONE_BY_STAFF), _told(DONE_BY_STAFF)),
    }


def _rate(
    subject: str,
    *,
    number: int,
    amount_minor: int,
    scac: str = "NRDX",
    name: str = "Nordline Express",
) -> Deed:
    return {
        "actor": "carrier_offers_quote",
        "shipment_id": subject,
        "quote_id": f"Q{number}-{subject[2:]}",
        "scac": scac,
        "name": name,
        "amount_minor": amount_minor,
        "currency": "USD",
        "expires_at": TUESDAY_EVENING,
        "expires_zone": CHICAGO,
    }


def _window(subject: str, *, stop: int, start_local: str, end_local: str) -> Deed:
    return {
        "actor": "employee_moves_window",
        "shipment_id": subject,
        "stop_id": f"{subject}-{stop}",
        "start_local": start_local,
        "end_local": end_local,
        "employee": "J. Ortiz",
    }


def _carrier(subject: str) -> Deed:
    return {
        "actor": "employee_assigns_carrier",
        "shipment_id": subject,
        "scac": "OAKX",
        "name": "Oakline Freight",
        "employee": "J. Ortiz",
    }


def _told(subject: str) -> Deed:
    """J. Ortiz has told the customer what still holds."""
    return {
        "actor": "employee_sends_message",
        "shipment_id": subject,
        "employee": "J. Ortiz",
        "recipient": "receiving@harborfoods.example",
        "channel": "e-mail",
        "template": "delivery_update",
        "about": promise_about(window=PROMISED, scac="OAKX"),
        "body": f"{subject} comes on Wednesday at ten with Oakline.",
    }

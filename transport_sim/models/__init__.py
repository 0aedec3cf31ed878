"""Tables and constraints of the simulated transport system; no rules of work."""

from transport_sim.models.control import HOLDER_KINDS, Fence, Lease, OpenRecord, StoredAnswer
from transport_sim.models.journal import Change, Journal, LedgerEntry
from transport_sim.models.past import PastState
from transport_sim.models.shipments import SHIPMENT_STATUSES, Shipment, Stop
from transport_sim.models.trade import (
    ACTIVE_BOOKING_STATUSES,
    Booking,
    OutgoingMessage,
    Quote,
)
from transport_sim.models.webhooks import CLOCKS, WebhookDelivery, WebhookSubscription
from transport_sim.models.world import Call, Fault, World

__all__ = [
    "ACTIVE_BOOKING_STATUSES",
    "CLOCKS",
    "HOLDER_KINDS",
    "SHIPMENT_STATUSES",
    "Booking",
    "Call",
    "Change",
    "Fault",
    "Fence",
    "Journal",
    "Lease",
    "LedgerEntry",
    "OpenRecord",
    "OutgoingMessage",
    "PastState",
    "Quote",
    "Shipment",
    "Stop",
    "StoredAnswer",
    "WebhookDelivery",
    "WebhookSubscription",
    "World",
]

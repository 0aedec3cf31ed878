"""Ten thousand shipments in the real simulator's own tables, and a night in which some change."""

import os
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import psycopg

from tools.simulator_control import SimulatorControl

STEPS_AT_ONCE = 50

SHIPMENTS = """
INSERT INTO transport_sim_shipment (id, version, updated_at, updated_by, status, customer_code,
    customer_name, customer_email, customer_tier, equipment, weight_kg, lane)
SELECT name, 41, %(at)s, 'd.ruiz', 'uncovered', 'C-77', 'Harbor Foods',
    'receiving@harborfoods.example', 1, 'reefer', 18250, 'DFW → ATL'
FROM unnest(%(names)s::text[]) AS name
"""
STOPS = """
INSERT INTO transport_sim_stop (id, shipment_id, sequence, kind, place, zone, window_start,
    window_end)
SELECT name || '-' || stop.number, name, stop.number, stop.kind, stop.place, stop.zone,
    stop.begins::timestamptz, stop.ends::timestamptz
FROM unnest(%(names)s::text[]) AS name, (VALUES
    (1, 'pickup', 'Dallas TX', 'America/Chicago', '2026-11-24T18:00Z', '2026-11-24T21:00Z'),
    (2, 'delivery', 'Atlanta GA', 'America/New_York', '2026-11-25T15:00Z', '2026-11-25T17:00Z')
) AS stop(number, kind, place, zone, begins, ends)
"""
QUOTES = """
INSERT INTO transport_sim_quote (id, version, shipment_id, carrier_scac, carrier_name,
    amount_minor, currency, service, status, expires_at, expires_zone)
SELECT 'Q' || name, 1, name, 'BLUX', 'Bluewater Express', 179000, 'USD', 'FTL', 'open',
    '2026-11-24T22:00Z', 'America/Chicago'
FROM unnest(%(names)s::text[]) AS name
"""


def make_shipments(names: Sequence[str], *, at: datetime) -> None:
    """Shipments without a carrier, each with a rate that ends the next afternoon."""
    values: dict[str, Any] = {"names": list(names), "at": at}
    with psycopg.connect(os.environ["SIMULATOR_DATABASE_URL"], autocommit=True) as connection:
        for statement in (SHIPMENTS, STOPS, QUOTES):
            connection.execute(statement, values)
        connection.execute("ANALYZE")


def move_deliveries(control: SimulatorControl, names: Sequence[str]) -> None:
    """An employee moves the delivery of each of these to the afternoon."""
    steps = [
        {
            "actor": "employee_moves_window",
            "shipment_id": name,
            "stop_id": f"{name}-2",
            "start_local": "2026-11-25T14:00",
            "end_local": "2026-11-25T16:00",
            "employee": "J. Ortiz",
        }
        for name in names
    ]
    for start in range(0, len(steps), STEPS_AT_ONCE):
        control.batch(steps[start : start + STEPS_AT_ONCE])

"""Which leased resource a call is about."""

import uuid

from django.http import Http404, HttpRequest
from django.urls import resolve

from transport_sim import leases
from transport_sim.fields import body_of
from transport_sim.problems import Problem


def contested_resource(request: HttpRequest) -> str | None:
    """The resource whose lease this call renews or relies on; None when it names none."""
    try:
        place = resolve(request.path_info).kwargs
        body = body_of(request)
    except (Http404, Problem):
        return None
    lease_id = place.get("lease_id")
    if isinstance(lease_id, uuid.UUID):
        return leases.resource_of(lease_id)
    shipment_id = place.get("shipment_id", body.get("shipment_id"))
    return leases.shipment_resource(shipment_id) if isinstance(shipment_id, str) else None

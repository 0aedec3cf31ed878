"""The addresses of the transport system."""

from django.urls import path, register_converter

from transport_sim import api, control, control_webhooks, fields
from transport_sim.endpoints import public, sim, v1


class IdentifierConverter:
    """Ids of records in a path; anything else is an unknown path."""

    regex = fields.IDENTIFIER

    def to_python(self, value: str) -> str:
        """Take the id as it is."""
        return value

    def to_url(self, value: str) -> str:
        """Write the id as it is."""
        return value


register_converter(IdentifierConverter, "id")

urlpatterns = [
    path("v1/shipments", v1(GET=api.list_shipments)),
    path("v1/shipments/<id:shipment_id>", v1(GET=api.read_shipment, PATCH=api.patch_shipment)),
    path("v1/quotes", v1(GET=api.list_quotes)),
    path("v1/quotes/<id:quote_id>", v1(GET=api.read_quote)),
    path("v1/bookings", v1(GET=api.list_bookings, POST=api.create_booking)),
    path("v1/bookings/<id:booking_id>", v1(GET=api.read_booking)),
    path("v1/messages", v1(GET=api.list_messages, POST=api.create_message)),
    path("v1/messages/<id:message_id>", v1(GET=api.read_message)),
    path("v1/leases", v1(POST=api.take_lease)),
    path("v1/leases/<uuid:lease_id>", v1(PUT=api.renew_lease, DELETE=api.release_lease)),
    path("v1/changes", v1(GET=api.read_changes)),
    path("sim/health", public(GET=control.health)),
    path("sim/scenarios", sim(GET=control.list_scenarios)),
    path("sim/reset", sim(POST=control.reset)),
    path("sim/clock", sim(GET=control.read_clock, POST=control.set_clock)),
    path("sim/settings", sim(GET=control.read_settings, POST=control.change_settings)),
    path(
        "sim/faults",
        sim(GET=control.list_faults, POST=control.order_fault, DELETE=control.clear_faults),
    ),
    path("sim/actors", sim(POST=control.play_batch)),
    path("sim/actors/<id:actor>", sim(POST=control.play_actor)),
    path("sim/ledger", sim(GET=control.read_ledger)),
    path("sim/calls", sim(GET=control.read_calls)),
    path(
        "sim/webhooks",
        sim(
            GET=control_webhooks.list_subscriptions,
            POST=control_webhooks.subscribe,
            DELETE=control_webhooks.unsubscribe_all,
        ),
    ),
    path("sim/webhooks/deliveries", sim(GET=control_webhooks.list_deliveries)),
]

handler400 = "transport_sim.problems.bad_request"
handler404 = "transport_sim.problems.not_found"
handler500 = "transport_sim.problems.server_error"

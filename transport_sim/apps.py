"""Registers the simulator with Django."""

from django.apps import AppConfig


class TransportSimConfig(AppConfig):
    """The one application of the transport_sim project."""

    name = "transport_sim"
    verbose_name = "Transport simulator"

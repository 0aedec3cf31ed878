"""The Django application of the record."""

from django.apps import AppConfig


class CasesConfig(AppConfig):
    """The record and its pages."""

    name = "cases"
    default_auto_field = "django.db.models.BigAutoField"

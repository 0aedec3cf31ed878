"""Importing this sets Django up, for commands of the agent that run without Celery."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cases.settings")
django.setup()

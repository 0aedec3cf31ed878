"""The ASGI application that serves the pages."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cases.settings")
application = get_asgi_application()

"""The ASGI application that serves the pages."""

import os
import warnings

from django.core.asgi import get_asgi_application

# WhiteNoise streams files from a plain iterator, which Django points out for every file under ASGI.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cases.settings")
application = get_asgi_application()

"""Django settings of the simulated transport system.

Everything that differs between machines comes from environment variables:
``SIMULATOR_DATABASE_URL``, ``TRANSPORT_TOKEN`` and ``SIMULATOR_CONTROL_TOKEN``.
"""

import os

from psycopg.conninfo import conninfo_to_dict

_address = conninfo_to_dict(
    os.environ.get("SIMULATOR_DATABASE_URL", "postgresql://127.0.0.1/transport_sim"),
)
_address.setdefault("connect_timeout", "5")
# A writer that cannot get its lock must answer "try later", not hang its client for ever.
_limits = "-c lock_timeout=15000 -c statement_timeout=20000"

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": str(_address.pop("dbname", "transport_sim")),
        "USER": str(_address.pop("user", "")),
        "PASSWORD": str(_address.pop("password", "")),
        "HOST": str(_address.pop("host", "")),
        "PORT": str(_address.pop("port", "")),
        "OPTIONS": {
            **_address,
            "options": f"{_address.get('options', '')} {_limits}".strip(),
        },
    },
}
# Used by the server only (asgi.py): a command opens one connection and reports at once.
SERVER_POOL = {"min_size": 1, "max_size": 12, "timeout": 15}

# An empty token never matches (see endpoints.py), so a forgotten one locks everybody out.
TRANSPORT_TOKEN = os.environ.get("TRANSPORT_TOKEN", "")
SIMULATOR_CONTROL_TOKEN = os.environ.get("SIMULATOR_CONTROL_TOKEN", "")

DEBUG = False
ALLOWED_HOSTS = ["*"]
APPEND_SLASH = False
USE_TZ = True
TIME_ZONE = "UTC"
ROOT_URLCONF = "transport_sim.urls"
INSTALLED_APPS = ["transport_sim"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
MIDDLEWARE = [
    "transport_sim.headers.answer_headers",
    "transport_sim.calls.call_log",
    "transport_sim.misbehaviour.misbehaviour",
]

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    # Refusals are this program's job and are not worth a line; a crash is.
    "filters": {"crash": {"()": "transport_sim.problems.CrashesOnly"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "filters": ["crash"]}},
    "loggers": {"django": {"handlers": ["console"], "level": "ERROR", "propagate": False}},
}

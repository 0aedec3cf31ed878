"""Settings, read from the environment. Defaults suit one machine; production sets addresses."""

import os
from pathlib import Path
from typing import Any

from django.utils.csp import CSP
from psycopg.conninfo import conninfo_to_dict

from cases.vocabulary.signatures import keys_from

ROOT = Path(__file__).resolve().parent.parent


# A process that froze inside a transaction must not keep a case locked for ever.
PATIENCE = "-c idle_in_transaction_session_timeout=20s -c lock_timeout=5s"


def _database(address: str) -> dict[str, Any]:
    """Django's form of a connection address; what it has no name for (sslmode, …) is handed on."""
    parts: dict[str, Any] = conninfo_to_dict(address)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.pop("dbname", "watchbill"),
        "USER": parts.pop("user", ""),
        "PASSWORD": parts.pop("password", ""),
        "HOST": parts.pop("host", ""),
        "PORT": str(parts.pop("port", "")),
        "OPTIONS": {"options": PATIENCE, **parts},
        "CONN_HEALTH_CHECKS": True,
    }


def _switch(name: str) -> bool:
    return os.environ.get(name, "") in {"1", "true", "yes"}


DEBUG = _switch("WATCHBILL_DEBUG")
DEMO = _switch("WATCHBILL_DEMO")
MOVABLE_CLOCK = _switch("WATCHBILL_MOVABLE_CLOCK")
# Shown on the demo's login page on purpose; outside the demo nobody has it.
DEMO_PASSWORD = os.environ.get("WATCHBILL_DEMO_PASSWORD", "night-watch")
SECRET_KEY = os.environ.get("WATCHBILL_SECRET_KEY", "")
ALLOWED_HOSTS = os.environ.get("WATCHBILL_ALLOWED_HOSTS", "127.0.0.1,localhost").split(",")

# By system; several secrets, separated by blanks, are in force together while one is exchanged.
WEBHOOK_KEYS = {"transport": keys_from(os.environ.get("TRANSPORT_WEBHOOK_SECRETS", ""))}

DATABASES = {
    "default": _database(os.environ.get("DATABASE_URL", "postgresql://127.0.0.1/watchbill"))
}
AUTH_USER_MODEL = "cases.Person"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django_htmx",
    "cases",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "cases.web.session.SignedInMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "cases.web.errors.RefusalMiddleware",
]
ROOT_URLCONF = "cases.urls"
ASGI_APPLICATION = "cases.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "cases.web.context.desk",
            ],
            "builtins": ["django.templatetags.static", "cases.web.templatetags.watchbill"],
        },
    }
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "queue"
LOGOUT_REDIRECT_URL = "login"

STATIC_URL = "/static/"
STATICFILES_DIRS = [ROOT / "cases" / "web" / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True

SECURE_CSP = {
    "default-src": [CSP.SELF],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF, "data:"],
    "frame-ancestors": [CSP.NONE],
    "base-uri": [CSP.NONE],
    "form-action": [CSP.SELF],
}
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "cases.web.errors.form_expired"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

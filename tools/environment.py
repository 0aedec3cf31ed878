"""The environment of a program on this machine: addresses, and secrets made once per purpose."""

import json
import os
import secrets
from base64 import b64encode
from collections.abc import Callable, Mapping

from tools.paths import purpose_folder
from tools.services import Addresses

SECRETS: dict[str, Callable[[], str]] = {
    "WATCHBILL_SECRET_KEY": lambda: secrets.token_urlsafe(32),
    "TRANSPORT_TOKEN": lambda: secrets.token_urlsafe(32),
    "SIMULATOR_CONTROL_TOKEN": lambda: secrets.token_urlsafe(32),
    "TRANSPORT_WEBHOOK_SECRETS": lambda: "whsec_" + b64encode(secrets.token_bytes(32)).decode(),
}
"""How each is made."""


def local_environment(
    *, purpose: str, addresses: Addresses, environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Addresses and secrets as environment variables; configured secrets win.

    Made secrets are kept in var/<purpose>/secrets.json, so that sessions survive a restart.
    """
    note = purpose_folder(purpose) / "secrets.json"
    note.touch(mode=0o600)
    kept: dict[str, str] = json.loads(note.read_text() or "{}")
    made = {name: kept.get(name) or make() for name, make in SECRETS.items()}
    if made != kept:
        note.write_text(json.dumps(made))
    given = {name: environment[name] for name in SECRETS if environment.get(name)}
    return {**addresses.environment(), **made, **given}

"""The environment of a program on this machine: addresses, and secrets made once per purpose."""

import json
import os
import secrets
from collections.abc import Mapping

from tools.paths import purpose_folder
from tools.services import Addresses

SECRETS = ("WATCHBILL_SECRET_KEY", "TRANSPORT_TOKEN", "SIMULATOR_CONTROL_TOKEN")


def local_environment(
    *, purpose: str, addresses: Addresses, environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Addresses and secrets as environment variables; configured secrets win.

    Made secrets are kept in var/<purpose>/secrets.json, so that sessions survive a restart.
    """
    note = purpose_folder(purpose) / "secrets.json"
    note.touch(mode=0o600)
    kept: dict[str, str] = json.loads(note.read_text() or "{}")
    made = {name: kept.get(name) or secrets.token_urlsafe(32) for name in SECRETS}
    if made != kept:
        note.write_text(json.dumps(made))
    given = {name: environment[name] for name in SECRETS if environment.get(name)}
    return {**addresses.environment(), **made, **given}

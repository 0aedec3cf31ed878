"""Digests over canonical JSON, and the short code people compare by eye.

Canonical: keys sorted, no blanks, UTF-8, no floats. Order of keys and white space never count as a
change; every value does.
"""

import hashlib
import json
from typing import Any

from cases.vocabulary.errors import InvalidInput

ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def _refuse_floats(value: Any) -> None:
    if isinstance(value, str):
        return  # by far the most
    if isinstance(value, float):
        raise InvalidInput("A float cannot be part of a digest: use minor units or decimal text.")
    if isinstance(value, dict):
        for item in value.values():
            _refuse_floats(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _refuse_floats(item)


def canonical(value: Any) -> str:
    """The one text of a JSON value. Raises `InvalidInput` for floats and non-JSON values."""
    _refuse_floats(value)
    try:
        return ENCODER.encode(value)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"Not a plain JSON value: {error}") from error


def digest_of(value: Any) -> str:
    """SHA-256 of the canonical text, as 64 hexadecimal characters."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def short_code(digest: str) -> str:
    """The first eight characters as people read them on screen and paper: `7F3A-91C2`."""
    return f"{digest[:4]}-{digest[4:8]}".upper()

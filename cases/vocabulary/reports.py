"""What an outside system reports in an event: read strictly, kept as data, never believed."""

import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cases.vocabulary.clocks import instant_from
from cases.vocabulary.errors import InvalidInput

NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


@dataclass(frozen=True, kw_only=True)
class Report:
    """An event in words we can keep: what happened (`name`), when, and about which record.

    `reference` is ours, from the change that made the record; `subject` is the shipment or service
    it belongs to. Both are empty when the system does not say.
    """

    name: str
    occurred_at: datetime | None
    reference: str
    subject: str
    record_type: str
    record_id: str
    status: str


def report_from(content: bytes) -> Report:
    """Read an event's body: a JSON object with type, timestamp and data.

    Raises `InvalidInput` with the reason when it says anything that cannot be kept or shown as it
    is: NaN, NUL, half a character, invisible or overlong texts.
    """
    event = _object(_json(content), "the event")
    data = _object(event.get("data"), "data")
    name = _text(event, "type", 64)
    if not name:
        raise InvalidInput("type is missing.")
    said = _text(event, "timestamp", 40)
    return Report(
        name=name,
        occurred_at=instant_from(said) if said else None,
        reference=_text(data, "client_reference", 80),
        subject=_text(data, "shipment_id", 300),
        record_type=_text(data, "record_type", 32),
        record_id=_text(data, "record_id", 300),
        status=_text(data, "status", 32),
    )


def _json(content: bytes) -> Any:
    try:
        value = json.loads(content.decode(), parse_constant=_no_number)
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except UnicodeError as error:
        raise InvalidInput("It is not UTF-8 text.") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput("It is not JSON.") from error
    if NUL.search(text):
        raise InvalidInput("It contains NUL.")
    return value


def _no_number(name: str) -> None:
    raise ValueError(name)


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInput(f"{name.capitalize()} is not a JSON object.")
    return value


def _text(values: dict[str, Any], name: str, longest: int) -> str:
    value = values.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > longest or not value.isprintable():
        raise InvalidInput(f"{name} is not a line of at most {longest} printable characters.")
    return value

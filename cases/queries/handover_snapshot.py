"""A signed sheet: kept as plain JSON under a digest, read again as it was, compared with today."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any

from cases.models import Handover
from cases.queries.handover_shapes import Sheet
from cases.vocabulary.clocks import instant_from, iso
from cases.vocabulary.digest import digest_of
from cases.vocabulary.handover_sheet import differences

INSTANT = "instant"
"""How an instant is told from other text in a kept sheet."""


def plain(value: Any) -> Any:
    """A sheet, or any part of one, as JSON."""
    if isinstance(value, datetime):
        return {INSTANT: iso(value)}
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def revived(value: Any) -> Any:
    """The kept JSON with its instants as instants; templates read it like the sheet itself."""
    if isinstance(value, list):
        return [revived(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {INSTANT}:
        return instant_from(value[INSTANT])
    return {key: revived(item) for key, item in value.items()}


def is_intact(handover: Handover) -> bool:
    """Whether the kept sheet is the one that was signed."""
    return digest_of(handover.snapshot) == handover.digest


def changed_since_signing(
    *, handover: Handover, now: Sheet
) -> Mapping[int, tuple[tuple[str, str, str], ...]]:
    """Row to what stands otherwise than it was signed: (what, as signed, now)."""
    seen = {
        row["row_id"]: row["seen"]
        for section in (handover.snapshot or {}).get("sections", ())
        for row in section["rows"]
    }
    found = {
        row.row_id: differences(seen=seen.get(row.row_id, {}), now=row.seen)
        for section in now.sections
        for row in section.rows
    }
    return {row_id: differs for row_id, differs in found.items() if differs}

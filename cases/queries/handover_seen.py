"""What an act on a whole sheet is bound to: every row, and what stands beyond the shift."""

from collections.abc import Mapping

from cases.queries.conditions import StandingRow
from cases.queries.handover_shapes import Sheet
from cases.vocabulary.clocks import iso
from cases.vocabulary.digest import digest_of

CONDITIONS = "conditions"
LONG_ENOUGH = 16


def seen_of(sheet: Sheet) -> dict[str, str]:
    """A digest of what the page shows of each row, by its number, and of what stands."""
    rows = {str(row.row_id): _digest(row.seen) for row in sheet.rows}
    return {CONDITIONS: _digest(_conditions(sheet)), **rows}


def moved_since(*, sheet: Sheet, seen: Mapping[str, str]) -> tuple[tuple[str, str, str], ...]:
    """What stands otherwise on the sheet than it was seen: (what, as seen, now), in words."""
    then = "as you saw it"
    found = []
    if seen.get(CONDITIONS) != _digest(_conditions(sheet)):
        now = "; ".join(_conditions(sheet).values()) or "none"
        found.append(("Standing conditions", then, now))
    for row in sheet.rows:
        if seen.get(str(row.row_id)) != _digest(row.seen):
            now = "; ".join(f"{what}: {is_}" for what, is_ in row.seen.items())
            found.append((row.subject, then, now))
    return tuple(found)


def _conditions(sheet: Sheet) -> dict[str, str]:
    return {str(number): _words(notice) for number, notice in enumerate(sheet.notices)}


def _words(notice: StandingRow) -> str:
    said = (f"{notice.sort}: {notice.title}", notice.detail, notice.stops)
    since = f"since {iso(notice.opened_at)}, by {notice.opened_by}"
    return ", ".join([*filter(None, said), since])


def _digest(shown: Mapping[str, str]) -> str:
    return digest_of(dict(shown))[:LONG_ENOUGH]

"""The table people decide by: each fact then, now, and why the difference matters."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from cases.models import Proposal
from cases.queries.catalogue import fact_label
from cases.queries.sources import SourceState
from cases.queries.values import UNSAYABLE, fact_text, mark_word, plain_text
from cases.vocabulary.facts import (
    FactChange,
    FactSheet,
    MaterialFact,
    change_of,
    compare,
    material_fact_from,
)
from cases.vocabulary.playbook import Playbook

NOT_READ = "not read"
DECIDED = frozenset({Proposal.State.RELEASED, Proposal.State.REJECTED, Proposal.State.SENT_BACK})


@dataclass(frozen=True, kw_only=True)
class FactRow:
    """One fact: `mark` is `~`, `−`, `+` or empty, `word` says the same.

    `then` is None where nothing was proposed before. `is_saved` says that `now` could not be read
    again and is an old value. `actions` are the positions of the actions that rest on it.
    """

    key: str
    label: str
    mark: str
    word: str
    then: str | None
    now: str
    why: str
    source: SourceState | None
    is_saved: bool
    actions: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FactTable:
    """The facts of one proposal, changed ones first.

    `baseline` is the version whose facts stand in the column *then*, with the subject's version and
    the time it was made; all None when nothing was proposed yet. `is_settled` says that the version
    was decided on, so its changes are history.
    """

    baseline: int | None
    baseline_version: int | None
    baseline_at: datetime | None
    subject: SourceState | None
    changed: tuple[FactRow, ...]
    same: tuple[FactRow, ...]
    unreadable: tuple[SourceState, ...]
    is_settled: bool = False

    @property
    def same_says_once(self) -> bool:
        """Whether one column is enough for the facts that did not change."""
        return all(row.then in {None, row.now} for row in self.same)


def facts_table(
    *,
    playbook: Playbook,
    shown: Proposal | None,
    previous: Proposal | None,
    sheet: FactSheet,
    sources: Sequence[SourceState],
) -> FactTable:
    """The table for the version shown.

    A version that replaced another lists what it was made for: the facts of the one before against
    its own. Any other version is compared with what the sources say now.
    """
    by_record = {(source.record_type, source.record_id): source for source in sources}
    subject = by_record.get((sheet.subject_type, sheet.subject_id))
    unreadable = tuple(source for source in sources if source.is_unreadable)
    if shown is None:
        return FactTable(
            baseline=None,
            baseline_version=None,
            baseline_at=None,
            subject=subject,
            changed=(),
            same=tuple(_first_rows(playbook, sources)),
            unreadable=unreadable,
        )
    baseline, changes = _differences(playbook, shown, previous, sheet)
    changed = tuple(changed_rows(playbook=playbook, changes=changes, by_record=by_record))
    listed = {(change["key"], change["record_id"]) for change in changes}
    return FactTable(
        baseline=baseline.number,
        baseline_version=baseline.subject_version,
        baseline_at=baseline.created_at,
        subject=subject,
        changed=changed,
        same=tuple(_same_rows(playbook, shown, listed, by_record)),
        unreadable=unreadable,
        is_settled=shown.state in DECIDED,
    )


def _differences(
    playbook: Playbook, shown: Proposal, previous: Proposal | None, sheet: FactSheet
) -> tuple[Proposal, list[dict[str, Any]]]:
    """The version whose facts stand in the column *then*, and what differs from it."""
    if shown.changes and previous is not None and not _is_overtaken(shown):
        return previous, shown.changes
    return shown, live_changes(playbook, shown, sheet)


def _is_overtaken(proposal: Proposal) -> bool:
    return proposal.state in {
        Proposal.State.STALE,
        Proposal.State.EXPIRED,
        Proposal.State.SUPERSEDED,
        Proposal.State.WITHDRAWN,
    }


def live_changes(playbook: Playbook, proposal: Proposal, sheet: FactSheet) -> list[dict[str, Any]]:
    """What the sources say now against the proposal's own facts, as plain mappings."""
    order = list(playbook.facts)
    material = [
        material_fact_from(value) for value in proposal.facts if value["key"] in playbook.facts
    ]
    return [
        change.as_value()
        for fact in sorted(material, key=lambda fact: order.index(fact.key))
        for change in _compared(playbook, fact, sheet)
    ]


def _compared(playbook: Playbook, fact: MaterialFact, sheet: FactSheet) -> Sequence[FactChange]:
    """How one fact differs; values that cannot be compared count as different."""
    try:
        return compare(specs=playbook.facts, material=[fact], sheet=sheet)
    except UNSAYABLE:
        reading = sheet.reading(fact.record_type, fact.record_id)
        now = None if reading is None else reading.fields.get(fact.key)
        spec = playbook.facts[fact.key]
        return [change_of(spec, fact.record_id, fact.value, now, material=True)]


def changed_rows(
    *,
    playbook: Playbook,
    changes: Iterable[Mapping[str, Any]],
    by_record: Mapping[tuple[str, str], SourceState],
) -> Iterable[FactRow]:
    """Rows from the plain mappings that proposals, refusals and audit events carry."""
    for change in changes:
        source = by_record.get((change.get("record_type", ""), change.get("record_id", "")))
        key, now = change["key"], change["now"]
        yield FactRow(
            key=key,
            label=change["label"],
            mark=change["mark"],
            word=mark_word(change["mark"], now=now),
            then=fact_text(playbook=playbook, key=key, value=change["then"]),
            now=fact_text(playbook=playbook, key=key, value=now),
            why=change["why"],
            source=source,
            is_saved=source is not None and source.is_unreadable,
        )


def _same_rows(
    playbook: Playbook,
    shown: Proposal,
    listed: set[tuple[str, str]],
    by_record: Mapping[tuple[str, str], SourceState],
) -> Iterable[FactRow]:
    for fact in shown.facts:
        key = fact["key"]
        if (key, fact["record_id"]) in listed:
            continue
        spec = playbook.facts.get(key)
        source = by_record.get((fact["record_type"], fact["record_id"]))
        text = fact_text(playbook=playbook, key=key, value=fact["value"])
        is_saved = source is not None and source.is_unreadable
        row = FactRow(
            key=key,
            label=fact_label(playbook, key),
            mark="",
            word="unverified" if is_saved else "unchanged",
            then=text,
            now=text,
            why="" if spec is None else spec.why,
            source=source,
            is_saved=is_saved,
            actions=tuple(fact["positions"]),
        )
        yield row if spec is not None else _as_stored(row, fact)


def _as_stored(row: FactRow, fact: Mapping[str, Any]) -> FactRow:
    """A fact the playbook no longer lists: both values as stored, and nothing compares them."""
    now = NOT_READ if row.source is None else plain_text(row.source.fields.get(fact["key"]))
    return replace(row, word="stored", now=now)


def _first_rows(playbook: Playbook, sources: Sequence[SourceState]) -> Iterable[FactRow]:
    order = list(playbook.facts)
    for source in sources:
        listed = sorted(
            source.fields, key=lambda key: order.index(key) if key in order else len(order)
        )
        for key in listed:
            spec = playbook.facts.get(key)
            yield FactRow(
                key=key,
                label=fact_label(playbook, key),
                mark="",
                word="stored" if spec is None else "read",
                then=None,
                now=fact_text(playbook=playbook, key=key, value=source.fields[key]),
                why="" if spec is None else spec.why,
                source=source,
                is_saved=source.is_unreadable,
            )

"""The facts a row of the sheet refers to: as it was published, and as they are now."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cases.queries.catalogue import fact_label
from cases.queries.sources import SourceState
from cases.queries.values import UNSAYABLE, fact_text
from cases.vocabulary.facts import Value, same
from cases.vocabulary.handover_sheet import MOST_READ_BACK
from cases.vocabulary.playbook import Playbook

NOT_READ = "not read"
MOST_CHOICES = 5


@dataclass(frozen=True, kw_only=True)
class SheetFact:
    """A critical fact: its value now and as published, and how old the reading is.

    `is_saved` says that it could not be read again; `failure` why not. `is_missing` says that its
    record did not exist when it was asked for; `proved_at` is when a later look at the source's
    change feed proved it unchanged. `choices` are plausible values for reading it back, in an order
    that does not tell which one holds.
    """

    key: str
    label: str
    shown: str
    published: str
    has_changed: bool
    source: str
    version: int | None
    observed_at: datetime | None
    is_saved: bool
    failure: str
    is_missing: bool = False
    proved_at: datetime | None = None
    choices: tuple[str, ...] = ()


def critical_keys(playbook: Playbook) -> tuple[str, ...]:
    """The facts of the subject that a receiver reads back: one to three of them."""
    subject = playbook.subject_type
    usual = (key for key, spec in playbook.facts.items() if spec.record_type == subject)
    return (playbook.critical_facts or tuple(usual))[:MOST_READ_BACK]


def published_form(
    *, playbook: Playbook, sources: Sequence[SourceState], proposal: int | None
) -> dict[str, Any]:
    """What a row refers to, as kept with it: the newest proposal and the critical facts."""
    subject = subject_of(playbook, sources)
    fields = {} if subject is None else subject.fields
    return {
        "proposal": proposal,
        "version": None if subject is None else subject.version,
        "facts": {key: fields.get(key) for key in critical_keys(playbook)},
    }


def subject_of(playbook: Playbook, sources: Iterable[SourceState]) -> SourceState | None:
    """The source record that the case is about, as last seen."""
    return next((s for s in sources if s.record_type == playbook.subject_type), None)


def sheet_facts(
    *,
    playbook: Playbook,
    sources: Sequence[SourceState],
    published: Mapping[str, Any],
    others: Mapping[str, Sequence[str]],
    refreshed_at: datetime | None,
) -> tuple[SheetFact, ...]:
    """The critical facts of a case; `others` are values of the same facts in other cases.

    `refreshed_at` is when the case was last refreshed, by reading it or by proof.
    """
    subject = subject_of(playbook, sources)
    kept: Mapping[str, Value] = published.get("facts", {})
    return tuple(
        _fact(playbook, key, subject, refreshed_at, kept.get(key), others.get(key, ()))
        for key in critical_keys(playbook)
    )


def _fact(
    playbook: Playbook,
    key: str,
    subject: SourceState | None,
    refreshed_at: datetime | None,
    published: Value,
    others: Sequence[str],
) -> SheetFact:
    now = None if subject is None else subject.fields.get(key)
    shown = NOT_READ if subject is None else fact_text(playbook=playbook, key=key, value=now)
    before = fact_text(playbook=playbook, key=key, value=published)
    return SheetFact(
        key=key,
        label=fact_label(playbook, key),
        shown=shown,
        published=before,
        has_changed=not means_same(playbook, key, published, now),
        source="" if subject is None else subject.name,
        version=None if subject is None else subject.version,
        observed_at=None if subject is None else subject.observed_at,
        is_saved=subject is None or subject.is_unreadable,
        failure="" if subject is None else subject.failure,
        is_missing=subject is not None and subject.is_missing,
        proved_at=_proved_at(subject, refreshed_at),
        choices=_choices(shown, before, others),
    )


def _proved_at(subject: SourceState | None, refreshed_at: datetime | None) -> datetime | None:
    """When the facts were proved unchanged after they were read, if so."""
    if subject is None or subject.observed_at is None or refreshed_at is None:
        return None
    return refreshed_at if refreshed_at > subject.observed_at else None


def means_same(playbook: Playbook, key: str, then: Value, now: Value) -> bool:
    """Whether two values of a fact mean the same; what cannot be compared must be equal."""
    spec = playbook.facts.get(key)
    try:
        return then == now if spec is None else same(spec, then, now)
    except UNSAYABLE:
        return bool(then == now)


def _choices(shown: str, published: str, others: Sequence[str]) -> tuple[str, ...]:
    plausible = dict.fromkeys((shown, published, *others))
    return tuple(sorted(list(plausible)[:MOST_CHOICES]))


def values_elsewhere(
    found: Iterable[tuple[Playbook, Sequence[SourceState]]],
) -> dict[str, tuple[str, ...]]:
    """Fact key to the values it has in these cases, each once: plausible when reading back."""
    values: dict[str, dict[str, None]] = {}
    for playbook, sources in found:
        subject = subject_of(playbook, sources)
        if subject is None:
            continue
        for key in critical_keys(playbook):
            text = fact_text(playbook=playbook, key=key, value=subject.fields.get(key))
            values.setdefault(key, {})[text] = None
    return {key: tuple(texts) for key, texts in values.items()}

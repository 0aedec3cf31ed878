"""The words of playbooks and their catalogues, with honest stand-ins for what is no longer there.

A case can outlive the release of Watchbill that opened it, so a page must open for any stored case.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import NoReturn

from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.facts import Value
from cases.vocabulary.playbook import ActionSpec, ParameterSpec, Playbook
from cases.vocabulary.playbooks import PLAYBOOKS, playbook_of


@dataclass(frozen=True, kw_only=True)
class Undescribed:
    """What this desk can no longer describe, as sentences; empty where it describes everything.

    Without its `kind` nothing can be decided; with unknown `actions` a version is never released.
    """

    kind: str = ""
    actions: str = ""


def playbook_for(kind: str, *, subject_type: str = "source") -> Playbook:
    """The playbook of a stored case, or one without facts and actions for an unknown kind."""
    if kind in PLAYBOOKS:
        return playbook_of(kind)
    return Playbook(
        kind=kind,
        label=kind,
        subject_type=subject_type,
        subject_label=subject_type.capitalize(),
        types={},
        facts={},
        actions={},
        goals={},
        release_valid_for=timedelta(0),
        decide_by=_no_rules,
        expiry_of=_no_rules,
        candidates=_no_rules,
    )


def type_label(playbook: Playbook, code: str) -> str:
    """What a case type is called; the bare code when the playbook no longer lists it."""
    known = playbook.types.get(code)
    return code if known is None else known.label


def fact_label(playbook: Playbook, key: str) -> str:
    """What a fact is called; the bare key when the playbook no longer lists it."""
    known = playbook.facts.get(key)
    return key if known is None else known.label


def goal_label(playbook: Playbook, key: str) -> str:
    """What a goal is called; the bare key when the playbook no longer lists it."""
    known = playbook.goals.get(key)
    return key if known is None else known.label


def action_spec(
    playbook: Playbook, name: str, *, parameters: Mapping[str, Value] | None = None
) -> ActionSpec:
    """The catalogue entry, or one that says that nobody can say what the action does.

    An unknown action counts as one that changes the outside and cannot be undone.
    """
    known = playbook.actions.get(name)
    if known is not None:
        return known
    return ActionSpec(
        name=name,
        label=name,
        goal="",
        parameters=tuple(ParameterSpec(name=key, label=key) for key in sorted(parameters or {})),
        rests_on=(),
        describe=lambda _: f"{name}: an action this desk no longer knows",
        effect=lambda _: "What it does cannot be described",
        reversible=False,
        undo_note="whether it can be undone is not known",
        target_record="record",
        adoption_label="adopted",
    )


def undescribed(*, kind: str, number: int | None = None, names: Iterable[str] = ()) -> Undescribed:
    """What cannot be described of a case of that kind and of version `number` with these actions.

    `names` are the actions of the version.
    """
    if kind not in PLAYBOOKS:
        return Undescribed(
            kind=f"This desk no longer runs {kind!r} cases, so it cannot describe this one: facts "
            "and actions are shown as they were stored, and no version can be decided on. "
            "Close the case with a reason, or ask an admin to bring its playbook back."
        )
    unknown = [name for name in names if name not in playbook_of(kind).actions]
    if not unknown:
        return Undescribed()
    return Undescribed(
        actions=f"Version {number} holds what this desk's catalogue no longer describes: "
        f"{', '.join(unknown)}. It cannot be released; send it back for another plan."
    )


def _no_rules(*_: object) -> NoReturn:
    raise InvalidInput("This desk no longer runs cases of this kind.")

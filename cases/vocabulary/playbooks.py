"""The playbooks this desk runs, by kind."""

from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.freight import FREIGHT
from cases.vocabulary.playbook import CaseType, Playbook

PLAYBOOKS: dict[str, Playbook] = {FREIGHT.kind: FREIGHT}


def playbook_of(kind: str) -> Playbook:
    """The playbook of a kind; raises `InvalidInput` for a kind this desk does not run."""
    try:
        return PLAYBOOKS[kind]
    except KeyError as error:
        raise InvalidInput(f"This desk has no playbook for {kind!r} cases.") from error


def type_of(*, kind: str, code: str) -> CaseType:
    """The case type; raises `InvalidInput` for a code the playbook does not list."""
    types = playbook_of(kind).types
    if code not in types:
        raise InvalidInput(
            f"{code!r} is not a type of this kind. Known: {', '.join(sorted(types))}."
        )
    return types[code]

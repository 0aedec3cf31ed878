"""Why a decision did not count, with what to look at instead."""

from dataclasses import dataclass

from cases.queries.case_page import CasePage
from cases.queries.catalogue import playbook_for
from cases.queries.facts_table import FactRow, changed_rows
from cases.vocabulary.errors import DecisionRefused, InvalidInput, WatchbillError


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """The sentence, the field-by-field difference, and the version to look at instead.

    `is_mistake` says that only what was typed has to be corrected.
    """

    sentence: str
    number: int | None
    newer: int | None
    changes: tuple[FactRow, ...]
    is_mistake: bool


def refusal_of(*, page: CasePage, error: WatchbillError) -> Refusal:
    """What to show for `error` on the page of the version that was answered.

    When the refusal itself lists no difference, the page's own comparison with now is shown.
    """
    number = None if page.proposal is None else page.proposal.number
    if not isinstance(error, DecisionRefused):
        return Refusal(
            sentence=str(error),
            number=number,
            newer=None,
            changes=(),
            is_mistake=isinstance(error, InvalidInput),
        )
    rows = page.facts.changed
    if error.changes:
        rows = tuple(
            changed_rows(playbook=playbook_for(page.head.kind), changes=error.changes, by_record={})
        )
    overtaken = error.reason_code in {"stale", "expired", "superseded", "withdrawn"}
    return Refusal(
        sentence=str(error),
        number=number,
        newer=error.current_number or page.panel.newer,
        changes=rows if overtaken else (),
        is_mistake=False,
    )

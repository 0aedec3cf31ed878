"""Which acts this person may take on a case now; an act that is not open says why."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cases import policies
from cases.models import Case, Decision, Person, Proposal
from cases.queries.catalogue import Undescribed
from cases.vocabulary.errors import Conflict
from cases.vocabulary.stages import STAGES, Stage


@dataclass(frozen=True, kw_only=True)
class Controls:
    """The sentence against each act; empty when it is open.

    `offers_acceptance`, `offers_planning` and `offers_withdrawal` say whether the act belongs here.
    """

    release: str
    refuse: str
    take: str
    assign: str
    accept: str
    close: str
    plan: str
    withdraw: str
    refresh: str
    offers_acceptance: bool
    offers_planning: bool
    offers_withdrawal: bool
    is_owner: bool


def controls_for(
    *,
    case: Case,
    person: Person,
    shown: Proposal | None,
    standing: Decision | None,
    release_in_force: bool,
    unknown: Undescribed,
    at: datetime,
) -> Controls:
    """Ask every policy; no query. What cannot be described is not decided on."""
    against = policies.reason_against
    may_decide = against(policies.check_may_decide, person=person)
    may_own = against(policies.check_may_own, person=person)
    is_owner = case.owner_id == person.pk
    return Controls(
        release=unknown.kind
        or unknown.actions
        or _against_release(case, person, shown, standing, at),
        refuse=unknown.kind or _against_refusing(case, person, shown, standing),
        take=may_own or ("You own this case." if is_owner else ""),
        assign=may_decide,
        accept=against(policies.check_may_accept, person=person, case=case),
        close=may_decide
        or against(check_may_close_here, case=case, release_in_force=release_in_force),
        plan=may_decide or unknown.kind,
        withdraw=may_decide,
        refresh=may_decide or against(check_is_open, case=case) or unknown.kind,
        offers_acceptance=case.current_stage is Stage.WAITING_FOR_ACCEPTANCE,
        offers_planning=case.current_stage in {Stage.ESCALATED, Stage.WAITING_FOR_ACCEPTANCE},
        offers_withdrawal=release_in_force,
        is_owner=is_owner,
    )


def check_is_open(*, case: Case) -> None:
    """A closed case is only read."""
    if case.current_stage is Stage.CLOSED:
        raise Conflict("The case is closed.")


def check_may_close_here(*, case: Case, release_in_force: bool) -> None:
    """The stage table says from where a case can be closed; a release is settled first."""
    if release_in_force or Stage.CLOSED not in STAGES[case.current_stage].following:
        raise Conflict(
            f"A case that is {STAGES[case.current_stage].label.lower()} cannot be closed: "
            "what was started outside is finished first."
        )


def _first(*reasons: str) -> str:
    return next((reason for reason in reasons if reason), "")


def _against_refusing(
    case: Case, person: Person, shown: Proposal | None, standing: Decision | None
) -> str:
    if shown is None:
        return "There is no proposal yet."
    against: Callable[..., str] = policies.reason_against
    return _first(
        against(policies.check_may_decide, person=person),
        against(policies.check_proposal_is_ready, proposal=shown, standing=standing),
        against(policies.check_case_waits_for_review, case=case),
    )


def _against_release(
    case: Case,
    person: Person,
    shown: Proposal | None,
    standing: Decision | None,
    at: datetime,
) -> str:
    rest: dict[str, Any] = {"proposal": shown}
    return _against_refusing(case, person, shown, standing) or _first(
        policies.reason_against(policies.check_not_own_work, person=person, **rest),
        policies.reason_against(policies.check_still_valid, at=at, **rest),
    )

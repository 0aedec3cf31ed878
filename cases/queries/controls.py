"""Which acts this person may take on a case now; an act that is not open says why."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cases import policies
from cases.models import Case, Decision, Person, Proposal, StandingCondition
from cases.queries.catalogue import Undescribed
from cases.vocabulary.errors import Conflict
from cases.vocabulary.stages import STAGES, Stage


@dataclass(frozen=True, kw_only=True)
class Controls:
    """The sentence against each act; empty when it is open.

    `held` says what stops releases of this case now, empty when nothing does. `offers_acceptance`,
    `offers_planning` and `offers_withdrawal` say whether the act belongs here.
    """

    release: str
    held: str
    refuse: str
    take: str
    assign: str
    hand_back: str
    escalate: str
    accept: str
    close: str
    plan: str
    withdraw: str
    refresh: str
    finding: str
    trust: str
    budget: str
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
    unsettled: str,
    holding: StandingCondition | None,
    at: datetime,
) -> Controls:
    """Ask every policy; no query. What cannot be described is not decided on.

    `unsettled` is the reference of an effect of unknown outcome; `holding` stops releases, if any.
    """
    against = policies.reason_against
    may_decide = against(policies.check_may_decide, person=person)
    may_release = _against_release(case, person, shown, standing, holding, at)
    return Controls(
        release=unknown.kind or unknown.actions or may_release,
        held=_held(case, holding),
        refuse=unknown.kind or _against_refusing(case, person, shown, standing),
        take=_against_taking(case, person),
        assign=may_decide,
        hand_back=_against_handing_back(case, person),
        escalate=may_decide or against(check_is_open, case=case),
        accept=against(policies.check_may_accept, person=person, case=case),
        close=may_decide or _against_closing(case, unsettled, release_in_force),
        plan=may_decide or unknown.kind or against(check_settled, unsettled=unsettled),
        withdraw=may_decide,
        refresh=may_decide or unknown.kind or _against_asking_the_agent(case),
        finding=may_decide,
        trust=against(policies.check_may_trust, person=person),
        budget=_against_raising(case, person),
        offers_acceptance=case.current_stage is Stage.WAITING_FOR_ACCEPTANCE,
        offers_planning=case.current_stage in {Stage.ESCALATED, Stage.WAITING_FOR_ACCEPTANCE},
        offers_withdrawal=release_in_force,
        is_owner=case.owner_id == person.pk,
    )


def _against_taking(case: Case, person: Person) -> str:
    may_own = policies.reason_against(policies.check_may_own, person=person)
    return may_own or ("You own this case." if case.owner_id == person.pk else "")


def _held(case: Case, holding: StandingCondition | None) -> str:
    """What stops releases of this case, and when it goes on."""
    if holding is None or case.current_stage is Stage.CLOSED:
        return ""
    goes_on = (
        "What was released waits: it goes on when this is closed, after facts are read again."
        if case.current_stage is Stage.EXECUTING
        else "Nothing is released until it is closed."
    )
    return f"{holding}. {goes_on}"


def check_is_open(*, case: Case) -> None:
    """A closed case is only read."""
    if case.current_stage is Stage.CLOSED:
        raise Conflict("The case is closed.")


def check_settled(*, unsettled: str) -> None:
    """While an outcome is unknown, nothing is planned and nothing is closed."""
    if unsettled:
        raise Conflict(f"Whether {unsettled} happened is unknown. Record it first.")


def check_may_close_here(*, case: Case, release_in_force: bool) -> None:
    """The stage table says from where a case can be closed; a release is settled first."""
    if release_in_force or Stage.CLOSED not in STAGES[case.current_stage].following:
        raise Conflict(
            f"A case that is {STAGES[case.current_stage].label.lower()} cannot be closed: "
            "what was started outside is finished first."
        )


def _first(*reasons: str) -> str:
    return next((reason for reason in reasons if reason), "")


def _against_closing(case: Case, unsettled: str, release_in_force: bool) -> str:
    return _first(
        policies.reason_against(check_settled, unsettled=unsettled),
        policies.reason_against(check_may_close_here, case=case, release_in_force=release_in_force),
    )


def _against_handing_back(case: Case, person: Person) -> str:
    if case.owner_id != person.pk:
        return "Only its owner hands the case back."
    return policies.reason_against(check_is_open, case=case)


def _against_asking_the_agent(case: Case) -> str:
    return _first(
        policies.reason_against(check_is_open, case=case),
        policies.reason_against(policies.check_agent_may_go_on, case=case),
    )


def _against_raising(case: Case, person: Person) -> str:
    return _first(
        policies.reason_against(check_is_open, case=case),
        policies.reason_against(policies.check_may_raise_budget, person=person),
    )


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
    holding: StandingCondition | None,
    at: datetime,
) -> str:
    rest: dict[str, Any] = {"proposal": shown}
    return _against_refusing(case, person, shown, standing) or _first(
        policies.reason_against(policies.check_not_own_work, person=person, **rest),
        policies.reason_against(policies.check_still_valid, at=at, **rest),
        policies.reason_against(policies.check_nothing_holds_releases, condition=holding),
    )

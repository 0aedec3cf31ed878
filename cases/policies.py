"""Who may do what, and when: each rule raises a sentence for the person, or passes.

A page asks the same rule through `reason_against`, so a disabled control says exactly why.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from cases.models import (
    AgentIdentity,
    Case,
    Decision,
    Handover,
    Person,
    Proposal,
    Role,
    StandingCondition,
)
from cases.vocabulary.clocks import local_text
from cases.vocabulary.errors import Conflict, DecisionRefused, Refused, WatchbillError
from cases.vocabulary.rosters import Sides
from cases.vocabulary.stages import Stage

DECIDERS = frozenset({Role.OPERATOR, Role.LEAD})

NO_LONGER_READY = {
    Proposal.State.STALE: ("stale", "facts changed after it was made"),
    Proposal.State.EXPIRED: ("expired", "its time ran out"),
    Proposal.State.SUPERSEDED: ("superseded", "a newer version replaced it"),
    Proposal.State.WITHDRAWN: ("withdrawn", "it is no longer needed"),
}


def reason_against(check: Callable[..., None], **arguments: Any) -> str:
    """The sentence with which the rule refuses, or an empty string when it allows."""
    try:
        check(**arguments)
    except WatchbillError as error:
        return str(error)
    return ""


def check_may_decide(*, person: Person) -> None:
    """Operators and leads decide; admins and auditors only look."""
    if not person.is_active:
        raise Refused("Your account is not active, so this decision does not count.")
    if person.role not in DECIDERS:
        raise Refused(f"{person.get_role_display()}s cannot decide on proposals. Ask an operator.")


def check_may_write(*, person: Person) -> None:
    """Operators and leads keep goals and lines; admins and auditors only read them."""
    if not person.is_active or person.role not in DECIDERS:
        raise Refused(f"{person} only reads cases. Ask an operator to write it down.")


def check_not_own_work(*, person: Person, proposal: Proposal) -> None:
    """Nobody releases what they wrote themselves."""
    if proposal.author == str(person):
        raise Refused("You wrote this version, so someone else must release it.")


def check_proposal_is_ready(*, proposal: Proposal, standing: Decision | None) -> None:
    """Only a proposal that is ready can be decided on; says what happened to it otherwise."""
    state = Proposal.State(proposal.state)
    if standing is not None or state in {
        Proposal.State.RELEASED,
        Proposal.State.REJECTED,
        Proposal.State.SENT_BACK,
    }:
        raise DecisionRefused(_already_decided(proposal, standing), reason_code="already_decided")
    if state is not Proposal.State.READY:
        code, why = NO_LONGER_READY[state]
        raise DecisionRefused(
            f"Proposal {proposal.number} cannot be decided on: {why}.", reason_code=code
        )


def _already_decided(proposal: Proposal, standing: Decision | None) -> str:
    if standing is None:
        return f"Proposal {proposal.number} was already decided."
    verb = {
        Decision.Kind.RELEASE: "released",
        Decision.Kind.REJECT: "rejected",
        Decision.Kind.SEND_BACK: "sent back",
    }[Decision.Kind(standing.kind)]
    when = local_text(standing.at, zone=proposal.case.desk.zone, relative_to=standing.at)
    ended = f", then stopped: {standing.ended_reason}" if standing.ended_reason else ""
    return f"Proposal {proposal.number} was already {verb} by {standing.by_name} at {when}{ended}."


def check_case_waits_for_review(*, case: Case) -> None:
    """Decisions are taken while the case waits for review; a blocked case says why not."""
    if case.is_out_of_budget:
        raise DecisionRefused(f"The case is blocked: {case.blocked_reason}", reason_code="blocked")
    if case.current_stage is Stage.BLOCKED:
        raise DecisionRefused(
            f"The case is blocked: {case.blocked_reason} Nothing can be released on facts that "
            "cannot be read; it is tried again by itself.",
            reason_code="blocked",
        )
    if case.current_stage is not Stage.WAITING_FOR_REVIEW:
        raise DecisionRefused(
            "The case is not waiting for a decision. Reload it to see where it stands.",
            reason_code="not_waiting",
        )


def check_still_valid(*, proposal: Proposal, at: datetime) -> None:
    """A proposal whose rate or appointment ran out cannot be released."""
    if proposal.valid_until is not None and proposal.valid_until <= at:
        until = local_text(proposal.valid_until, zone=proposal.case.desk.zone)
        raise DecisionRefused(
            f"Proposal {proposal.number} expired {until}. A fresh plan is being prepared.",
            reason_code="expired",
        )


def check_nothing_holds_releases(*, condition: StandingCondition | None) -> None:
    """While a condition stands that stops releases, nothing new is released."""
    if condition is not None:
        raise DecisionRefused(
            f"Nothing is released while this stands: {condition} (opened by "
            f"{condition.opened_by}). You can reject or send back; release when it is closed.",
            reason_code="held",
        )


def check_may_own(*, person: Person) -> None:
    """Owners are active operators or leads; an agent is never one."""
    if not person.is_active or person.role not in DECIDERS:
        raise Refused(f"{person} cannot own cases: owners are active operators or leads.")


def check_may_set_roster(*, person: Person) -> None:
    """Leads and admins set shifts, rosters, leave and ownership rules."""
    if not person.is_active or person.role not in {Role.LEAD, Role.ADMIN}:
        raise Refused(f"{person} cannot change the roster. Ask a lead or an admin.")


def check_may_set_people(*, person: Person) -> None:
    """Admins say who works here and in which role."""
    if not person.is_active or person.role != Role.ADMIN:
        raise Refused(f"{person} cannot change people or roles. Ask an admin.")


def check_may_see_numbers(*, person: Person) -> None:
    """Leads, admins and auditors see the desk in numbers; operators see each case."""
    if not person.is_active or person.role not in {Role.LEAD, Role.ADMIN, Role.AUDITOR}:
        raise Refused(f"{person} cannot see the desk's numbers. Ask a lead.")


def check_may_keep_sheet(*, person: Person, sides: Sides) -> None:
    """A sheet is kept by the two shifts it lies between, and by the desk's lead and manager."""
    check_may_write(person=person)
    if not sides.has_place(person.pk):
        raise Refused(
            f"{person} stands in neither of the two shifts of this handover. Ask somebody who "
            "does, or the desk's lead."
        )


def check_may_take_over(*, person: Person, sides: Sides) -> None:
    """Rows are accepted, assigned and refused by the incoming shift, or the lead or manager."""
    check_may_keep_sheet(person=person, sides=sides)
    if not sides.takes_over(person.pk):
        raise Refused(
            "The incoming shift accepts, assigns or refuses, or the desk's lead. You can ask or "
            "escalate."
        )


def check_may_hand_over(*, person: Person, sides: Sides) -> None:
    """The sheet is published by somebody of the outgoing shift, or the desk's lead or manager."""
    check_may_write(person=person)
    if not sides.hands_over(person.pk):
        raise Refused(
            "Somebody of the outgoing shift publishes the sheet. Ask them, or the desk's lead."
        )


def check_may_sign(*, person: Person, handover: Handover, sides: Sides, at: datetime) -> None:
    """A published sheet is signed from the boundary on, by a lead or the incoming primary.

    Never by the shift that leaves, nor by whoever handed it over. Its desk is loaded.
    """
    check_may_own(person=person)
    is_lead = person.role == Role.LEAD and sides.takes_over(person.pk)
    if not is_lead and person.pk != sides.incoming.primary:
        raise Refused("A lead or the primary of the incoming shift signs. Ask one of them.")
    if sides.only_leaves(person.pk):
        raise Refused("You stand in the shift that leaves, so somebody of the incoming one signs.")
    if handover.published_at is None:
        raise Conflict(
            "Nobody has handed this sheet over yet. Ask the outgoing shift to publish it, or the "
            "desk's lead; then sign."
        )
    if handover.outgoing_id == person.pk:
        raise Refused("You handed this desk over, so somebody of the incoming shift signs.")
    if at < handover.boundary:
        begins = local_text(handover.boundary, zone=handover.desk.zone)
        raise Conflict(f"The next shift begins {begins}. Sign from then on.")


def check_may_pause(*, person: Person | AgentIdentity) -> None:
    """Named leads and admins stop and start the agents; no agent ever can."""
    if isinstance(person, AgentIdentity):
        raise Refused(f"{person} is an agent: only named people pause or resume. Ask a lead.")
    if not person.is_active or person.role not in {Role.LEAD, Role.ADMIN}:
        raise Refused(f"{person} cannot pause or resume agents. Ask a lead or an admin.")


def check_may_set_conditions(*, person: Person | AgentIdentity) -> None:
    """Named leads and admins say what holds beyond a shift; no agent ever can."""
    if isinstance(person, AgentIdentity):
        raise Refused(f"{person} is an agent: only named people set conditions. Ask a lead.")
    if not person.is_active or person.role not in {Role.LEAD, Role.ADMIN}:
        raise Refused(f"{person} cannot open or close conditions. Ask a lead or an admin.")


def check_may_trust(*, person: Person) -> None:
    """Only a lead says that a source which went back is right all the same."""
    if not person.is_active or person.role != Role.LEAD:
        raise Refused("Only a lead trusts a source again that went back. Ask the lead.")


def check_may_raise_budget(*, person: Person | AgentIdentity) -> None:
    """Named leads and admins let the agent use more on a case; no agent ever can."""
    if isinstance(person, AgentIdentity):
        raise Refused(f"{person} is an agent: only named people raise its budget. Ask a lead.")
    if not person.is_active or person.role not in {Role.LEAD, Role.ADMIN}:
        raise Refused(f"{person} cannot raise the agent's budget. Ask a lead or an admin.")


def check_agent_may_go_on(*, case: Case) -> None:
    """Asking the agent for something is in vain while it is out of budget."""
    if case.is_out_of_budget:
        raise Conflict(case.blocked_reason)


def check_may_accept(*, person: Person, case: Case) -> None:
    """The outcome is accepted by the case's owner or a lead, once everything is done."""
    check_may_own(person=person)
    if person.role != Role.LEAD and case.owner_id != person.pk:
        raise Refused("The owner says that the job is done. Take the case first, or ask a lead.")
    if case.current_stage is not Stage.WAITING_FOR_ACCEPTANCE:
        raise Conflict("There is no outcome to accept yet.")

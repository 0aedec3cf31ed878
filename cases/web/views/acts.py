"""Acts on a case other than deciding: owning it, reading again, planning again, ending it."""

from cases.actions import closing, ownership
from cases.actions.budgets import raise_budget
from cases.actions.findings import Seen, record_finding
from cases.actions.trust import trust_source
from cases.actions.withdrawal import withdraw_release
from cases.queries.people import person_by_id
from cases.vocabulary.budgets import amount_from, resource_named
from cases.web.forms import (
    AssignForm,
    BudgetForm,
    FindingForm,
    TakeForm,
    TrustForm,
    drops_in,
)
from cases.web.request import DeskRequest, moment_of
from cases.web.views.posting import posted, reason_in, reasoned


@posted
def take(request: DeskRequest, case_id: int) -> str:
    """Become the owner, unless somebody else did since the page was made."""
    values = TakeForm(request.POST).values()
    ownership.take_case(
        case_id=case_id,
        by=request.user,
        at=moment_of(request),
        seen_owner_id=values["seen_owner"] if "seen_owner" in request.POST else ...,
    )
    return "You own this case now."


@posted
def assign(request: DeskRequest, case_id: int) -> str:
    """Make someone else the owner."""
    person = person_by_id(AssignForm(request.POST).values()["person"])
    ownership.assign_case(case_id=case_id, to=person, by=request.user, at=moment_of(request))
    return f"{person} owns this case now."


@posted
def refresh(request: DeskRequest, case_id: int) -> str:
    """Have the sources read again now."""
    closing.refresh_now(case_id=case_id, by=request.user, at=moment_of(request))
    return "The agent was asked to read the sources again."


@reasoned
def hand_back(request: DeskRequest, case_id: int) -> str:
    """Give the case to the next of its chain."""
    to = ownership.hand_back(
        case_id=case_id, by=request.user, at=moment_of(request), reason=reason_in(request)
    )
    return f"{to} owns this case now, and reads your reason."


@reasoned
def escalate(request: DeskRequest, case_id: int) -> str:
    """Put the case before the lead of the desk."""
    to = ownership.escalate_to_lead(
        case_id=case_id, by=request.user, at=moment_of(request), reason=reason_in(request)
    )
    return f"The case is before {to} now. Its owner stays until somebody takes it."


@reasoned
def accept(request: DeskRequest, case_id: int) -> str:
    """Say that the job is done."""
    closing.accept_outcome(
        case_id=case_id,
        by=request.user,
        at=moment_of(request),
        note=reason_in(request),
        drops=drops_in(request.POST),
    )
    return "You accepted the outcome. The case is closed."


@reasoned
def close(request: DeskRequest, case_id: int) -> str:
    """Close the case although nothing more is done about it."""
    closing.close_without_action(
        case_id=case_id,
        by=request.user,
        at=moment_of(request),
        reason=reason_in(request),
        drops=drops_in(request.POST),
    )
    return "The case is closed; your reason is kept."


@reasoned
def plan(request: DeskRequest, case_id: int) -> str:
    """Send an escalated case back to the agent."""
    closing.ask_for_plan(
        case_id=case_id, by=request.user, at=moment_of(request), reason=reason_in(request)
    )
    return "The agent was asked for a new plan."


@reasoned
def withdraw(request: DeskRequest, case_id: int) -> str:
    """Take the release back, as far as it was not carried out."""
    withdraw_release(
        case_id=case_id, by=request.user, at=moment_of(request), reason=reason_in(request)
    )
    return "The release is withdrawn. Nothing more is sent for it; you decide what happens next."


@reasoned
def budget(request: DeskRequest, case_id: int) -> str:
    """Let the agent use more of something on this case."""
    values = BudgetForm(request.POST).values()
    resource = resource_named(values["resource"])
    raised = raise_budget(
        case_id=case_id,
        resource=resource,
        limit=amount_from(resource=resource, typed=values["limit"]),
        reason=values["reason"],
        by=request.user,
        at=moment_of(request),
    )
    return f"The budget is raised. The agent has now used {raised}."


@reasoned
def finding(request: DeskRequest, case_id: int) -> str:
    """Record whether an effect of unknown outcome happened."""
    values = FindingForm(request.POST).values()
    happened = values["happened"] == "yes"
    record_finding(
        case_id=case_id,
        effect_id=values["effect"],
        happened=happened,
        note=values["reason"],
        seen=Seen(
            attempts=values["seen_attempts"],
            looks=values["seen_looks"],
            reports=values["seen_reports"],
        ),
        by=request.user,
        at=moment_of(request),
    )
    word = "It happened" if happened else "It did not happen"
    return f"{word}. Nothing is sent by itself now; how the case goes on is below."


@reasoned
def trust(request: DeskRequest, case_id: int) -> str:
    """Trust a source again that went back to an older version."""
    values = TrustForm(request.POST).values()
    trust_source(
        case_id=case_id,
        record_id=values["record"],
        seen_version=values["seen_version"],
        reason=values["reason"],
        by=request.user,
        at=moment_of(request),
    )
    return "The source is trusted again from this version on. The agent reads it anew."

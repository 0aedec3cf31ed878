"""Asking a planner once per round, and turning the recorded answer into a proposal."""

from collections.abc import Sequence
from typing import Any

from cases.actions.change import Change, working
from cases.actions.evidence import material_changes, set_next_refresh, wake_for_review
from cases.actions.seal import planned_from, proposal_digest
from cases.models import Case, Evidence, PlanRequest, Proposal, ProposedAction
from cases.queries.goals import goal_credit, open_goals
from cases.queries.sheets import sheet_of
from cases.vocabulary.actors import Actor
from cases.vocabulary.budgets import ModelUsage, usage_of
from cases.vocabulary.digest import digest_of
from cases.vocabulary.errors import Conflict, InvalidInput
from cases.vocabulary.facts import FactChange, FactSheet, MaterialFact
from cases.vocabulary.playbook import (
    Plan,
    PlanKind,
    Playbook,
    check_plan,
    material_facts,
    plan_from,
)
from cases.vocabulary.playbooks import playbook_of
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import Grant, PlanQuestion, TurnedDown

MOST_ASKED_IN_A_ROUND = 3


def ask_for_plan(*, grant: Grant, by: Actor, planner: str) -> PlanQuestion:
    """Open this round's question, or find it as it was left; a given answer comes with it."""
    with working(grant=grant, by=by) as change:
        case, sheet = change.case, sheet_of(change.case)
        request = _question_of_round(change, planner=planner, sheet=sheet)
        if request.answer is not None:
            change.nothing_to_do()
        else:
            change.record(
                "plan_asked",
                planner=planner,
                round=case.planning_round,
                times_asked=request.times_asked,
            )
        return PlanQuestion(
            request_id=request.pk,
            planning_round=case.planning_round,
            kind=case.kind,
            case_type=case.case_type,
            sheet=sheet,
            turned_down=_turned_down(case),
            now=change.at,
            answer=request.answer,
        )


def _question_of_round(change: Change, *, planner: str, sheet: FactSheet) -> PlanRequest:
    """The open question of this round; other facts than it was asked on make a new round.

    So do answers that never came: a planner asked in vain uses up the budget of rounds too.
    """
    case, facts = change.case, sheet.digest
    request = PlanRequest.objects.filter(case=case, planning_round=case.planning_round).first()
    if request is not None and (request.facts_digest != facts or _was_asked_in_vain(request)):
        case.planning_round += 1
        request = None
    if request is None:
        return PlanRequest.objects.create(
            case=case,
            planning_round=case.planning_round,
            planner=planner,
            facts_digest=facts,
            asked_at=change.at,
        )
    if request.answer is None:
        request.times_asked += 1
        request.save(update_fields=("times_asked",))
    return request


def _was_asked_in_vain(request: PlanRequest) -> bool:
    return request.answer is None and request.times_asked >= MOST_ASKED_IN_A_ROUND


def _turned_down(case: Case) -> tuple[TurnedDown, ...]:
    refused = (
        case.proposals.filter(state__in=(Proposal.State.REJECTED, Proposal.State.SENT_BACK))
        .prefetch_related("actions", "decisions")
        .order_by("number")
    )
    return tuple(
        TurnedDown(
            number=proposal.number,
            reason=proposal.state_reason,
            actions=tuple(planned_from(row) for row in proposal.actions.all()),
        )
        for proposal in refused
    )


def record_plan(*, grant: Grant, by: Actor, request_id: int, answer: dict[str, Any]) -> None:
    """Keep the planner's answer before it is used, and charge what it cost. The first stays."""
    with working(grant=grant, by=by) as change:
        request = PlanRequest.objects.select_for_update().get(pk=request_id, case=change.case)
        if request.answer is not None:
            change.nothing_to_do()
            return
        request.answer, request.answered_at = answer, change.at
        request.save(update_fields=("answer", "answered_at"))
        change.record(
            "plan_answered",
            planner=request.planner,
            round=request.planning_round,
            digest=digest_of(answer),
            **_charge(change, answer),
        )


def _charge(change: Change, answer: dict[str, Any]) -> dict[str, int]:
    """Count what the answer says it cost; one that cannot be counted will not be used either."""
    try:
        cost = usage_of(answer)
    except InvalidInput:
        return {}
    change.run.tokens += cost.tokens
    change.run.spent_micros += cost.micros
    return {"tokens": cost.tokens, "micros": cost.micros} if cost != ModelUsage() else {}


def propose(*, grant: Grant, by: Actor, request_id: int) -> None:
    """Turn the recorded answer into what it says; an answer outside the catalogue escalates.

    Harmless when repeated: a round that was already used, or whose facts have changed since the
    question, changes nothing.
    """
    with working(grant=grant, by=by) as change:
        case, sheet = change.case, sheet_of(change.case)
        request = PlanRequest.objects.get(pk=request_id, case=case)
        if (
            case.current_stage is not Stage.INVESTIGATING
            or request.planning_round != case.planning_round
            or request.facts_digest != sheet.digest
        ):
            change.nothing_to_do()
            return
        if request.answer is None:
            raise Conflict("This planning round has no answer yet.")
        case.planning_round += 1
        try:
            usage_of(request.answer)
            plan = plan_from(request.answer)
            check_plan(playbook=playbook_of(case.kind), plan=plan)
            _use(change, plan, sheet)
        except InvalidInput as error:
            _hand_to_person(change, f"The planner's answer cannot be used: {error}")


def _use(change: Change, plan: Plan, sheet: FactSheet) -> None:
    match plan.kind:
        case PlanKind.PROPOSE if open_goals(change.case, sheet):
            _make_proposal(change, plan, sheet)
        case PlanKind.PROPOSE | PlanKind.NOTHING_LEFT:  # for goals that people settled, nothing
            _nothing_left(change, plan, sheet)
        case PlanKind.ESCALATE:
            _hand_to_person(change, plan.summary)


def _nothing_left(change: Change, plan: Plan, sheet: FactSheet) -> None:
    """Believe 'nothing left to do' only when the goals show it; prose is never proof."""
    undone = open_goals(change.case, sheet)
    if undone:
        _hand_to_person(change, f"No plan, although still open: {', '.join(undone)}.")
        return
    credit = goal_credit(change.case, sheet)
    change.enter(Stage.WAITING_FOR_ACCEPTANCE, reason=f"Nothing is left to do: {credit}.")
    set_next_refresh(change)


def _hand_to_person(change: Change, reason: str) -> None:
    change.enter(Stage.ESCALATED, reason=reason)
    change.record("case_escalated", reason=reason)
    set_next_refresh(change)


def _make_proposal(change: Change, plan: Plan, sheet: FactSheet) -> None:
    case, playbook = change.case, playbook_of(change.case.kind)
    facts = material_facts(playbook=playbook, actions=plan.actions, sheet=sheet)
    previous = case.proposals.order_by("-number").first()
    changes = (
        () if previous is None else material_changes(case=case, proposal=previous, sheet=sheet)
    )
    proposal = _store(change, playbook, plan, sheet, facts, changes, previous)
    for position, planned in enumerate(plan.actions, start=1):
        ProposedAction.objects.create(
            proposal=proposal,
            position=position,
            action=planned.action,
            parameters=dict(planned.parameters),
            depends_on=list(planned.depends_on),
        )
    for reading in sheet.readings:
        Evidence.objects.create(
            proposal=proposal, observation_id=reading.observation_id, bound_at=change.at
        )
    case.decide_by = proposal.decide_by
    change.record(
        "proposal_made",
        number=proposal.number,
        digest=proposal.digest,
        version=proposal.subject_version,
        changes=proposal.changes,
        actions=[planned.as_value() for planned in plan.actions],
    )
    change.enter(Stage.WAITING_FOR_REVIEW, reason=f"Proposal {proposal.number} is ready.")
    set_next_refresh(change)
    wake_for_review(change, proposal)


def _store(
    change: Change,
    playbook: Playbook,
    plan: Plan,
    sheet: FactSheet,
    facts: Sequence[MaterialFact],
    changes: Sequence[FactChange],
    previous: Proposal | None,
) -> Proposal:
    number = 1 if previous is None else previous.number + 1
    expiries = [playbook.expiry_of(planned, sheet) for planned in plan.actions]
    valid_until = min((moment for moment in expiries if moment is not None), default=None)
    cost = playbook.cost_of(plan.actions)
    subject = sheet.reading(sheet.subject_type, sheet.subject_id)
    values = [fact.as_value() for fact in facts]
    return Proposal.objects.create(
        case=change.case,
        number=number,
        state_since=change.at,
        author=change.by.name,
        created_at=change.at,
        summary=plan.summary,
        subject_version=None if subject is None else subject.version,
        facts=values,
        changes=[item.as_value() for item in changes],
        cost_minor=None if cost is None else cost.amount_minor,
        currency="" if cost is None else cost.currency,
        decide_by=playbook.decide_by(sheet, change.at),
        valid_until=valid_until,
        digest=proposal_digest(
            case=change.case,
            number=number,
            actions=plan.actions,
            facts=values,
            valid_until=valid_until,
        ),
    )

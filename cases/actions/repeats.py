"""The same call once more under its key, where only its answer can tell whether it happened (P16).

The target recognises the key, so that the call happens once however often it is made. What the
newest attempt learns holds for those before it.
"""

from cases.actions.attempts import effect_to_repeat
from cases.actions.change import Change, working
from cases.actions.conditions import what_holds
from cases.actions.effects import FACTS_ARE_FRESH_FOR, start_attempt
from cases.actions.evidence import outran, untrusted
from cases.actions.open_actions import changes_for_open_actions
from cases.actions.pauses import standing_pause
from cases.actions.releases import hand_over, release_in_force
from cases.actions.unread import has_unread_events
from cases.models import Attempt, Decision, Effect
from cases.policies import check_may_decide, reason_against
from cases.queries.sheets import sheet_of
from cases.vocabulary.actors import Actor
from cases.vocabulary.lanes import Lane
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import AttemptOrder, Capabilities, Grant


def begin_repeat(*, grant: Grant, by: Actor, capabilities: Capabilities) -> AttemptOrder | None:
    """Commit one more attempt of an effect of unknown outcome and permit its one call.

    None when there is nothing to repeat now, or a pause or a condition stands, or what came in from
    outside is not read yet, or facts are not fresh. A release that holds no longer cannot be
    repeated either: then a person finds out what happened.
    """
    with working(grant=grant, by=by) as change:
        decision = release_in_force(change.case)
        change.nothing_to_do()  # unless one of the checks writes something down
        if change.case.current_stage is not Stage.RECONCILING or decision is None:
            return None
        if standing_pause(lane=Lane.EXECUTION, kind=change.case.kind, agent=by) is not None:
            return None
        if what_holds(change.case) is not None or has_unread_events(change.case):
            return None
        effect = effect_to_repeat(change, capabilities)
        if effect is None or not _facts_are_fresh(change):
            return None
        if reason := _holds_no_longer(change, decision, effect):
            hand_over(change, decision, f"Whether {effect.reference} happened is unknown. {reason}")
            return None
        effect.attempts.filter(outcome=Attempt.Outcome.UNKNOWN).update(
            outcome=Attempt.Outcome.REPEATED, resolved_at=change.at
        )
        return start_attempt(change, effect, grant)


def _facts_are_fresh(change: Change) -> bool:
    if reason := untrusted(change.case):
        change.block(reason=reason)
        return False
    refreshed_at = change.case.refreshed_at
    return refreshed_at is not None and change.at - refreshed_at <= FACTS_ARE_FRESH_FOR


def _holds_no_longer(change: Change, decision: Decision, effect: Effect) -> str:
    """Why the call may not be made any more, should it not have happened yet; empty when it may."""
    if reason := reason_against(check_may_decide, person=decision.by):
        return f"{decision.by_name} may no longer release it: {reason}"
    if decision.valid_until is None or decision.valid_until <= change.at:
        return "Its release has run out, so it is not asked for again."
    if outrun := outran(decision.proposal):
        return f"{outrun} It is not asked for again."
    sheet = sheet_of(change.case)
    as_if_not = changes_for_open_actions(case=change.case, decision=decision, sheet=sheet)
    as_if_done = changes_for_open_actions(
        case=change.case, decision=decision, sheet=sheet, supposing=effect
    )
    if as_if_not and as_if_done:
        named = ", ".join(item.label.lower() for item in as_if_done)
        return f"Facts changed since it was released ({named}), so it is not asked for again."
    return ""

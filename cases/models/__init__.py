"""The tables of the record, one noun per module. Rules live elsewhere; constraints live here."""

from cases.models.agent import AgentIdentity
from cases.models.audit_event import AuditEvent
from cases.models.budget_raise import BudgetRaise
from cases.models.case import Case, CaseSource
from cases.models.case_line import CaseLine
from cases.models.clock import ClockOffset, ClockRequest
from cases.models.decision import Decision
from cases.models.desk import Desk
from cases.models.effect import Attempt, Effect, ReadBack
from cases.models.escalation import Escalation
from cases.models.feed import SourceFeed
from cases.models.goal import Goal
from cases.models.handover import Handover, HandoverRow, RowAnswer
from cases.models.inbound_event import InboundEvent
from cases.models.pause import Pause
from cases.models.person import Person, Role
from cases.models.proposal import Evidence, PlanRequest, Proposal, ProposedAction
from cases.models.roster import Leave, OwnershipRule, RosterEntry
from cases.models.run import Run
from cases.models.shift import ShiftPattern
from cases.models.source import Observation, SourceRecord
from cases.models.standing_condition import StandingCondition

__all__ = [
    "AgentIdentity",
    "Attempt",
    "AuditEvent",
    "BudgetRaise",
    "Case",
    "CaseLine",
    "CaseSource",
    "ClockOffset",
    "ClockRequest",
    "Decision",
    "Desk",
    "Effect",
    "Escalation",
    "Evidence",
    "Goal",
    "Handover",
    "HandoverRow",
    "InboundEvent",
    "Leave",
    "Observation",
    "OwnershipRule",
    "Pause",
    "Person",
    "PlanRequest",
    "Proposal",
    "ProposedAction",
    "ReadBack",
    "Role",
    "RosterEntry",
    "RowAnswer",
    "Run",
    "ShiftPattern",
    "SourceFeed",
    "SourceRecord",
    "StandingCondition",
]

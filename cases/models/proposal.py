"""Plans, proposals and their actions: immutable once written, except for the proposal's state."""

from django.db import models
from django.db.models import Q

from cases.models.case import Case
from cases.models.source import Observation


class PlanRequest(models.Model):
    """One question to a planner, asked before and answered once per round; the answer is reused.

    A crash after the answer was recorded never asks again, as long as the facts it was asked on
    (`facts_digest`) are still those of the case.
    """

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="plan_requests")
    planning_round = models.PositiveIntegerField()
    planner = models.CharField(max_length=64)
    facts_digest = models.CharField(max_length=64)
    asked_at = models.DateTimeField()
    times_asked = models.PositiveIntegerField(default=1)
    answered_at = models.DateTimeField(null=True)
    answer = models.JSONField(null=True)

    class Meta:
        """One request per round; answered means when and what."""

        constraints = (
            models.UniqueConstraint(
                fields=("case", "planning_round"), name="one_plan_request_per_round"
            ),
            models.CheckConstraint(
                condition=Q(answered_at__isnull=True, answer__isnull=True)
                | Q(answered_at__isnull=False, answer__isnull=False),
                name="plan_answer_says_when",
            ),
        )


class Proposal(models.Model):
    """Version `number` of a case's proposal, with the digest over all that a release binds to.

    `facts` are the material facts (see `MaterialFact.as_value`), `changes` what differs from the
    proposal before it (see `FactChange.as_value`), `valid_until` the first external expiry.
    """

    class State(models.TextChoices):
        """Where the proposal stands; only `ready` can be released."""

        READY = "ready", "Ready"
        STALE = "stale", "Stale"
        EXPIRED = "expired", "Expired"
        SUPERSEDED = "superseded", "Superseded"
        WITHDRAWN = "withdrawn", "Withdrawn"
        RELEASED = "released", "Released"
        REJECTED = "rejected", "Rejected"
        SENT_BACK = "sent_back", "Sent back"

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="proposals")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=12, choices=State, default=State.READY)
    state_reason = models.TextField(blank=True, default="")
    state_since = models.DateTimeField()
    author = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    summary = models.TextField()
    subject_version = models.BigIntegerField(null=True)
    facts = models.JSONField()
    changes = models.JSONField(default=list)
    cost_minor = models.BigIntegerField(null=True)
    currency = models.CharField(max_length=3, blank=True, default="")
    decide_by = models.DateTimeField()
    valid_until = models.DateTimeField(null=True)
    digest = models.CharField(max_length=64)
    evidence = models.ManyToManyField(Observation, through="Evidence", related_name="+")

    class Meta:
        """Numbers rise per case, and one proposal at most is ready."""

        constraints = (
            models.UniqueConstraint(fields=("case", "number"), name="one_proposal_per_number"),
            models.UniqueConstraint(
                fields=("case",), condition=Q(state="ready"), name="one_ready_proposal_per_case"
            ),
            models.CheckConstraint(
                condition=Q(cost_minor=None, currency="")
                | Q(cost_minor__isnull=False) & ~Q(currency=""),
                name="cost_has_a_currency",
            ),
        )

    def __str__(self) -> str:
        """`Proposal 3`."""
        return f"Proposal {self.number}"


class Evidence(models.Model):
    """An observation a proposal stands on; re-bound when a refresh retains the proposal."""

    proposal = models.ForeignKey(Proposal, on_delete=models.PROTECT, related_name="+")
    observation = models.ForeignKey(Observation, on_delete=models.PROTECT)
    bound_at = models.DateTimeField()

    class Meta:
        """An observation is bound once."""

        constraints = (
            models.UniqueConstraint(fields=("proposal", "observation"), name="evidence_bound_once"),
        )


class ProposedAction(models.Model):
    """Action `position` of a proposal, from the playbook's catalogue."""

    proposal = models.ForeignKey(Proposal, on_delete=models.PROTECT, related_name="actions")
    position = models.PositiveSmallIntegerField()
    action = models.CharField(max_length=64)
    parameters = models.JSONField()
    depends_on = models.JSONField(default=list)

    class Meta:
        """Positions count from 1 and are unique."""

        ordering = ("position",)
        constraints = (
            models.UniqueConstraint(
                fields=("proposal", "position"), name="one_action_per_position"
            ),
        )

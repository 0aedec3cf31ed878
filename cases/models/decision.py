"""What people decided, bound to exactly what they saw."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from cases.models.case import Case
from cases.models.proposal import Proposal


class Decision(models.Model):
    """A release, rejection or send-back by a named person, bound to version, digest and facts seen.

    A release stands until it is carried out, withdrawn, or found stale or expired right before
    acting; `ended_at` and `ended_reason` then say which. `carried_out` is true only when everything
    that was released has been done.
    """

    class Kind(models.TextChoices):
        """What was decided."""

        RELEASE = "release", "Release"
        REJECT = "reject", "Reject"
        SEND_BACK = "send_back", "Send back"

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="decisions")
    proposal = models.ForeignKey(Proposal, on_delete=models.PROTECT, related_name="decisions")
    kind = models.CharField(max_length=12, choices=Kind)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    by_name = models.CharField(max_length=200)
    at = models.DateTimeField()
    reason = models.TextField(blank=True, default="")
    digest = models.CharField(max_length=64)
    seen_case_version = models.PositiveIntegerField()
    nonce = models.UUIDField(unique=True)
    valid_until = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    carried_out = models.BooleanField(default=False)
    ended_reason = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        """One decision per proposal, one release in force per case."""

        constraints = (
            models.UniqueConstraint(fields=("proposal",), name="one_decision_per_proposal"),
            models.UniqueConstraint(
                fields=("case",),
                condition=Q(kind="release", ended_at=None),
                name="one_release_in_force_per_case",
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, ended_reason="")
                | Q(ended_at__isnull=False) & ~Q(ended_reason=""),
                name="ended_decision_says_why",
            ),
            models.CheckConstraint(
                condition=Q(carried_out=False) | Q(kind="release", ended_at__isnull=False),
                name="only_an_ended_release_was_carried_out",
            ),
            models.CheckConstraint(
                condition=~Q(kind="release") | Q(valid_until__isnull=False),
                name="release_has_an_end",
            ),
            models.CheckConstraint(
                condition=Q(kind="release") | ~Q(reason=""), name="refusal_has_a_reason"
            ),
        )
        indexes = (models.Index(fields=("at",), name="decisions_by_time"),)

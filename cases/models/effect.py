"""Effects, attempts and read-backs: what must change outside, each try, and each fresh look."""

import uuid

from django.db import models
from django.db.models import Q

from cases.models.decision import Decision
from cases.models.proposal import ProposedAction


class Effect(models.Model):
    """The change one released action must make in a target.

    `key` is the idempotency key for every attempt of it; `reference` is what the target can be
    searched for. `confirmed_at` is when a read-back saw it, `adopted_at` when the other party took
    it up; an effect with nothing to do outside is confirmed by reading the facts alone.
    """

    class State(models.TextChoices):
        """Where the effect stands."""

        WANTED = "wanted", "Wanted"
        UNKNOWN = "unknown", "Outcome unknown"
        ANSWERED = "answered", "Answered, not read back"
        CONFIRMED = "confirmed", "Confirmed by read-back"
        ADOPTED = "adopted", "Adopted"
        REFUSED = "refused", "Refused by the target"
        NOT_NEEDED = "not_needed", "Not carried out"

    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="effects")
    proposed_action = models.OneToOneField(
        ProposedAction, on_delete=models.PROTECT, related_name="planned_effect"
    )
    key = models.UUIDField(unique=True, default=uuid.uuid4)
    reference = models.CharField(max_length=80, unique=True)
    state = models.CharField(max_length=12, choices=State, default=State.WANTED)
    state_since = models.DateTimeField()
    state_reason = models.TextField(blank=True, default="")
    target_record_id = models.CharField(max_length=300, blank=True, default="")
    confirmed_at = models.DateTimeField(null=True)
    adopted_at = models.DateTimeField(null=True)

    class Meta:
        """Effects stand in the order of their actions; confirmed and adopted say when."""

        ordering = ("proposed_action__position",)
        constraints = (
            models.CheckConstraint(
                condition=~Q(state__in=("confirmed", "adopted")) | Q(confirmed_at__isnull=False),
                name="confirmed_effect_says_when",
            ),
            models.CheckConstraint(
                condition=~Q(state="adopted") | Q(adopted_at__isnull=False),
                name="adopted_effect_says_when",
            ),
        )


class Attempt(models.Model):
    """One try to make an effect happen; the row is committed before the call is made."""

    class Outcome(models.TextChoices):
        """How the try ended, as far as known.

        `repeated`: it may or may not have happened, and the same call was made again under its key,
        so that what the next attempt learns holds for both.
        """

        OPEN = "open", "Under way"
        ANSWERED = "answered", "Answered"
        UNKNOWN = "unknown", "Unknown"
        REFUSED = "refused", "Refused"
        NO_EFFECT = "no_effect", "Without effect"
        NOT_SENT = "not_sent", "Never left"
        REPEATED = "repeated", "Repeated under its key"

    effect = models.ForeignKey(Effect, on_delete=models.PROTECT, related_name="attempts")
    number = models.PositiveIntegerField()
    outcome = models.CharField(max_length=12, choices=Outcome, default=Outcome.OPEN)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    fencing_token = models.BigIntegerField()
    worker = models.CharField(max_length=200)
    detail = models.TextField(blank=True, default="")
    resolved_at = models.DateTimeField(null=True)

    class Meta:
        """One attempt is under way or unknown at a time."""

        ordering = ("number",)
        constraints = (
            models.UniqueConstraint(fields=("effect", "number"), name="one_attempt_per_number"),
            models.UniqueConstraint(
                fields=("effect",),
                condition=Q(outcome__in=("open", "unknown")),
                name="one_open_attempt_per_effect",
            ),
            models.CheckConstraint(
                condition=Q(outcome="open", ended_at=None)
                | ~Q(outcome="open") & Q(ended_at__isnull=False),
                name="ended_attempt_says_when",
            ),
        )


class ReadBack(models.Model):
    """A fresh look at the target for an effect: found or not, matching or not."""

    effect = models.ForeignKey(Effect, on_delete=models.PROTECT, related_name="read_backs")
    at = models.DateTimeField()
    found = models.BooleanField()
    matches = models.BooleanField()
    target_state = models.CharField(max_length=32, blank=True, default="")
    fields = models.JSONField(default=dict)
    detail = models.TextField(blank=True, default="")

    class Meta:
        """Only something found can match."""

        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                condition=Q(found=True) | Q(matches=False), name="only_what_is_found_matches"
            ),
        )

"""The handover of a desk at one shift boundary: its sheet, the rows, and who accepted what."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from cases.models.case import Case
from cases.models.desk import Desk


class Handover(models.Model):
    """One handover per desk and boundary, from the start of its refresh to its signature.

    `boundary` is the instant at which the incoming shift starts. `outgoing` published the sheet and
    `incoming` signed it, both kept by name too. `cases_to_read` and `cases_read` are the coverage
    of the refresh. `snapshot` is the sheet as it was signed, with its `digest`; before that it is
    empty and the sheet is computed. Instants are business time.
    """

    desk = models.ForeignKey(Desk, on_delete=models.PROTECT, related_name="handovers")
    boundary = models.DateTimeField()
    from_shift = models.CharField(max_length=40)
    to_shift = models.CharField(max_length=40)
    opened_at = models.DateTimeField()
    refreshed_at = models.DateTimeField(null=True)
    cases_to_read = models.PositiveIntegerField(default=0)
    cases_read = models.PositiveIntegerField(default=0)
    outgoing = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    published_at = models.DateTimeField(null=True)
    published_by = models.CharField(max_length=200, blank=True, default="")
    incoming = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    signed_at = models.DateTimeField(null=True)
    signed_by = models.CharField(max_length=200, blank=True, default="")
    snapshot = models.JSONField(null=True)
    digest = models.CharField(max_length=80, blank=True, default="")

    class Meta:
        """One handover per boundary; a signed one keeps what was signed."""

        ordering = ("-boundary", "-id")
        constraints = (
            models.UniqueConstraint(fields=("desk", "boundary"), name="one_handover_per_boundary"),
            models.CheckConstraint(
                condition=Q(signed_at=None, signed_by="", digest="", snapshot__isnull=True)
                | Q(signed_at__isnull=False, snapshot__isnull=False)
                & ~Q(signed_by="")
                & ~Q(digest=""),
                name="signed_handover_keeps_what_was_signed",
            ),
            models.CheckConstraint(
                condition=Q(published_at=None, published_by="")
                | Q(published_at__isnull=False) & ~Q(published_by=""),
                name="published_handover_says_by_whom",
            ),
        )


class HandoverRow(models.Model):
    """One open case on the sheet of a handover.

    `published` is what the row refers to: the number of the proposal, and the critical facts with
    value and version. What differs now has to be taken into the row before anybody accepts it.
    `note` is what the outgoing person leaves. `owner_before` is who answered for the case when the
    sheet was opened.
    """

    handover = models.ForeignKey(Handover, on_delete=models.PROTECT, related_name="rows")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="handover_rows")
    added_at = models.DateTimeField()
    published = models.JSONField()
    note = models.TextField(blank=True, default="")
    note_by = models.CharField(max_length=200, blank=True, default="")
    note_at = models.DateTimeField(null=True)
    owner_before = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )

    class Meta:
        """A case is on a sheet once."""

        ordering = ("handover", "id")
        constraints = (
            models.UniqueConstraint(fields=("handover", "case"), name="one_row_per_case"),
        )


class RowAnswer(models.Model):
    """What the incoming side said to a row; the newest counts, refused ones are kept.

    `read_back` are the critical facts as they were read back, next to what they were at that
    moment. `to` is who owns the case from then on, where ownership moved; `as_blocked` says that it
    was taken over although its sources were not read.
    """

    class Kind(models.TextChoices):
        """What was said."""

        ACCEPT = "accept", "Accepted"
        ASSIGN = "assign", "Assigned"
        ESCALATE = "escalate", "Escalated"
        QUESTION = "question", "Question"
        REFUSE = "refuse", "Refused"

    row = models.ForeignKey(HandoverRow, on_delete=models.PROTECT, related_name="answers")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    by_name = models.CharField(max_length=200)
    at = models.DateTimeField()
    to = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    reason = models.TextField(blank=True, default="")
    as_blocked = models.BooleanField(default=False)
    read_back = models.JSONField(default=dict)

    class Meta:
        """Questions and refusals say why."""

        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                condition=~Q(kind__in=("question", "refuse", "escalate")) | ~Q(reason=""),
                name="row_answer_says_why",
            ),
        )

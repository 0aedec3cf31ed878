"""Budgets a lead raised: the playbook says what a case may use, a person may allow more."""

from django.db import models
from django.db.models import Q

from cases.models.case import Case
from cases.models.person import Person
from cases.vocabulary.budgets import Resource


class BudgetRaise(models.Model):
    """From `at` on, the agent may use up to `limit` of a resource on this case.

    The newest raise counts; without one the playbook's limit does. Instants are business time.
    """

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="budget_raises")
    resource = models.CharField(
        max_length=16, choices=[(resource.value, resource.value) for resource in Resource]
    )
    limit = models.PositiveBigIntegerField()
    by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    by_name = models.CharField(max_length=200)
    at = models.DateTimeField()
    reason = models.TextField()

    class Meta:
        """A raise says why."""

        ordering = ("id",)
        constraints = (
            models.CheckConstraint(condition=~Q(reason=""), name="budget_raise_has_a_reason"),
        )

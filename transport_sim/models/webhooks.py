"""Who wants to be told of events, and what was sent to them."""

from django.db import models

CLOCKS = ("simulator", "real")
DELIVERY_STATUSES = ("pending", "delivered", "dropped", "failed")


class WebhookSubscription(models.Model):
    """An address that gets every event, and the secret its deliveries are signed with.

    `clock` says which clock stamps the deliveries: the simulator's or the real one.
    """

    url = models.CharField(max_length=500)
    secret = models.CharField(max_length=200)
    clock = models.CharField(max_length=16, default="simulator")

    class Meta:
        """What must hold whoever writes."""

        constraints = (
            models.CheckConstraint(
                condition=models.Q(clock__in=CLOCKS), name="webhook_clock_is_known"
            ),
        )


class WebhookDelivery(models.Model):
    """One event on its way to one subscriber. Due times are the simulator's."""

    subscription = models.ForeignKey(WebhookSubscription, on_delete=models.CASCADE)
    subscription_id: int
    webhook_id = models.CharField(max_length=64)
    event = models.CharField(max_length=32)
    body = models.TextField()
    queued_at = models.DateTimeField()
    due_at = models.DateTimeField()
    # Waits for a later event to go first, at most until it is due.
    held = models.BooleanField(default=False)
    status = models.CharField(max_length=16, default="pending")
    attempts = models.PositiveIntegerField(default=0)
    answer_status = models.PositiveSmallIntegerField(null=True)
    error = models.CharField(max_length=200, null=True)
    delivered_at = models.DateTimeField(null=True)

    class Meta:
        """What must hold whoever writes."""

        constraints = (
            models.CheckConstraint(
                condition=models.Q(status__in=DELIVERY_STATUSES), name="delivery_status_is_known"
            ),
        )
        indexes = (
            models.Index(
                fields=("due_at",), condition=models.Q(status="pending"), name="delivery_due"
            ),
        )

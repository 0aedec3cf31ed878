"""What a case used up and may use, who was put before it, and what came in from outside."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Counters on the run; raises, escalations and inbound events."""

    dependencies = [
        ("cases", "0002_database_rules"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="calls",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="run",
            name="spent_micros",
            field=models.PositiveBigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="run",
            name="tokens",
            field=models.PositiveBigIntegerField(default=0),
        ),
        migrations.CreateModel(
            name="BudgetRaise",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "resource",
                    models.CharField(
                        choices=[
                            ("steps", "steps"),
                            ("planning_rounds", "planning_rounds"),
                            ("tokens", "tokens"),
                            ("calls", "calls"),
                            ("money", "money"),
                        ],
                        max_length=16,
                    ),
                ),
                ("limit", models.PositiveBigIntegerField()),
                ("by_name", models.CharField(max_length=200)),
                ("at", models.DateTimeField()),
                ("reason", models.TextField()),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="budget_raises",
                        to="cases.case",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("reason", ""), _negated=True),
                        name="budget_raise_has_a_reason",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Escalation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "cause",
                    models.CharField(
                        choices=[("not_decided", "Not decided in time")], max_length=16
                    ),
                ),
                ("reason", models.CharField(max_length=300)),
                ("started_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("ended_reason", models.CharField(blank=True, default="", max_length=300)),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="escalations",
                        to="cases.case",
                    ),
                ),
                (
                    "to",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)),
                        fields=("case",),
                        name="one_running_escalation",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at", None), ("ended_reason", "")),
                            models.Q(
                                ("ended_at__isnull", False),
                                models.Q(("ended_reason", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="ended_escalation_says_why",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="InboundEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("system", models.CharField(max_length=32)),
                ("event_id", models.CharField(max_length=128)),
                ("event_type", models.CharField(blank=True, default="", max_length=64)),
                ("occurred_at", models.DateTimeField(null=True)),
                ("received_at", models.DateTimeField()),
                ("content", models.BinaryField()),
                ("content_digest", models.CharField(max_length=64)),
                ("reference", models.CharField(blank=True, default="", max_length=80)),
                ("subject", models.CharField(blank=True, default="", max_length=300)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("received", "Received"),
                            ("applied", "Applied"),
                            ("ignored", "Nothing to do"),
                            ("quarantined", "Quarantined"),
                        ],
                        default="received",
                        max_length=16,
                    ),
                ),
                ("detail", models.CharField(blank=True, default="", max_length=500)),
                (
                    "case",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="inbound_events",
                        to="cases.case",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "received")),
                        fields=["id"],
                        name="events_to_be_applied",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("system", "event_id", "content_digest"), name="event_is_kept_once"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "quarantined"), _negated=True),
                        fields=("system", "event_id"),
                        name="event_id_counts_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("detail", ""), ("state", "received")),
                            models.Q(
                                models.Q(("state", "received"), _negated=True),
                                models.Q(("detail", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="event_says_what_became_of_it",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "applied"), _negated=True),
                            ("case__isnull", False),
                            _connector="OR",
                        ),
                        name="applied_event_names_its_case",
                    ),
                ],
            },
        ),
        migrations.RemoveConstraint(model_name="case", name="blocked_case_says_why_and_until_when"),
        migrations.AddConstraint(
            model_name="case",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("stage", "blocked"),
                        models.Q(("blocked_reason", ""), _negated=True),
                        models.Q(("blocked_from", ""), _negated=True),
                        ("blocked_since__isnull", False),
                    ),
                    models.Q(
                        models.Q(("stage", "blocked"), _negated=True),
                        ("blocked_from", ""),
                        ("blocked_reason", ""),
                        ("blocked_since", None),
                    ),
                    _connector="OR",
                ),
                name="blocked_case_says_why_and_since_when",
            ),
        ),
    ]

"""Shifts, rosters, handovers, goals, lines, standing conditions; escalations know who is next."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """The tables of the shift handover."""

    dependencies = [
        ("cases", "0006_not_adopted"),
    ]

    operations = [
        migrations.CreateModel(
            name="CaseLine",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "sort",
                    models.CharField(
                        choices=[
                            ("next_step", "Next step"),
                            ("if_then", "If … then"),
                            ("promise", "Promise"),
                            ("do_not", "Do not"),
                            ("waiting_on", "Waiting on"),
                            ("note", "Note"),
                        ],
                        max_length=12,
                    ),
                ),
                ("text", models.TextField()),
                ("party", models.CharField(blank=True, default="", max_length=200)),
                ("due_at", models.DateTimeField(null=True)),
                ("due_zone", models.CharField(blank=True, default="", max_length=64)),
                ("written_by_name", models.CharField(max_length=200)),
                ("written_at", models.DateTimeField()),
                ("ended_by", models.CharField(blank=True, default="", max_length=200)),
                ("ended_at", models.DateTimeField(null=True)),
                ("ended_reason", models.CharField(blank=True, default="", max_length=200)),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Goal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(blank=True, default="", max_length=64)),
                ("label", models.CharField(max_length=200)),
                ("added_by", models.CharField(blank=True, default="", max_length=200)),
                ("added_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("achieved", "Achieved"),
                            ("dropped", "Dropped"),
                        ],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("settled_by", models.CharField(blank=True, default="", max_length=200)),
                ("settled_at", models.DateTimeField(null=True)),
                ("reason", models.TextField(blank=True, default="")),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Handover",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("boundary", models.DateTimeField()),
                ("from_shift", models.CharField(max_length=40)),
                ("to_shift", models.CharField(max_length=40)),
                ("opened_at", models.DateTimeField()),
                ("refreshed_at", models.DateTimeField(null=True)),
                ("cases_to_read", models.PositiveIntegerField(default=0)),
                ("cases_read", models.PositiveIntegerField(default=0)),
                ("lead_called_at", models.DateTimeField(null=True)),
                ("manager_called_at", models.DateTimeField(null=True)),
                ("signed_at", models.DateTimeField(null=True)),
                ("signed_by", models.CharField(blank=True, default="", max_length=200)),
                ("snapshot", models.JSONField(null=True)),
                ("digest", models.CharField(blank=True, default="", max_length=80)),
            ],
            options={
                "ordering": ("-boundary", "-id"),
            },
        ),
        migrations.CreateModel(
            name="HandoverRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("added_at", models.DateTimeField()),
                ("published", models.JSONField()),
                ("draft", models.TextField(blank=True, default="")),
                ("note", models.TextField(blank=True, default="")),
                ("note_by", models.CharField(blank=True, default="", max_length=200)),
                ("note_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ("handover", "id"),
            },
        ),
        migrations.CreateModel(
            name="Leave",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
                ("set_by", models.CharField(max_length=200)),
                ("set_at", models.DateTimeField()),
                ("cancelled_by", models.CharField(blank=True, default="", max_length=200)),
                ("cancelled_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ("starts_at", "id"),
            },
        ),
        migrations.CreateModel(
            name="OwnershipRule",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(blank=True, default="", max_length=32)),
                ("case_type", models.CharField(blank=True, default="", max_length=8)),
                (
                    "position",
                    models.CharField(
                        blank=True,
                        choices=[("primary", "primary"), ("backup", "backup"), ("lead", "lead")],
                        default="",
                        max_length=8,
                    ),
                ),
                ("set_by", models.CharField(max_length=200)),
                ("set_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("desk", "kind", "case_type"),
            },
        ),
        migrations.CreateModel(
            name="RosterEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "position",
                    models.CharField(
                        choices=[("primary", "primary"), ("backup", "backup"), ("lead", "lead")],
                        max_length=8,
                    ),
                ),
                ("first_day", models.DateField()),
                ("last_day", models.DateField(null=True)),
                (
                    "days",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveSmallIntegerField()
                    ),
                ),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
                ("set_by", models.CharField(max_length=200)),
                ("set_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="RowAnswer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("accept", "Accepted"),
                            ("assign", "Assigned"),
                            ("escalate", "Escalated"),
                            ("question", "Question"),
                            ("refuse", "Refused"),
                        ],
                        max_length=8,
                    ),
                ),
                ("by_name", models.CharField(max_length=200)),
                ("at", models.DateTimeField()),
                ("reason", models.TextField(blank=True, default="")),
                ("read_back", models.JSONField(default=dict)),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="ShiftPattern",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=40)),
                ("starts_at", models.TimeField()),
                (
                    "days",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveSmallIntegerField()
                    ),
                ),
                ("overlap_minutes", models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                "ordering": ("desk", "starts_at", "id"),
            },
        ),
        migrations.CreateModel(
            name="StandingCondition",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "sort",
                    models.CharField(
                        choices=[
                            ("connector", "Connector degraded"),
                            ("embargo", "Carrier embargo"),
                            ("override", "Manual override"),
                            ("other", "Other"),
                        ],
                        max_length=12,
                    ),
                ),
                ("title", models.CharField(max_length=200)),
                ("detail", models.TextField(blank=True, default="")),
                ("system", models.CharField(blank=True, default="", max_length=32)),
                ("blocks_releases", models.BooleanField(default=False)),
                ("opened_by", models.CharField(max_length=200)),
                ("opened_at", models.DateTimeField()),
                ("review_at", models.DateTimeField(null=True)),
                ("closed_by", models.CharField(blank=True, default="", max_length=200)),
                ("closed_at", models.DateTimeField(null=True)),
                ("closed_reason", models.TextField(blank=True, default="")),
            ],
            options={
                "ordering": ("opened_at", "id"),
            },
        ),
        migrations.RemoveConstraint(
            model_name="escalation",
            name="one_running_escalation",
        ),
        migrations.AddField(
            model_name="desk",
            name="manager",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="managed_desks",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="escalation",
            name="next_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="escalation",
            name="next_to",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="escalation",
            name="cause",
            field=models.CharField(
                choices=[
                    ("not_decided", "Not decided in time"),
                    ("not_adopted", "Not adopted in time"),
                    ("off_shift", "Owner is off shift"),
                    ("no_owner", "No owner is available"),
                    ("by_person", "Escalated by a person"),
                ],
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="escalation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("ended_at", None)),
                fields=("case", "cause"),
                name="one_running_escalation_per_cause",
            ),
        ),
        migrations.AddConstraint(
            model_name="escalation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("next_at", None), ("next_to", None)),
                    models.Q(("next_at__isnull", False), ("next_to__isnull", False)),
                    _connector="OR",
                ),
                name="next_call_says_when_and_who",
            ),
        ),
        migrations.AddField(
            model_name="caseline",
            name="case",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="lines", to="cases.case"
            ),
        ),
        migrations.AddField(
            model_name="caseline",
            name="written_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="goal",
            name="case",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="goals", to="cases.case"
            ),
        ),
        migrations.AddField(
            model_name="handover",
            name="desk",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="handovers",
                to="cases.desk",
            ),
        ),
        migrations.AddField(
            model_name="handover",
            name="incoming",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="handover",
            name="outgoing",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="handoverrow",
            name="case",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="handover_rows",
                to="cases.case",
            ),
        ),
        migrations.AddField(
            model_name="handoverrow",
            name="handover",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="rows",
                to="cases.handover",
            ),
        ),
        migrations.AddField(
            model_name="handoverrow",
            name="owner_before",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="leave",
            name="person",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="leaves",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="ownershiprule",
            name="desk",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="ownership_rules",
                to="cases.desk",
            ),
        ),
        migrations.AddField(
            model_name="ownershiprule",
            name="person",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="rosterentry",
            name="person",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="watches",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="rowanswer",
            name="by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="rowanswer",
            name="row",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="answers",
                to="cases.handoverrow",
            ),
        ),
        migrations.AddField(
            model_name="rowanswer",
            name="to",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="shiftpattern",
            name="desk",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="shifts", to="cases.desk"
            ),
        ),
        migrations.AddField(
            model_name="rosterentry",
            name="shift",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="entries",
                to="cases.shiftpattern",
            ),
        ),
        migrations.AddField(
            model_name="standingcondition",
            name="desk",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="standing_conditions",
                to="cases.desk",
            ),
        ),
        migrations.AddConstraint(
            model_name="caseline",
            constraint=models.CheckConstraint(
                condition=models.Q(("text", ""), _negated=True), name="case_line_says_something"
            ),
        ),
        migrations.AddConstraint(
            model_name="caseline",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("due_at", None), ("due_zone", "")),
                    models.Q(("due_at__isnull", False), models.Q(("due_zone", ""), _negated=True)),
                    _connector="OR",
                ),
                name="due_line_names_its_zone",
            ),
        ),
        migrations.AddConstraint(
            model_name="caseline",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at", None), ("ended_by", "")),
                    models.Q(
                        ("ended_at__isnull", False), models.Q(("ended_by", ""), _negated=True)
                    ),
                    _connector="OR",
                ),
                name="ended_line_says_by_whom",
            ),
        ),
        migrations.AddConstraint(
            model_name="goal",
            constraint=models.UniqueConstraint(
                condition=models.Q(("key", ""), _negated=True),
                fields=("case", "key"),
                name="one_goal_of_that_key",
            ),
        ),
        migrations.AddConstraint(
            model_name="goal",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("settled_at", None), ("settled_by", ""), ("state", "open")),
                    models.Q(
                        models.Q(("state", "open"), _negated=True),
                        models.Q(("settled_by", ""), _negated=True),
                        ("settled_at__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="settled_goal_says_by_whom",
            ),
        ),
        migrations.AddConstraint(
            model_name="goal",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "dropped"), _negated=True),
                    models.Q(("reason", ""), _negated=True),
                    _connector="OR",
                ),
                name="dropped_goal_says_why",
            ),
        ),
        migrations.AddConstraint(
            model_name="handover",
            constraint=models.UniqueConstraint(
                fields=("desk", "boundary"), name="one_handover_per_boundary"
            ),
        ),
        migrations.AddConstraint(
            model_name="handover",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("digest", ""),
                        ("signed_at", None),
                        ("signed_by", ""),
                        ("snapshot__isnull", True),
                    ),
                    models.Q(
                        ("signed_at__isnull", False),
                        ("snapshot__isnull", False),
                        models.Q(("signed_by", ""), _negated=True),
                        models.Q(("digest", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="signed_handover_keeps_what_was_signed",
            ),
        ),
        migrations.AddConstraint(
            model_name="handoverrow",
            constraint=models.UniqueConstraint(
                fields=("handover", "case"), name="one_row_per_case"
            ),
        ),
        migrations.AddConstraint(
            model_name="leave",
            constraint=models.CheckConstraint(
                condition=models.Q(("ends_at__gt", models.F("starts_at"))),
                name="leave_ends_after_it_starts",
            ),
        ),
        migrations.AddConstraint(
            model_name="leave",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("cancelled_at", None), ("cancelled_by", "")),
                    models.Q(
                        ("cancelled_at__isnull", False),
                        models.Q(("cancelled_by", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="cancelled_leave_says_by_whom",
            ),
        ),
        migrations.AddConstraint(
            model_name="ownershiprule",
            constraint=models.UniqueConstraint(
                fields=("desk", "kind", "case_type"), name="one_ownership_rule_per_scope"
            ),
        ),
        migrations.AddConstraint(
            model_name="ownershiprule",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(models.Q(("position", ""), _negated=True), ("person", None)),
                    models.Q(("position", ""), ("person__isnull", False)),
                    _connector="OR",
                ),
                name="ownership_rule_names_position_or_person",
            ),
        ),
        migrations.AddConstraint(
            model_name="ownershiprule",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("case_type", ""), models.Q(("kind", ""), _negated=True), _connector="OR"
                ),
                name="rule_for_a_type_names_its_kind",
            ),
        ),
        migrations.AddConstraint(
            model_name="rowanswer",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind__in", ("question", "refuse", "escalate")), _negated=True),
                    models.Q(("reason", ""), _negated=True),
                    _connector="OR",
                ),
                name="row_answer_says_why",
            ),
        ),
        migrations.AddConstraint(
            model_name="shiftpattern",
            constraint=models.UniqueConstraint(
                fields=("desk", "name"), name="one_shift_of_that_name"
            ),
        ),
        migrations.AddConstraint(
            model_name="shiftpattern",
            constraint=models.CheckConstraint(
                condition=models.Q(("days", []), _negated=True), name="shift_starts_on_some_day"
            ),
        ),
        migrations.AddConstraint(
            model_name="rosterentry",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("last_day", None), ("last_day__gte", models.F("first_day")), _connector="OR"
                ),
                name="roster_entry_ends_after_it_starts",
            ),
        ),
        migrations.AddConstraint(
            model_name="rosterentry",
            constraint=models.CheckConstraint(
                condition=models.Q(("days", []), _negated=True), name="roster_entry_covers_some_day"
            ),
        ),
        migrations.AddConstraint(
            model_name="standingcondition",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("closed_at", None), ("closed_by", ""), ("closed_reason", "")),
                    models.Q(
                        ("closed_at__isnull", False),
                        models.Q(("closed_by", ""), _negated=True),
                        models.Q(("closed_reason", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="closed_condition_says_by_whom_and_why",
            ),
        ),
    ]

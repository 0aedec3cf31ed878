"""What happened in a period is found by its time: blocking, decisions, closed cases."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Three indexes."""

    dependencies = [("cases", "0011_source_feeds")]

    operations = [
        migrations.AddIndex(
            model_name="auditevent",
            index=models.Index(
                condition=models.Q(
                    ("event", "case_blocked"),
                    models.Q(("data__before", "blocked"), ("event", "stage_entered")),
                    _connector="OR",
                ),
                fields=["at"],
                name="blocking_by_time",
            ),
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(
                condition=models.Q(("stage", "closed")),
                fields=["closed_at", "id"],
                name="closed_cases_by_time",
            ),
        ),
        migrations.AddIndex(
            model_name="decision",
            index=models.Index(fields=["at"], name="decisions_by_time"),
        ),
    ]

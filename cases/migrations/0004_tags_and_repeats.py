"""Sources that tell states apart by tags, and attempts that never left or were repeated."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """A tag per observation; two more ways an attempt can end."""

    dependencies = [("cases", "0003_budgets_escalations_events")]

    operations = [
        migrations.AddField(
            model_name="observation",
            name="etag",
            field=models.CharField(blank=True, default="", max_length=300),
        ),
        migrations.AlterField(
            model_name="attempt",
            name="outcome",
            field=models.CharField(
                choices=[
                    ("open", "Under way"),
                    ("answered", "Answered"),
                    ("unknown", "Unknown"),
                    ("refused", "Refused"),
                    ("no_effect", "Without effect"),
                    ("not_sent", "Never left"),
                    ("repeated", "Repeated under its key"),
                ],
                default="open",
                max_length=12,
            ),
        ),
    ]

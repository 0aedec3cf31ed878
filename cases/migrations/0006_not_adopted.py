"""A cause of escalation more: what was carried out and not taken up in time."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Only the choices change."""

    dependencies = [("cases", "0005_lost_visits")]

    operations = [
        migrations.AlterField(
            model_name="escalation",
            name="cause",
            field=models.CharField(
                choices=[
                    ("not_decided", "Not decided in time"),
                    ("not_adopted", "Not adopted in time"),
                ],
                max_length=16,
            ),
        ),
    ]

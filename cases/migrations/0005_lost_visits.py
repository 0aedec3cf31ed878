"""How many claims in a row were never given back."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """A counter on the run."""

    dependencies = [("cases", "0004_tags_and_repeats")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="lost_visits",
            field=models.PositiveSmallIntegerField(default=0),
        ),
    ]

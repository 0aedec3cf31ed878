"""The change feed of a source is followed, and its silence proves that nothing changed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """A table, and what it lets us say of records and readings."""

    dependencies = [("cases", "0010_sheets")]

    operations = [
        migrations.CreateModel(
            name="SourceFeed",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("system", models.CharField(max_length=32, unique=True)),
                ("position", models.PositiveBigIntegerField(default=0)),
                ("last_entry", models.CharField(blank=True, default="", max_length=64)),
                ("read_at", models.DateTimeField(null=True)),
                ("followed_since", models.DateTimeField(null=True)),
                ("next_read_at", models.DateTimeField(null=True)),
                ("fencing_token", models.BigIntegerField(default=0)),
                ("worker", models.CharField(blank=True, default="", max_length=200)),
                ("lease_until", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("lease_until", None), ("worker", ""))
                        | models.Q(
                            ("lease_until__isnull", False),
                            models.Q(("worker", ""), _negated=True),
                        ),
                        name="feed_lease_names_its_worker",
                    )
                ],
            },
        ),
        migrations.AddField("sourcerecord", "named_at", models.DateTimeField(null=True)),
        migrations.AddField("observation", "holds_until", models.DateTimeField(null=True)),
    ]

"""The change feed says to which shipment a record belongs; its past starts anew with that."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Changes from before cannot be told apart, so they go."""

    dependencies = [("transport_sim", "0004_past")]

    operations = [
        migrations.RunSQL("DELETE FROM transport_sim_change", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="change",
            name="shipment_id",
            field=models.CharField(max_length=64, default=""),
            preserve_default=False,
        ),
        migrations.RunSQL("SELECT transport_sim_past.show_tables();", migrations.RunSQL.noop),
    ]

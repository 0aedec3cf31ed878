"""The two rows that exist exactly once."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def create(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Start with an empty world on real time and all counters at zero."""
    apps.get_model("transport_sim", "World").objects.create(id=1)
    apps.get_model("transport_sim", "Journal").objects.create(id=1)


class Migration(migrations.Migration):
    """Creates the world's row and the journal's row."""

    dependencies = [("transport_sim", "0001_initial")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]

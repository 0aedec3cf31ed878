"""A desk's shifts are rows of their own now."""

from django.db import migrations


class Migration(migrations.Migration):
    """The column that they replace."""

    dependencies = [("cases", "0008_shifts_of_desks")]

    operations = [migrations.RemoveField(model_name="desk", name="shift_starts")]

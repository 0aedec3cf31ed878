"""Each desk's shift starts become shifts with names."""

from typing import Any

from django.db import migrations

NAMES = ("Day", "Evening", "Night")
EVERY_DAY = list(range(7))


def keep_shifts(apps: Any, schema_editor: Any) -> None:
    """One shift for each start of each desk, on every day."""
    shift = apps.get_model("cases", "ShiftPattern")
    for desk in apps.get_model("cases", "Desk").objects.all():
        for number, start in enumerate(sorted(set(desk.shift_starts))):
            name = NAMES[number] if number < len(NAMES) else f"Shift {number + 1}"
            shift.objects.create(desk=desk, name=name, starts_at=start, days=EVERY_DAY)


def keep_starts(apps: Any, schema_editor: Any) -> None:
    """The other way round."""
    shift = apps.get_model("cases", "ShiftPattern")
    for desk in apps.get_model("cases", "Desk").objects.all():
        starts = shift.objects.filter(desk=desk).values_list("starts_at", flat=True)
        desk.shift_starts = sorted(set(starts)) or desk.shift_starts
        desk.save(update_fields=("shift_starts",))


class Migration(migrations.Migration):
    """Only rows; the column goes in the next one."""

    dependencies = [("cases", "0007_handovers")]

    operations = [migrations.RunPython(keep_shifts, keep_starts)]

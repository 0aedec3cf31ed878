"""Say which model changes have no migration yet, without a database.

`python -m tools.pending_migrations cases` with DJANGO_SETTINGS_MODULE set; exit status 1 if any.
"""

import sys

import django
from django.apps import apps
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.questioner import NonInteractiveMigrationQuestioner
from django.db.migrations.state import ProjectState


def pending(app_label: str) -> list[str]:
    """What a migration of this app would do, one line per operation."""
    loader = MigrationLoader(None, ignore_no_migrations=True)
    detector = MigrationAutodetector(
        loader.project_state(),
        ProjectState.from_apps(apps),
        NonInteractiveMigrationQuestioner(specified_apps={app_label}, dry_run=True),
    )
    changes = detector.changes(loader.graph, trim_to_apps={app_label}, convert_apps={app_label})
    return [
        operation.describe()
        for migrations in changes.values()
        for migration in migrations
        for operation in migration.operations
    ]


def main() -> int:
    """Print what is pending for the app named on the command line."""
    django.setup()
    found = pending(sys.argv[1])
    for line in found:
        print(f"{sys.argv[1]}: no migration for: {line}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""Write the stage diagram into docs/stages.md, or check that it is current."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from cases.vocabulary.stages import STAGES, diagram


def stages_document() -> str:
    """The whole document: the diagram and one row per stage."""
    rows = [
        f"| `{stage.value}` | {rule.label} | {rule.turn.value} | {rule.clock.value} | "
        f"{rule.meaning} |"
        for stage, rule in STAGES.items()
    ]
    return "\n".join(
        [
            "# Stages of a case",
            "",
            "Made from `cases/vocabulary/stages.py` by `python manage.py stage_diagram`; "
            "do not edit by hand.",
            "",
            "```mermaid",
            diagram().rstrip(),
            "```",
            "",
            "| stage | on screen | whose turn | clock | meaning |",
            "|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


class Command(BaseCommand):
    """`stage_diagram [--check]`."""

    help = __doc__ or ""
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """`--check` writes nothing and fails when the document is out of date."""
        parser.add_argument("--check", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write or compare."""
        path = Path(settings.ROOT) / "docs" / "stages.md"
        wanted = stages_document()
        if not options["check"]:
            path.parent.mkdir(exist_ok=True)
            path.write_text(wanted, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != wanted:
            raise CommandError("docs/stages.md is out of date: run manage.py stage_diagram")

"""`case_record CASE_ID`: print the record of a case."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from cases.queries.record import record_of
from cases.vocabulary.errors import WatchbillError


class Command(BaseCommand):
    """Print the record of one case as lines, or as JSON."""

    help = "Print the record of a case: what was saved, what holds now, and the next step."

    def add_arguments(self, parser: CommandParser) -> None:
        """`CASE_ID [--json]`."""
        parser.add_argument("case_id", type=int)
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the record; an unknown case ends with one line and exit code 1."""
        try:
            record = record_of(options["case_id"])
        except WatchbillError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(record, ensure_ascii=False))
            return
        width = max(map(len, record))
        for name, value in record.items():
            self.stdout.write(f"{name:<{width}}  {_text(value)}")


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)

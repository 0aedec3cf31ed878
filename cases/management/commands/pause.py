"""Stop agents from the command line: `pause --by priya --reason "…" [--lane execution]`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from cases.actions.pauses import set_pause
from cases.clock import business_now
from cases.models import Person
from cases.queries.pauses import in_flight_now
from cases.vocabulary.errors import WatchbillError


class Command(BaseCommand):
    """Without --lane, --kind and --agent everything is paused. Prints the pause's number."""

    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Who, why, and what."""
        parser.add_argument("--by", required=True, help="your login name")
        parser.add_argument("--reason", required=True)
        parser.add_argument("--lane", default="")
        parser.add_argument("--kind", default="")
        parser.add_argument("--agent", default="")

    def handle(self, *args: Any, **options: Any) -> None:
        """Set it."""
        person = Person.objects.filter(username=options["by"]).first()
        if person is None:
            raise CommandError(f"Nobody logs in as {options['by']!r}.")
        try:
            pause = set_pause(
                lane=options["lane"],
                kind=options["kind"],
                agent=options["agent"],
                reason=options["reason"],
                by=person,
                at=business_now(),
            )
        except WatchbillError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{pause.pk}: {pause} is paused. {in_flight_now()}")

"""Start agents again from the command line: `resume 3 --by priya --reason "…"`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from cases.actions.pauses import lift_pause
from cases.clock import business_now
from cases.models import Pause, Person
from cases.queries.pauses import AFTER_RESUME, in_flight_now
from cases.vocabulary.errors import WatchbillError


class Command(BaseCommand):
    """Without a number, the standing pauses are listed, and what is still in flight."""

    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which, who and why."""
        parser.add_argument("pause", nargs="?", type=int)
        parser.add_argument("--by", default="", help="your login name")
        parser.add_argument("--reason", default="")

    def handle(self, *args: Any, **options: Any) -> None:
        """Lift it, or list what stands."""
        if options["pause"] is None:
            for pause in Pause.objects.filter(lifted_at=None):
                self.stdout.write(f"{pause.pk}: {pause}, by {pause.set_by}: {pause.reason}")
            self.stdout.write(in_flight_now())
            return
        person = Person.objects.filter(username=options["by"]).first()
        if person is None:
            raise CommandError(f"Nobody logs in as {options['by']!r}.")
        try:
            lift_pause(
                pause_id=options["pause"],
                reason=options["reason"],
                by=person,
                at=business_now(),
            )
        except WatchbillError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Resumed. {AFTER_RESUME}")
